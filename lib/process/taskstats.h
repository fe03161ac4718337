/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Threads that end, as the kernel reports them without BPF (netlink, Documentation/accounting/taskstats.rst). For
 * root. Netlink's types stop here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct taskstats_listener;

struct ended_thread {
        pid_t pid, tgid, parent;
        uid_t uid;
        char comm[32];
        bool last;             /* of its process */
        uint64_t lived_ns;
        uint64_t cpu_ns;       /* of the scheduler; the tick-based fields are multiples of a tick */
        uint64_t read_bytes;
        uint64_t write_bytes;  /* minus cancelled writes */
};

/* -EPERM without root; -ENODEV, -EPROTONOSUPPORT: the kernel has no taskstats, or not of processes. */
int taskstats_open(int root_fd, struct taskstats_listener **ret);
void taskstats_free(struct taskstats_listener *listener);

/*
 * Calls @ended for each thread that ended since the last time.
 * 0, -ENOBUFS: some were lost, or what @ended returned.
 */
int taskstats_read(struct taskstats_listener *listener,
                   int (*ended)(void *data, const struct ended_thread *thread), void *data);

/*
 * Parses one message of the family; false: another one. It is about a thread (PID), and for the last one of several
 * also about their sum (TGID), which has no io. @message is aligned as a netlink header.
 */
bool taskstats_parse(const void *message, size_t length, uint16_t family, struct ended_thread *ret);
