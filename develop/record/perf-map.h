/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Names of code that a program made while it ran, from /tmp/perf-PID.map: lines "START SIZE NAME", with hexadecimal
 * numbers.
 *
 * An address may be used again for other code, and a line has no time. So the length of the file is noted while the
 * program runs: lines behind it came later.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_MAP_BYTES_MAX (256u << 20)

struct perf_map;

/*
 * 0; -ENOENT: there is no such plain file, or it is too long; -ENOMEM. perf_map_free() it. Anyone may have written the
 * file: only names come from it.
 */
int perf_map_load(pid_t pid, struct perf_map **ret);
/* Parses a text. Invalid lines are left out; where code overlaps, the last line counts. 0; -ENOMEM. */
int perf_map_parse(const char *text, size_t length, struct perf_map **ret);
void perf_map_free(struct perf_map *map);
/*
 * perf_map_find() - finds the name of the code at an address when the file had @known bytes; SIZE_MAX: at the end
 *
 * It is that of the last line so far, else that of the first later one; valid as long as @map. NULL: there is none.
 */
const char *perf_map_find(const struct perf_map *map, uint64_t address, size_t known);

struct perf_times {
        struct perf_time *list; /* lengths of files, ascending in time */
        size_t n, capacity;
        struct family *family; /* processes whose files are looked at */
        uint64_t found_ns;     /* when processes were last looked for; 0: never */
};

/* Notes the lengths of the files of a program and its children. @proc_fd: descriptor of /proc. 0; -ENOMEM. */
int perf_times_look(struct perf_times *times, int proc_fd, pid_t pid, uint64_t now_ns);
/* Length of the file of a process at a time, in bytes. 0: it was first noted later; SIZE_MAX: never. */
size_t perf_times_at(const struct perf_times *times, pid_t pid, uint64_t time_ns);
void perf_times_clear(struct perf_times *times);
