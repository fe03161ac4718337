/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The control group above those of an app's threads, where this user may make one: of version 2 in a scope of systemd
 * or where our own group has the cpu controller already; else of version 1. It is removed after the run,
 * however that ends.
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

/* The kernel's quota: CPU time in each period. */
struct groups_quota {
        unsigned quota_us, period_us;
};

struct groups {
        enum groups_version version;
        char path[PATH_MAX];       /* the group's folder */
        double factor;             /* how many times slower than here each thread is to run */
        uint32_t cpus;             /* number of CPUs that the target has */
        struct groups_quota each;  /* quota of each thread */
        struct groups_quota all;   /* quota of all threads together, set while there are more threads than CPUs */
        pid_t guard;               /* the process that removes the group after us; -1: none */
        int life;                  /* the guard removes the group when the last copy of this descriptor is closed */
        int guarding;              /* readable when the guard has ended, and groups_guard() is to be called; -1: none */
};

/*
 * @factor: how many times slower each thread is to run; all together run as on @cpus CPUs
 *
 * The group has no quota yet. 0; a negative errno: there is none, and nothing was changed. Its messages are
 * for those who debug.
 */
int groups_make(double factor, uint32_t cpus, struct groups *ret);
/* Starts another guard in place of one that was killed. 0 or a negative errno. */
int groups_guard(struct groups *groups);
/* To be called when the processes in the group have ended or are about to. */
void groups_remove(struct groups *groups);

/* Sets period and quota of a new group below another one. 0 or a negative errno. */
int groups_limit(const struct groups *groups, const char *path, struct groups_quota quota);
/*
 * Writes the quota of a group whose period is set, and so refills what it may use in the present one. @quota: NULL: no
 * limit. 0 or a negative errno.
 */
int groups_refill(const struct groups *groups, const char *path, const struct groups_quota *quota);
/* Gives a group the highest CPU weight, ahead of its siblings, or the usual weight. 0 or a negative errno. */
int groups_prefer(const struct groups *groups, const char *path, bool prefer);
