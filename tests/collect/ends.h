/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits for the ends of processes, which the kernel reports to BPF when it frees them: after an RCU grace period, which
 * takes seconds or more on a busy machine. And counts the processes that the kernel freed without running our program.
 */

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "util/units.h"
#include "util/util.h"

#define ENDS_FD_MAX 1024
#define ENDS_CPUS_MAX 64
#define ENDS_BARRIERS 40 /* barriers without another end: there are no more */

struct ends_wait {
        size_t n, barriers;
};

static struct {
        int counters[ENDS_CPUS_MAX], stats_fd, bridge_fd;
        size_t n_counters;
        uint64_t freed, run; /* at ends_open() */
        uint64_t unseen;     /* freed without running our program, between ends_open() and ends_close() */
} ends = { .stats_fd = -1, .bridge_fd = -1 };

/* libbpf is not used, as this is also built without it. */
static inline int call_bpf(int command, union bpf_attr *attr)
{
        return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Removing a network interface makes the kernel wait until it has called back for all that was freed before. */
static inline void ends_barrier(void)
{
        if (ioctl(ends.bridge_fd, SIOCBRADDBR, "ends") < 0 || ioctl(ends.bridge_fd, SIOCBRDELBR, "ends") < 0)
                usleep(100 * 1000);
        usleep(20 * 1000); /* a process that has ended may have to run once more before it can be freed */
}

/* Waits if fewer than @wanted ends, @n, were reported; false: stop looking. @wait is zeroed before the first call. */
static inline bool ends_wait(struct ends_wait *wait, size_t n, size_t wanted)
{
        if (n > wait->n)
                wait->barriers = 0;
        wait->n = n;
        if (n >= wanted || wait->barriers++ >= ENDS_BARRIERS)
                return false;
        ends_barrier();
        return true;
}

/* The kernel's own count of processes and threads that it freed. */
static inline uint64_t ends_freed(void)
{
        uint64_t sum = 0, n;

        for (size_t i = 0; i < ends.n_counters; i++)
                if (read(ends.counters[i], &n, sizeof(n)) == sizeof(n))
                        sum += n;
        return sum;
}

/* Number of runs of our program for freed tasks; the smallest one if several collectors are open. */
static inline uint64_t ends_run(void)
{
        uint64_t fewest = UINT64_MAX;

        for (int fd = 0; fd < ENDS_FD_MAX; fd++) {
                struct bpf_prog_info info = { 0 };
                union bpf_attr attr = {
                        .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info }
                };

                if (call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && strcmp(info.name, "task_freed") == 0)
                        fewest = MIN(fewest, info.run_cnt);
        }
        return fewest;
}

static inline void ends_open_counter(int cpu, uint64_t id)
{
        struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id };
        int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd >= 0)
                ends.counters[ends.n_counters++] = fd;
}

/* Opens a socket in a network namespace of its own, where no other process sees the interface come and go. */
static inline void ends_open_bridge(void)
{
        int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

        if (here < 0 || unshare(CLONE_NEWNET) < 0)
                return;
        ends.bridge_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        check_int(setns(here, CLONE_NEWNET), 0);
        close(here);
}

/* The number of the trace event, from a mount of our own: not every machine has one. 0: there is none. */
static inline uint64_t ends_event(void)
{
        char folder[] = "/tmp/test-ends-XXXXXX", path[96], text[32] = "";
        uint64_t id = 0;

        if (!mkdtemp(folder))
                return 0;
        snprintf(path, sizeof(path), "%s/events/sched/sched_process_free/id", folder);
        if (mount("tracefs", folder, "tracefs", 0, NULL) == 0) {
                if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &id) < 0)
                        id = 0;
                umount2(folder, MNT_DETACH);
        }
        rmdir(folder);
        return id;
}

/* After the collector was opened. */
static inline void ends_open(void)
{
        union bpf_attr attr = { .enable_stats = { .type = BPF_STATS_RUN_TIME } };
        uint64_t id = ends_event();

        ends_open_bridge();
        ends.stats_fd = call_bpf(BPF_ENABLE_STATS, &attr);
        for (int cpu = 0; id > 0 && cpu < ENDS_CPUS_MAX; cpu++)
                ends_open_counter(cpu, id);
        ends.run = ends_run();
        ends.freed = ends_freed();
}

/* Before the collector is closed. */
static inline void ends_close(void)
{
        uint64_t freed = ends_freed() - ends.freed, run = ends_run() - ends.run;

        if (ends.n_counters > 0 && ends.run != UINT64_MAX && freed > run)
                ends.unseen += freed - run;
        while (ends.n_counters > 0)
                close(ends.counters[--ends.n_counters]);
        close(ends.stats_fd);
        close(ends.bridge_fd);
        ends.stats_fd = ends.bridge_fd = -1;
}

/* check_result(); 77 where what failed may be what the kernel did not report. */
static inline int ends_result(void)
{
        if (!check_failures || !ends.unseen)
                return check_result();
        printf("skipped: the kernel freed %llu processes or threads without running a BPF program that is attached to "
               "that; %d of %d checks failed\n",
               (unsigned long long)ends.unseen, check_failures, check_count);
        return 77;
}
