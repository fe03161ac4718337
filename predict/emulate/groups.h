/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The control group that an app's threads are below, where this user may make one: of version 2 in a scope of systemd, or where
 * the cpu controller is ours already; else of version 1. It is removed after the run, however that ends.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum groups_version {
        GROUPS_NONE, /* none could be made */
        GROUPS_V1,
        GROUPS_V2,
};

/* The kernel's quota: so much of each period. */
struct groups_quota {
        unsigned quota_us, period_us;
};

struct groups {
        enum groups_version version;
        char path[PATH_MAX];       /* the group's folder */
        double factor;             /* how much slower than here a thread is to be */
        uint32_t cpus;             /* of the target */
        struct groups_quota each;  /* of a thread */
        struct groups_quota all;   /* of all together, once there are more threads than CPUs */
        pid_t guard;               /* the process that removes it after us; -1: none */
        int life;                  /* it does so when nobody has this any more */
        int guarding;              /* readable when the guard has ended, and groups_guard() is to be called; -1: none */
};

/*
 * @factor: how much slower each thread is to be, and all together as on @cpus CPUs
 *
 * The group has no quota yet. 0; a negative errno: there is none, and nothing was changed. Its messages are for those who debug.
 */
int groups_make(double factor, uint32_t cpus, struct groups *ret);
/* Another guard in place of one that was killed. 0 or a negative errno. */
int groups_guard(struct groups *groups);
/* When the processes in it have ended or are about to. */
void groups_remove(struct groups *groups);

/* A new group below another one: how much it may use. 0 or a negative errno. */
int groups_limit(const struct groups *groups, const char *path, struct groups_quota quota);
/* One that has its period: what it may use in this one begins anew. @quota: NULL: all. 0 or a negative errno. */
int groups_refill(const struct groups *groups, const char *path, const struct groups_quota *quota);
/* What it may use it gets before others beside it that want the CPU, too, or as they do. 0 or a negative errno. */
int groups_prefer(const struct groups *groups, const char *path, bool prefer);
