/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One run of a program: starts it, watches it, and makes stacks of what was seen. */

#include "child.h"
#include "player.h"
#include "replay.h"
#include "tracepoints.h"

#define SHARE_LOST_MAX 0.10 /* of a run's samples without a frame of the program: more are refused */

struct called_list;
struct listener;

/* Is work seen that the program passed on through GLib? */
enum run_passed {
        PASSED_SEEN,
        PASSED_NO_RIGHT,   /* only root may have probes */
        PASSED_NO_PROBES,  /* the kernel takes none */
        PASSED_NO_GLIB,    /* there is none on this machine */
        PASSED_OTHER_GLIB, /* the program has one of its own */
        PASSED_TOO_OFTEN,  /* up to @passed_until_s */
};

struct run {
        struct child_result result;
        struct recording recording;
        bool sees_kernel, know_clock, played; /* @played: its input script came to its end */
        enum run_passed passed;
        double passed_until_s;                /* from its start on; NaN: to its end */
        bool sees_gpu;                        /* it or a child has a GPU open that counts */
};

struct run_wish {
        char **argv;
        const char *folder;              /* the records are kept there meanwhile */
        const struct profile *profile;   /* NULL: none */
        const struct tracepoints *tracepoints;
        const struct script *script;     /* NULL: it gets no input */
        struct listener *listener;       /* what its user does is kept; NULL: it is not */
        unsigned stack_kb;
        enum player_where where;         /* that input comes from */
};

/*
 * run_counted() - the same without stacks, with probes
 * @calls: their counts can be read when it has ended
 *
 * 0; -EINTR: the user stopped it; a negative errno after its sentence.
 */
int run_counted(const struct run_wish *wish, struct called_list *calls);
/* 0, and run_clear() it; -EINTR: the user stopped it; a negative errno after its sentence. */
int run_once(const struct run_wish *wish, struct run *ret);
void run_clear(struct run *run);
