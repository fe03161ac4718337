/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reports ended threads without BPF, by taskstats (netlink, Documentation/accounting/taskstats.rst). Needs
 * root. Netlink's types are only used here.
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
        bool last;             /* last thread of its process */
        uint64_t lived_ns;
        uint64_t ended_s;      /* realtime, in whole seconds; messages come in the order of ends */
        uint64_t cpu_ns;       /* by the scheduler; the tick-based fields are multiples of a tick */
        uint64_t read_bytes;
        uint64_t write_bytes;  /* without cancelled writes */
};

/*
 * Returns -EPERM without root; -ENODEV or -EPROTONOSUPPORT if the kernel has no taskstats, or none for
 * processes.
 */
int taskstats_open(int root_fd, struct taskstats_listener **ret);
void taskstats_free(struct taskstats_listener *listener);

/*
 * Calls @ended for each thread that ended since the last call. Returns 0; -ENOBUFS: some were lost; or the
 * result of @ended.
 */
int taskstats_read(struct taskstats_listener *listener,
                   int (*ended)(void *data, const struct ended_thread *thread), void *data);

/*
 * Parses one message of the family; returns false for other messages. Each message is about a thread (PID),
 * and the last one of several threads also about their sum (TGID), which has no io. @message is aligned like
 * a netlink header.
 */
bool taskstats_parse(const void *message, size_t length, uint16_t family, struct ended_thread *ret);
