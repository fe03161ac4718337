/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Declarations that both sides of a box share: box.c outside of its namespaces, box-inside.c within them. */

#include "box.h"
#include "groups.h"
#include "relay.h"
#include "util/util.h"

/* The step at which a box failed, for the error message. */
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
        BOX_STEP_PART,    /* the wire or the maker of sockets ended before the app, or the wire did not end after it */
        BOX_STEPS
};

struct box_report {
        atomic_i64 origin_ns; /* the app's start by CLOCK_MONOTONIC; 0: it has not started */
        int64_t wall_ns;
        int32_t step, error;
        int32_t status;
        int32_t means;     /* enum cpu_means */
        double cpu_reached;
        uint32_t outlived;
        char outlived_name[RECORD_TASK_MAX];
        struct relay_slow slow;
        bool done;
};

struct box_inside {
        const struct box_plan *plan;
        struct box_report *report; /* shared memory */
        bool users;                /* the box has a user namespace of its own */
        uid_t uid;
        gid_t gid;
        struct groups *groups;     /* the app's control groups, of GROUPS_NONE if there are none */
        int life;                  /* pipe whose other end is closed when the program outside is gone */
        int packets, heads, cpu, tasks, names; /* files that get the records */
};

/* The first process of the new namespaces. */
_Noreturn void box_inside(const struct box_inside *inside);
