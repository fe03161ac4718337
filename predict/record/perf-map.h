/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Names of code that a program made while it ran: /tmp/perf-PID.map, lines "START SIZE NAME" in hexadecimal. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_MAP_BYTES_MAX (256u << 20)

struct perf_map;

/* 0; -ENOENT: it wrote none, or not as a file of this user or of the program's; -ENOMEM. perf_map_free() it. */
int perf_map_load(pid_t pid, struct perf_map **ret);
/* Of a text. A line that is none is left out; where names overlap, the last counts. 0; -ENOMEM. */
int perf_map_parse(const char *text, size_t length, struct perf_map **ret);
void perf_map_free(struct perf_map *map);
/* NULL: there is none; valid as long as @map. */
const char *perf_map_find(const struct perf_map *map, uint64_t address);
