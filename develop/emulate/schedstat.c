/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/units.h"
#include "util/util.h"

int schedstat_read(pid_t tid, int64_t *ret_ran_ns, int64_t *ret_waited_ns)
{
        char path[64], text[128];
        long long ran, waited;

        snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || sscanf(text, "%lld %lld", &ran, &waited) != 2)
                return -ESRCH;
        *ret_ran_ns = ran;
        *ret_waited_ns = waited;
        return 0;
}

char schedstat_state(pid_t tid)
{
        char path[64], text[1024];
        const char *at;

        snprintf(path, sizeof(path), "/proc/%d/stat", tid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || !(at = strrchr(text, ')')) || at[1] != ' ')
                return 'X';
        return at[2];
}

int64_t schedstat_cpu_ns(pid_t pid)
{
        struct timespec time;
        clockid_t clock;

        if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
                return -1;
        return (int64_t)time.tv_sec * (int64_t)NS_PER_S + time.tv_nsec;
}

int64_t schedstat_children_ns(pid_t pid)
{
        char path[64], text[1024];
        unsigned long long user, system;
        const char *at;

        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || !(at = strrchr(text, ')')) ||
            sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
                return 0;
        return (int64_t)((user + system) * (NS_PER_S / (unsigned long)sysconf(_SC_CLK_TCK)));
}
