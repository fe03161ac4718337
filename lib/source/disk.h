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

/* A whole physical device: no partition, nothing on top of another device or of memory. */
bool disk_is_storage(int root_fd, const char *name);

int disk_open(int root_fd, struct source **ret);
