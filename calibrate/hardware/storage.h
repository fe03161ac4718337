/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The storage under a folder, and the alignment it needs for O_DIRECT. Changes nothing. */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct storage {
        char folder[PATH_MAX]; /* absolute, without symbolic links */
        int folder_fd;
        char device[64];       /* whole block device, as in /sys/block */
        uint32_t align;        /* alignment of offsets, lengths and memory */
};

/**
 * storage_open() - open the storage under a folder
 * @root_fd: root of the machine whose sysfs and mountinfo are read
 * @why:     gets a phrase if the storage cannot be measured
 *
 * Return: 0; -ENOTSUP: there is no such folder, it cannot be written or is the system's, or no block device
 * of its own is below it (memory, network, overlay, a loop); then @why has the reason.
 */
int storage_open(int root_fd, const char *folder, struct storage *ret, char *why, size_t size);
void storage_close(struct storage *storage);

/*
 * The whole device of a block device or partition by its number, through device mappers on a single device.
 */
int storage_device(int root_fd, unsigned major, unsigned minor, char *ret, size_t size);

/* Finds the mount with this id in a mountinfo text, which is changed. Returns -ENOENT if there is none. */
struct storage_mount {
        char type[64], source[PATH_MAX];
};
int storage_parse_mount(char *mountinfo, uint64_t mount, struct storage_mount *ret);

/* Reads the bytes that were read and written since boot from /sys/block/DEVICE/stat. 0; a negative errno. */
int storage_counters(int root_fd, const char *device, uint64_t *read_bytes, uint64_t *written_bytes);
