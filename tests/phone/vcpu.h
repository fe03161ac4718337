/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Busy time of each CPU of the phone, measured on the host: the time in which QEMU's thread of that CPU ("CPU
 * n/TCG", from -name NAME,debug-threads=on) was running or waiting to run. A halted CPU's thread sleeps. A thread
 * that the host keeps waiting, or that is throttled, is not halted, and the phone also counts that time as busy, so
 * the host's load and the throttle need no correction. Wake-ups do: QEMU itself works between the host's wake-up
 * and the phone's first instruction; see VCPU_WAKE_US.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VCPU_MAX 8

/*
 * Microseconds of each voluntary switch of an idle CPU. Measured against the CPU time that a process in
 * the phone was given, at 10 to 200 wake-ups a second and 1 to 30 % of load: 290 to 780; about half of it
 * the phone's own kernel sees as not idle. With 400 the error stays under 2 % of one CPU, and under 1 %
 * where a process never sleeps.
 */
#define VCPU_WAKE_US 400.0

struct vcpu {
        pid_t thread;
        int schedstat_fd, status_fd;
        uint64_t awake_ns, switches; /* at the last look */
        double pool_ns;              /* busy, and not yet reported: a wait is counted only when it is over */
        double speed;                /* share of its time that the host lets it run; a wake-up takes so much longer */
};

struct vcpus {
        struct vcpu list[VCPU_MAX];
        size_t n;
        double wake_ns;
};

/* The CPUs of the QEMU @pid, ascending. 0; -ENODEV: no such threads; -errno. */
int vcpus_open(struct vcpus *vcpus, pid_t pid);
void vcpus_close(struct vcpus *vcpus);

/* Busy parts 0..1 of the @dt_ns since the last look, into @ret of VCPU_MAX. 0; -errno: the thread is gone. */
int vcpus_read(struct vcpus *vcpus, double dt_ns, double *ret);

/* "RUN WAIT SLICES" of /proc/PID/schedstat: the sum of the first two. 0; -EINVAL. */
int vcpu_parse_schedstat(const char *text, uint64_t *ret);
/* The voluntary switches of /proc/PID/status. 0; -EINVAL. */
int vcpu_parse_status(const char *text, uint64_t *ret);
/* The CPU's number in a thread's name, or -EINVAL. */
int vcpu_parse_name(const char *name);
