/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A CPU at half its frequency gets half the time: each of QEMU's CPU threads is in a control group of its own,
 * with a quota (cpu controller of cgroup v1, or threaded groups of v2) and a large weight, so that other load on the
 * host does not delay the phone's wake-ups.
 */

#include "vcpu.h"

struct throttle {
        int group_fd[VCPU_MAX]; /* folder of each thread's group */
        double share[VCPU_MAX]; /* in force */
        bool unified;           /* cgroup v2 */
        char parent[128];       /* the folder that holds the groups */
        size_t n;
        pid_t pid;
};

/* 0; -errno where the control groups of this machine may not be written: nothing is throttled then. */
int throttle_open(struct throttle *throttle, const struct vcpus *vcpus, pid_t pid);
/* @share 0..1 of full speed. 0; -errno. */
int throttle_set(struct throttle *throttle, size_t cpu, double share);
/* Nothing is throttled any more, and the groups go away. */
void throttle_close(struct throttle *throttle);
