/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses one record of a ring of perf_event_open(2), with the fields that events.c asks for. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registers.h"

struct record_sample {
        uint64_t id, ip, time_ns, period;
        uint32_t pid, tid, cpu;
        bool has_registers; /* it has registers and a stack; false: a kernel thread, or one that is ending */
        uint64_t registers[REGISTERS_COUNT];
        const char *raw, *stack; /* pointers into the record */
        size_t raw_bytes, stack_bytes;
};

struct record_event {
        uint32_t type; /* PERF_RECORD_MMAP2, _COMM, _FORK, _EXIT, _LOST; for others nothing else is filled in */
        bool exec;     /* PERF_RECORD_COMM: the name changed by exec() */
        uint32_t pid, tid, parent_pid, parent_tid;
        uint64_t from, length, offset, lost;
        const char *path; /* PERF_RECORD_MMAP2: the file; points into the record */
};

/* Reads the header of the record at @offset of @length bytes. 0; -EINVAL: there is no whole record. */
int record_header(const char *data, size_t length, size_t offset, struct perf_event_header *ret);
/* Time of a record in ns; 0: it has none. */
uint64_t record_time(const char *record, const struct perf_event_header *header);
/* Parse a record of header->size bytes. 0; -EINVAL: a field is not in it. */
int record_sample(const char *record, const struct perf_event_header *header, struct record_sample *ret);
int record_event(const char *record, const struct perf_event_header *header, struct record_event *ret);
