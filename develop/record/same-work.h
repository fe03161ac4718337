/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Checks whether two recorded programs did the same work, as far as it was counted (docs/diff.md). */

#include <stddef.h>

enum work_status {
        WORK_STATUS_UNKNOWN = -1,
        WORK_STATUS_MIXED = -2, /* runs ended differently */
};

/* The work that a program did: means of its runs. All zero: no run yet. */
struct work_done {
        size_t n;                                        /* runs */
        int status;                                      /* exit status of all runs, or of enum work_status */
        double read_bytes, written_bytes, wall_s, cpu_s; /* NaN: unknown */
        double frames;                                   /* number of frames shown; 0: unknown */
        char script[256];                                /* script that played its input, cut; empty: none */
};

struct work_run {
        int status;
        double read_bytes, written_bytes; /* or those of the network, if more: the kernel counts no recv() and send() */
        double wall_s, cpu_s;
};

enum same_work {
        SAME_WORK,      /* they did the same work, or it is not known */
        /*
         * Only the bytes read or only the bytes written are alike: the difference in the others may be the waste that
         * is looked for.
         */
        SAME_WORK_PART,
        MORE_WORK,  /* frames differ, or all bytes do: that is the first finding */
        OTHER_WORK, /* they ended differently, or one waited: a comparison says nothing */
};

void work_add(struct work_done *work, const struct work_run *run);
/* @reason: the difference, as a sentence in the user's language that begins with @name_a; empty for SAME_WORK. */
enum same_work same_work_check(const struct work_done *a, const char *name_a, const struct work_done *b,
                               const char *name_b, char *reason, size_t size);
