/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reads and writes a file on each storage, at random places, without the page cache, at the rates of a mode.
 * A thread creates the files, then works and sleeps.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "disk-file.h"

struct disk_load;

struct disk_job {
        double read_bytes_per_s, write_bytes_per_s; /* over all storages, which take turns */
        uint32_t operation_bytes; /* 0: DISK_OPERATION_BYTES; rounded up to the storage's blocks */
        uint32_t operations;      /* in one pass, over that much of the file; 0: all of it */
};

#define DISK_OPERATION_BYTES 32000 /* as SApp's */

/* Since the start. */
struct disk_counts {
        uint64_t read_bytes, written_bytes; /* moved by jobs */
        uint64_t made_bytes;                /* written to make the files */
        bool limit_reached;                 /* the next write would exceed the limit: no more are made */
};

/**
 * disk_load_start() - begin to make the files, and wait for a job
 * @files:       named and not made; the caller's, and not to be touched before disk_load_end(), which removes
 *               them
 * @file_bytes:  how large each becomes
 * @limit_bytes: of writes, all together
 */
int disk_load_start(struct disk_file *files, size_t n, uint64_t file_bytes, double limit_bytes,
                    struct disk_load **ret);
void disk_load_end(struct disk_load *load); /* NULL does nothing */

/* Waits until the files are made. Returns the number of usable ones; -EINTR: @stop (may be NULL) was set. */
ssize_t disk_load_ready(struct disk_load *load, const volatile sig_atomic_t *stop);
void disk_load_set(struct disk_load *load, const struct disk_job *job); /* replaces the job before */
void disk_load_counts(struct disk_load *load, struct disk_counts *ret);

/* The error for which this file is not used any more; 0: none. */
int disk_load_error(struct disk_load *load, size_t file);
void disk_load_drop(struct disk_load *load, size_t file, int err);
/* Bytes that jobs moved in this file, by our own count. */
void disk_load_file_counts(struct disk_load *load, size_t file, uint64_t *read_bytes,
                           uint64_t *written_bytes);
