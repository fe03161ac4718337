/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Runs an app in namespaces of its own: one of users (if we are not root), one of processes, one of mounts, and two of
 * networks with the wire between them. Everything is below one process that is the first of its PID
 * namespace and dies with us, so the kernel ends everything if any part of it is killed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "network.h"
#include "radio/radio.h"
#include "record.h"
#include "util/log.h"

/* joulecast-stage, which gives an app a display or terminal and plays its input. */

struct scene_plan {
        const char *script; /* NULL: nothing is played */
        bool terminal;      /* else an X server */
        const char *pixels; /* size of the X server's screen, as in "1080x1920" */
};

struct scene {
        pid_t pid;
        int process;        /* its pidfd */
        int connection;     /* writing a byte starts the script */
        int frames;         /* file of struct frame_record, with times of CLOCK_MONOTONIC */
        char place[64];     /* a DISPLAY, or the path of a terminal */
        bool terminal;
};

#define SCENE_NONE ((struct scene){ .pid = -1, .process = -1, .connection = -1, .frames = -1 })

/* Starts it, and waits until the place is there. 0, and scene_end() it; a negative errno after a sentence. */
int scene_start(const struct scene_plan *plan, const struct log *log, struct scene *ret);
/* Ends it. 0; -ECANCELED: it had failed before, and printed its sentence. */
int scene_end(struct scene *scene);
/*
 * The pictures so far, with their times since @origin_ns. To be called before scene_end(). 0, and free()
 * them; -ENOMEM.
 */
int scene_frames(const struct scene *scene, int64_t origin_ns, struct frame_record **ret, size_t *ret_n);

enum box_net {
        BOX_NONE,     /* the app reaches only its own loopback */
        BOX_LOOPBACK, /* it also reaches this machine's loopback */
        BOX_OUTSIDE,  /* it also reaches every host that this machine reaches */
};

struct box_plan {
        char *const *arguments;      /* the app's argv, which ends with NULL */
        const struct scene *scene;   /* display or terminal of the app; NULL: ours */
        bool quiet;                  /* the app's stdout goes to stderr */
        enum box_net net;
        const struct network *network;
        const struct radio *radio;   /* or NULL */
        enum radio_signal signal;
        uint64_t seed;
        double factor;               /* how many times slower than here each thread is to run */
        uint32_t cpus;               /* number of CPUs that the target has */
        double limit_s;              /* the app is ended after this time; 0: never */
        bool wait_all;               /* wait until all of the app's processes have ended */
        bool heads;                  /* the first bytes of packets are wanted */
};

struct box_result {
        int64_t origin_ns;           /* the app's start by CLOCK_MONOTONIC */
        int64_t wall_ns;
        int status;                  /* as waitpid() gives it */
        enum cpu_means means;
        double cpu_reached;          /* how many times slower threads were while they could run; NaN: not known */
        uint32_t outlived;           /* processes that still ran at the app's end, and were ended */
        char outlived_name[RECORD_TASK_MAX]; /* the name of one of them */
        double slow_s[RADIO_DIRECTIONS]; /* for how long TCP was slower than the emulated link (struct relay_slow) */
        struct packet_record *packets; /* ordered by when they were delivered or lost */
        size_t n_packets;
        struct packet_head *heads;   /* the first bytes of each packet; NULL: not wanted */
        struct cpu_record *cpu;      /* ascending in time */
        size_t n_cpu;
        struct task_record *tasks;   /* likewise */
        size_t n_tasks;
        struct name_record *names;
        size_t n_names;
};

/* 0, and box_result_clear() it; a negative errno after its sentence to @log. Leaves nothing running if it fails. */
int box_run(const struct box_plan *plan, const struct log *log, struct box_result *ret);
