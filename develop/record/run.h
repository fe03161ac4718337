/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One run of a program: starts it, watches it, and makes stacks from the records. */

#include "child.h"
#include "player.h"
#include "replay.h"
#include "tracepoints.h"

#define SHARE_LOST_MAX 0.10 /* a run is refused if more than this share of its samples have no frame of the program */

struct called_list;
struct listener;

/* Is work followed that the program passes on through GLib? */
enum run_passed {
        PASSED_SEEN,
        PASSED_NO_RIGHT,   /* no: only root may have probes */
        PASSED_NO_PROBES,  /* no: the kernel takes no probes */
        PASSED_NO_GLIB,    /* no: there is no GLib on this machine */
        PASSED_OTHER_GLIB, /* no: the program has a GLib of its own */
        PASSED_TOO_OFTEN,  /* only up to @passed_until_s, as there was too much */
};

struct run {
        struct child_result result;
        struct recording recording;
        bool sees_kernel, know_clock, played; /* @played: its input script came to its end */
        enum run_passed passed;
        double passed_until_s;                /* seconds since its start; NaN: to its end */
        bool sees_gpu;                        /* it or a child has a GPU open whose time the kernel counts */
};

struct run_wish {
        char **argv;
        const char *folder;              /* folder for a temporary file with the records */
        const struct profile *profile;   /* NULL: none */
        const struct tracepoints *tracepoints;
        const struct script *script;     /* NULL: it gets no input */
        struct listener *listener;       /* writes the user's input to a script; NULL: it is not kept */
        unsigned stack_kb;
        enum player_where where;         /* stage on which the script is played */
};

/*
 * run_counted() - runs the program without stacks, with probes that count calls
 * @calls: the counts can be read when it has ended
 *
 * 0; -EINTR: the user stopped it; a negative errno after its sentence.
 */
int run_counted(const struct run_wish *wish, struct called_list *calls);
/* Runs it with stacks. 0, and run_clear() it; -EINTR: the user stopped it; a negative errno after its sentence. */
int run_once(const struct run_wish *wish, struct run *ret);
/* Sum of the events of this kind, as charged to its stacks. */
double run_count(const struct run *run, enum event_kind kind);
void run_clear(struct run *run);
