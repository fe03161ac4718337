/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A scratch file whose every block was written: blocks never written are read without the disk. */

#include <stdbool.h>

#include "storage.h"

#define DISK_FILE_BYTES UINT64_C(256000000)
#define DISK_FILE_PREFIX ".joulecast-disk-" /* and six letters; the restore journal knows this pattern */

struct disk_file {
        const struct storage *storage;
        char name[32];
        int fd;          /* -1: not made */
        uint64_t bytes;  /* written so far */
};

/* Chooses a name and changes nothing: the path must be in the restore journal before disk_file_make(). */
int disk_file_name(const struct storage *storage, struct disk_file *ret, char *path, size_t size);

/**
 * disk_file_make() - make and fill the file
 * @bytes:  its size; rounded down to the storage's blocks
 * @buffer: @length bytes (both aligned) to fill it with
 * @go_on:  called before each piece, with its size; false ends with -EINTR
 *
 * Return: 0; -ENOTSUP: this file system does not support O_DIRECT; -ENOSPC; another negative errno. The part that was
 * made stays.
 */
int disk_file_make(struct disk_file *file, uint64_t bytes, const void *buffer, size_t length,
                   bool (*go_on)(void *data, uint64_t next_bytes), void *data);
void disk_file_remove(struct disk_file *file); /* safe to repeat */
