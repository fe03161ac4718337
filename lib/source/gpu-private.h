/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of the GPU source only. */

#include "gpu.h"
#include "source.h"

struct held {                /* a client that a process has open */
        int fd;              /* -1: closed, if there is no other */
        bool shared;         /* its time belongs to another process, which has its own descriptor */
        uint64_t base_ns;    /* time of other processes before this one became the owner */
        struct gpu_client last;
        uint64_t seen_ns;    /* monotonic time of `last` */
        uint64_t cycles_ns;  /* busy time by cycles so far */
};

struct holder {
        pid_t pid;
        uid_t uid;
        uint64_t start_time;
        uint64_t cpu_ns;     /* at the last look for descriptors */
        uint64_t closed_ns;  /* of clients that were closed */
        struct held *held;
        size_t n, capacity;
        bool seen;
};

struct gpu_source {
        struct source source;
        int proc_fd;
        uint32_t polls;
        uint64_t now_ns;     /* of the sample that is being made */
        struct holder *list; /* every process, ascending by pid */
        size_t n, capacity;
        uint64_t gone_ns;    /* of processes that ended: the machine's total only grows */
};

/* gpu-client.c */
int gpu_holder_look(struct gpu_source *self, struct holder *holder); /* looks for descriptors of the GPU */
int gpu_holder_read(struct gpu_source *self, struct holder *holder); /* reads the descriptors that were found */
uint64_t gpu_holder_busy_ns(const struct holder *holder);            /* as of the last read; only grows */
