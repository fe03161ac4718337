/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How long each process held a part of the machine that is on while anybody uses it. At each moment its holders share
 * it alike, so that their times sum to the time it was on. Uses no clock and no file.
 */

#include "source/sample.h"

enum held_part {
        HELD_GPS,
        HELD_AUDIO,
        HELD_CAMERA,
        HELD_PARTS
};

/* Who holds a part from some moment on. */
struct holders {
        pid_t *pids;
        size_t n, capacity;
        char (*apps)[APP_ID_MAX]; /* known by name only: the first of its processes that a sample shows has it */
        size_t n_apps, apps_capacity;
        size_t nobodys; /* more of them, of whom no app is known, as a server that acts for others */
};

int holders_add(struct holders *holders, pid_t pid); /* once; 0 is nobody's. 0; -ENOMEM */
int holders_add_app(struct holders *holders, const char *app); /* likewise */
void holders_clear(struct holders *holders);         /* frees its memory */

struct holder;

struct held_tally {
        struct holder *list;
        size_t n, capacity;
        struct {
                bool known;
                size_t n_holders;
                uint64_t since_ns; /* up to where it is shared */
                uint64_t on_ns;
        } parts[HELD_PARTS];
};

/*
 * From @now_ns, of CLOCK_MONOTONIC, @holders have the part; NULL: who has it is not known. A moment before the last one
 * told is that one. 0; -ENOMEM.
 */
int held_tally_set(struct held_tally *tally, enum held_part part, const struct holders *holders, uint64_t now_ns);
/* Fills in a sample, whose processes are read already, up to its time. Returns 0. */
int held_tally_fill(struct held_tally *tally, struct sample *sample);
void held_tally_clear(struct held_tally *tally);
