/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Computes how long each process used a part of the machine that is on while anyone uses it (its holders):
 * sound, camera or GPS. At each moment the holders share the part equally, so their times sum to the time it
 * was on. Uses no clock and no file.
 */

#include "source/sample.h"

enum held_part {
        HELD_GPS,
        HELD_AUDIO,
        HELD_CAMERA,
        HELD_PARTS
};

/* The holders of a part from some moment on. */
struct holders {
        pid_t *pids;
        size_t n, capacity;
        /* known by name only; the first of the app's processes in a sample gets the time */
        char (*apps)[APP_ID_MAX];
        size_t n_apps, apps_capacity;
        /* number of further holders whose app is unknown, such as a server that acts for others */
        size_t nobodys;
};

/* adds a process once; 0: an unknown one. Returns 0 or -ENOMEM */
int holders_add(struct holders *holders, pid_t pid);
int holders_add_app(struct holders *holders, const char *app); /* the same for an app */
void holders_clear(struct holders *holders);         /* frees the memory */

struct holder;

struct held_tally {
        struct holder *list;
        size_t n, capacity;
        struct {
                bool known;
                size_t n_holders;
                uint64_t since_ns; /* the time is shared up to then */
                uint64_t on_ns;
        } parts[HELD_PARTS];
};

/*
 * From @now_ns (CLOCK_MONOTONIC) on, @holders use the part; NULL: unknown. A time before that of the last
 * call counts as that time. Returns 0 or -ENOMEM.
 */
int held_tally_set(struct held_tally *tally, enum held_part part, const struct holders *holders, uint64_t now_ns);
/* Sets the times up to the sample's time in its processes, which were read before. Returns 0. */
int held_tally_fill(struct held_tally *tally, struct sample *sample);
void held_tally_clear(struct held_tally *tally);
