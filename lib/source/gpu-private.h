/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of the GPU's source share among themselves, and nobody else includes. */

#include "gpu.h"
#include "source.h"

struct held {                /* a client that a process has open */
        int fd;              /* -1: closed, unless there is another */
        bool shared;         /* another process's: has its own descriptor of it, and the time */
        uint64_t base_ns;    /* what others had when it became ours */
        struct gpu_client last;
        uint64_t seen_ns;    /* monotonic time of that */
        uint64_t cycles_ns;  /* what its cycles came to */
};

struct holder {
        pid_t pid;
        uid_t uid;
        uint64_t start_time;
        uint64_t cpu_ns;     /* at the last look for descriptors */
        uint64_t closed_ns;  /* of clients that are gone */
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
        uint64_t gone_ns;    /* of processes that are gone: the machine's total only grows */
};

/* gpu-client.c */
int gpu_holder_look(struct gpu_source *self, struct holder *holder); /* for descriptors of the GPU */
int gpu_holder_read(struct gpu_source *self, struct holder *holder); /* those that it has */
uint64_t gpu_holder_busy_ns(const struct holder *holder);            /* as of the last read; only grows */
