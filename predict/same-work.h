/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether two recorded programs did the same work, as far as it was counted (docs/record.md). */

#include <stddef.h>

enum work_status {
        WORK_STATUS_UNKNOWN = -1,
        WORK_STATUS_MIXED = -2, /* runs ended differently */
};

/* What a program did: means of its runs. All zero: no run yet. */
struct work_done {
        size_t n;                                        /* runs */
        int status;                                      /* of all runs; or of enum work_status */
        double read_bytes, written_bytes, wall_s, cpu_s; /* NaN: unknown */
        double frames;                                   /* shown; 0: unknown */
        char script[256];                                /* that played its input, cut; empty: none */
};

struct work_run {
        int status;
        double read_bytes, written_bytes, wall_s, cpu_s;
};

enum same_work {
        SAME_WORK,      /* or it is not known */
        SAME_WORK_PART, /* bytes read or written are alike, and the others are not: that may be the waste that is looked for */
        OTHER_WORK,
};

void work_add(struct work_done *work, const struct work_run *run);
/* @reason: what differs, in the user's language, begins with @name_a; empty for SAME_WORK. */
enum same_work same_work_check(const struct work_done *a, const char *name_a, const struct work_done *b, const char *name_b,
                               char *reason, size_t size);
