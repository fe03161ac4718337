/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What both sides of a box share: box.c before, box-inside.c within the namespaces. */

#include "box.h"
#include "groups.h"
#include "relay.h"

/* Where it failed, for a sentence. */
enum box_step {
        BOX_STEP_RUN = 0,
        BOX_STEP_IDS,     /* ids of the user namespace */
        BOX_STEP_PROC,
        BOX_STEP_NETNS,
        BOX_STEP_DEVICE,
        BOX_STEP_ROUTES,
        BOX_STEP_FORK,
        BOX_STEP_PLACE,
        BOX_STEP_EXEC,
        BOX_STEP_PART,    /* a part of it ended before the app */
        BOX_STEPS
};

struct box_report {
        int64_t origin_ns; /* of CLOCK_MONOTONIC when the app began; 0: it has not */
        int64_t wall_ns;
        int32_t step, error;
        int32_t status;
        int32_t means;     /* enum cpu_means */
        double cpu_reached;
        struct relay_slow slow;
        bool done;
};

struct box_inside {
        const struct box_plan *plan;
        struct box_report *report; /* shared memory */
        bool users;                /* it is in a new user namespace */
        uid_t uid;
        gid_t gid;
        struct groups *groups; /* the app's, or none */
        int life;                  /* its other end is closed when the program outside is gone */
        int packets, heads, cpu, tasks, names; /* files of records */
};

/* The first process of the new namespaces. */
_Noreturn void box_inside(const struct box_inside *inside);
