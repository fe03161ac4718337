/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of the GPU source only. */

#include "gpu.h"
#include "source.h"

struct held {                /* a GPU client that a process has open */
        int fd;              /* -1: closed, if the process has no other descriptor of it */
        char node[16];       /* "renderD128" */
        bool shared;         /* its time belongs to another process, which has its own descriptor */
        uint64_t base_ns;    /* time that belongs to other processes, before this one became the owner */
        struct gpu_client last;
        uint64_t seen_ns;    /* monotonic time of `last` */
        uint64_t cycles_ns;  /* busy time so far, calculated from cycles */
};

struct holder {
        pid_t pid;
        uid_t uid;
        uint64_t start_time;
        uint64_t cpu_ns;     /* its CPU time at the last search for descriptors */
        uint64_t closed_ns;  /* busy time of clients that were closed */
        struct held *held;
        size_t n, capacity;
        char uncounted[32];  /* driver of an open GPU that shows no times for this process; "": none */
        bool seen;
};

struct gpu_node {
        char name[16];
        bool off;            /* its driver can count, but counting is switched off */
};

#define GPU_DRIVERS_MAX 8
#define GPU_NODES_MAX 16

struct gpu_source {
        struct source source;
        int proc_fd, drm_fd;
        char counting[GPU_DRIVERS_MAX][32]; /* drivers that have shown a time: their clients without a time are idle */
        size_t n_counting;
        struct gpu_node nodes[GPU_NODES_MAX]; /* nodes that were checked in this poll */
        size_t n_nodes;
        bool counted, missed; /* in this poll there was a process with a time, and one whose time is unknown */
        uint32_t polls;
        uint64_t now_ns;     /* monotonic time of the sample that is being made */
        struct holder *list; /* every process, ascending by pid */
        size_t n, capacity;
        uint64_t gone_ns;    /* busy time of processes that ended: the machine's total only grows */
};

/* gpu-client.c */
int gpu_holder_look(struct gpu_source *self, struct holder *holder); /* looks for descriptors of the GPU */
int gpu_holder_read(struct gpu_source *self, struct holder *holder); /* reads the descriptors that were found */
bool gpu_holder_counts(struct gpu_source *self, const struct holder *holder); /* false: its time is unknown */
uint64_t gpu_holder_busy_ns(const struct holder *holder);            /* as of the last read; only grows */

/* gpu-node.c */
bool gpu_node_is_gpu(int dir_fd, const char *name, char *node, size_t size); /* is descriptor @name a GPU's? */
bool gpu_node_draws(const struct gpu_source *self, const char *node); /* it can use the GPU, not only the screen */
bool gpu_node_is_off(struct gpu_source *self, const char *node);
const char *gpu_node_turns_on(const struct gpu_source *self, const char *node); /* value to write to `profiling` */
