/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define POOL_MAX_NS 5e9 /* a longer wait is not due to the host's scheduler */
#define WAKE_SHARE 0.6  /* share of wake-ups in the time of a CPU that does little else */
#define DEBT_MAX_NS 5e7 /* most time of wake-ups that is subtracted before their work is seen */

int vcpu_parse_schedstat(const char *text, uint64_t *ret)
{
        unsigned long long run, wait, slices;

        if (sscanf(text, "%llu %llu %llu", &run, &wait, &slices) != 3)
                return -EINVAL;
        *ret = run + wait;
        return 0;
}

int vcpu_parse_status(const char *text, uint64_t *ret)
{
        const char *line = strstr(text, "\nvoluntary_ctxt_switches:");
        unsigned long long switches;

        if (!line || sscanf(line, "\nvoluntary_ctxt_switches: %llu", &switches) != 1)
                return -EINVAL;
        *ret = switches;
        return 0;
}

int vcpu_parse_name(const char *name)
{
        int cpu, length = 0;

        if (sscanf(name, "CPU %d/%n", &cpu, &length) != 1 || length == 0)
                return -EINVAL;
        return cpu >= 0 && cpu < VCPU_MAX ? cpu : -EINVAL;
}

static ssize_t read_whole(int fd, char *buf, size_t size)
{
        ssize_t n = pread(fd, buf, size - 1, 0);

        if (n < 0)
                return -errno;
        buf[n] = '\0';
        return n;
}

static int look(const struct vcpu *vcpu, uint64_t *awake_ns, uint64_t *switches)
{
        char text[4096];
        ssize_t n = read_whole(vcpu->schedstat_fd, text, sizeof(text));
        int err = n < 0 ? (int)n : vcpu_parse_schedstat(text, awake_ns);

        if (err)
                return err;
        n = read_whole(vcpu->status_fd, text, sizeof(text));
        return n < 0 ? (int)n : vcpu_parse_status(text, switches);
}

static int open_thread(struct vcpu *vcpu, pid_t thread, int task_fd, const char *folder)
{
        char path[64];

        snprintf(path, sizeof(path), "%.20s/schedstat", folder);
        vcpu->schedstat_fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
        if (vcpu->schedstat_fd < 0)
                return -errno;
        snprintf(path, sizeof(path), "%.20s/status", folder);
        vcpu->status_fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
        if (vcpu->status_fd < 0)
                return -errno;
        vcpu->thread = thread;
        return look(vcpu, &vcpu->awake_ns, &vcpu->switches);
}

/* A thread that is no CPU's is passed over; so is one that ended meanwhile. */
static int add_thread(struct vcpus *vcpus, int task_fd, const char *folder)
{
        char path[64], name[32];
        uint64_t thread;
        int cpu;

        snprintf(path, sizeof(path), "%.20s/comm", folder);
        if (util_parse_u64(folder, &thread) < 0 || util_read_at(task_fd, path, name, sizeof(name)) < 0)
                return 0;
        cpu = vcpu_parse_name(name);
        if (cpu < 0)
                return 0;
        vcpus->n = MAX(vcpus->n, (size_t)cpu + 1);
        return open_thread(&vcpus->list[cpu], (pid_t)thread, task_fd, folder);
}

static int add_threads(struct vcpus *vcpus, DIR *tasks)
{
        struct dirent *entry;

        while ((entry = readdir(tasks))) {
                int err = add_thread(vcpus, dirfd(tasks), entry->d_name);

                if (err)
                        return err;
        }
        for (size_t i = 0; i < vcpus->n; i++)
                if (vcpus->list[i].status_fd < 0)
                        return -ENODEV;
        return vcpus->n > 0 ? 0 : -ENODEV;
}

int vcpus_open(struct vcpus *vcpus, pid_t pid)
{
        char path[64];
        DIR *tasks;
        int err;

        *vcpus = (struct vcpus){ .n = 0 };
        for (size_t i = 0; i < VCPU_MAX; i++)
                vcpus->list[i] = (struct vcpu){ .schedstat_fd = -1, .status_fd = -1, .speed = 1 };
        snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
        tasks = opendir(path);
        if (!tasks)
                return -errno;
        err = add_threads(vcpus, tasks);
        closedir(tasks);
        return err;
}

void vcpus_close(struct vcpus *vcpus)
{
        for (size_t i = 0; i < VCPU_MAX; i++) {
                closep(&vcpus->list[i].schedstat_fd);
                closep(&vcpus->list[i].status_fd);
                vcpus->list[i].schedstat_fd = vcpus->list[i].status_fd = -1;
        }
        vcpus->n = 0;
}

/*
 * A CPU that never sleeps also has switches, when it waits for QEMU's big lock:
 * only the idle share of its switches counts as wake-ups.
 */
static double busy_ns(double awake_ns, double switches, double wake_ns, double dt_ns)
{
        double idle = fmax(0, 1 - awake_ns / dt_ns);

        return awake_ns - fmin(switches * wake_ns * idle, WAKE_SHARE * awake_ns);
}

int vcpus_read(struct vcpus *vcpus, double dt_ns, double *ret)
{
        for (size_t i = 0; i < vcpus->n; i++) {
                struct vcpu *vcpu = &vcpus->list[i];
                uint64_t awake_ns, switches;
                double told_ns;
                int err = look(vcpu, &awake_ns, &switches);

                if (err)
                        return err;
                vcpu->pool_ns += busy_ns((double)(awake_ns - vcpu->awake_ns),
                                         (double)(switches - vcpu->switches), vcpus->wake_ns / vcpu->speed,
                                         dt_ns);
                vcpu->awake_ns = awake_ns;
                vcpu->switches = switches;
                told_ns = fmax(0, fmin(vcpu->pool_ns, dt_ns));
                vcpu->pool_ns = fmax(-DEBT_MAX_NS, fmin(vcpu->pool_ns - told_ns, POOL_MAX_NS));
                ret[i] = dt_ns > 0 ? told_ns / dt_ns : 0;
        }
        return 0;
}
