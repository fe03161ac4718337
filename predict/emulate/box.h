/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Runs an app in namespaces of its own: of users (if we are not root), processes, mounts and two of networks, with the wire
 * between them. All of it is below one process that is the first of its PID namespace and dies with us, so the kernel ends
 * everything if any part of it is killed.
 */

#include "network.h"
#include "radio/radio.h"
#include "record.h"
#include "scene.h"

enum box_net {
        BOX_NONE,     /* nothing but its own loopback */
        BOX_LOOPBACK, /* and this machine's */
        BOX_OUTSIDE,  /* and all that this machine reaches */
};

struct box_plan {
        char *const *arguments;      /* of the app, with its name, then NULL */
        const struct scene *scene;   /* where it shows itself, or NULL: as we do */
        bool quiet;                  /* what it prints goes to stderr */
        enum box_net net;
        const struct network *network;
        const struct radio *radio;   /* or NULL */
        enum radio_signal signal;
        uint64_t seed;
        double factor;               /* of the CPU */
        uint32_t cpus;               /* of the target */
        double limit_s;              /* it is ended then; 0: never */
        bool heads;                  /* the first bytes of packets are wanted */
};

struct box_result {
        int64_t origin_ns;           /* of CLOCK_MONOTONIC when it began */
        int64_t wall_ns;
        int status;                  /* as waitpid() gives it */
        enum cpu_means means;
        double cpu_reached;          /* how much slower threads were while they could run; NaN: not known */
        double slow_s[RADIO_DIRECTIONS]; /* for how long bytes came or were sent more slowly than by the link */
        struct packet_record *packets; /* by when they were delivered or lost */
        size_t n_packets;
        struct packet_head *heads;   /* of each packet; NULL: not wanted */
        struct cpu_record *cpu;      /* ascending in time */
        size_t n_cpu;
        struct task_record *tasks;   /* likewise */
        size_t n_tasks;
        struct name_record *names;
        size_t n_names;
};

/* 0, and box_result_clear() it; a negative errno after its sentence to @log: nothing is left running. */
int box_run(const struct box_plan *plan, const struct log *log, struct box_result *ret);
void box_result_clear(struct box_result *result);
