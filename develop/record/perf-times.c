/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "family.h"
#include "perf-map.h"
#include "util/units.h"
#include "util/util.h"

#define FIND_EVERY_NS NS_PER_S

struct perf_time {
        uint64_t time_ns;
        pid_t pid;
        size_t bytes;
};

static int look(struct perf_times *times, pid_t pid, uint64_t now_ns)
{
        struct stat status;
        char path[64];

        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
        if (fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
                return 0; /* most have none */
        if (util_grow(&times->list, &times->capacity, times->n + 1, sizeof(*times->list)) < 0)
                return -ENOMEM;
        times->list[times->n++] = (struct perf_time){ now_ns, pid, (size_t)status.st_size };
        return 0;
}

int perf_times_look(struct perf_times *times, int proc_fd, pid_t pid, uint64_t now_ns)
{
        int err = 0;

        if (!times->family)
                times->family = calloc(1, sizeof(*times->family));
        if (!times->family)
                return -ENOMEM;
        if (times->found_ns == 0 || now_ns - times->found_ns >= FIND_EVERY_NS) {
                times->found_ns = now_ns;
                family_find(times->family, proc_fd, pid);
        }
        for (size_t i = 0; !err && i < times->family->n; i++)
                err = look(times, times->family->list[i], now_ns);
        return err;
}

static int is_later(const void *key, const void *element)
{
        return *(const uint64_t *)key < ((const struct perf_time *)element)->time_ns ? -1 : 1;
}

size_t perf_times_at(const struct perf_times *times, pid_t pid, uint64_t time_ns)
{
        size_t after = util_lower_bound(&time_ns, times->list, times->n, sizeof(*times->list), is_later);

        for (size_t i = after; i > 0; i--)
                if (times->list[i - 1].pid == pid)
                        return times->list[i - 1].bytes;
        for (size_t i = after; i < times->n; i++)
                if (times->list[i].pid == pid)
                        return 0;
        return SIZE_MAX;
}

void perf_times_clear(struct perf_times *times)
{
        free(times->list);
        free(times->family);
        *times = (struct perf_times){ 0 };
}
