/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

struct disk_line {
        char name[64];
        uint64_t read_bytes;
        uint64_t write_bytes;
};

/* One line of /proc/diskstats. */
bool disk_parse_line(const char *line, struct disk_line *ret);

/* A whole device: no partition, nothing on top of another device, of memory or of a network. */
bool disk_is_storage(int root_fd, const char *name);

/* The namespace that is reached by a path of NVMe multipath: "nvme0n1" of "nvme0c1n1". False: it is no path. */
bool disk_head_of(const char *path, char *head, size_t size);

int disk_open(int root_fd, struct source **ret);
