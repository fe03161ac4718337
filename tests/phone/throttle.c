/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "throttle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util.h"

#define PERIOD_US 10000 /* shorter ones cost more than they smooth; longer ones show as latency */
#define UNIFIED_ROOT "/sys/fs/cgroup"
#define CPU_ROOT "/sys/fs/cgroup/cpu"
#define QUOTA_MIN_US 1000
#define WEIGHT "5000"   /* v2: of 1..10000, others have 100 */
#define SHARES "50000"  /* v1: others have 1024 */

static int write_at(int dir_fd, const char *name, const char *text)
{
        _cleanup_close_ int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int write_number(int dir_fd, const char *name, long number)
{
        char text[32];

        snprintf(text, sizeof(text), "%ld", number);
        return write_at(dir_fd, name, text);
}

/* Where the cpu controller of v1 is, or v2 with that controller: the usual mount points. */
static int find_root(bool *unified, const char **ret)
{
        *unified = access(UNIFIED_ROOT "/cgroup.controllers", F_OK) == 0;
        *ret = *unified ? UNIFIED_ROOT : CPU_ROOT;
        return access(*ret, F_OK) == 0 ? 0 : -ENOTSUP;
}

/*
 * All of QEMU moves into the parent: with v2 threads can be spread below their process's group only, and
 * timers of the phone are other threads' work.
 */
static int make_parent(struct throttle *throttle, const char *root)
{
        _cleanup_close_ int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
        int err = 0;

        if (root_fd < 0)
                return -errno;
        snprintf(throttle->parent, sizeof(throttle->parent), "%s/joulecast-phone-%d", root,
                 (int)throttle->pid);
        if (mkdir(throttle->parent, 0755) < 0 && errno != EEXIST)
                return -errno;
        fd = open(throttle->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (throttle->unified)
                err = write_at(root_fd, "cgroup.subtree_control", "+cpu");
        if (!err)
                err = write_number(fd, "cgroup.procs", throttle->pid);
        if (err)
                return err;
        return throttle->unified ? write_at(fd, "cpu.weight", WEIGHT) : write_at(fd, "cpu.shares", SHARES);
}

static int make_group(struct throttle *throttle, size_t cpu, pid_t thread)
{
        char path[192];
        int fd, err;

        snprintf(path, sizeof(path), "%s/cpu%zu", throttle->parent, cpu);
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
                return -errno;
        fd = throttle->group_fd[cpu] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        throttle->n = cpu + 1;
        throttle->share[cpu] = 1;
        if (throttle->unified) {
                err = write_at(fd, "cgroup.type", "threaded");
                return err ? err : write_number(fd, "cgroup.threads", thread);
        }
        err = write_at(fd, "cpu.shares", SHARES);
        if (!err)
                err = write_number(fd, "cpu.cfs_period_us", PERIOD_US);
        return err ? err : write_number(fd, "tasks", thread);
}

/* v2 lets a group's children have a controller only once they are there. */
static int enable_cpu(const struct throttle *throttle)
{
        _cleanup_close_ int fd = -1;

        if (!throttle->unified)
                return 0;
        fd = open(throttle->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : write_at(fd, "cgroup.subtree_control", "+cpu");
}

int throttle_open(struct throttle *throttle, const struct vcpus *vcpus, pid_t pid)
{
        const char *root;
        int err;

        *throttle = (struct throttle){ .pid = pid };
        for (size_t i = 0; i < VCPU_MAX; i++)
                throttle->group_fd[i] = -1;
        err = find_root(&throttle->unified, &root);
        if (!err)
                err = make_parent(throttle, root);
        for (size_t i = 0; !err && i < vcpus->n; i++)
                err = make_group(throttle, i, vcpus->list[i].thread);
        if (!err)
                err = enable_cpu(throttle);
        if (err)
                throttle_close(throttle);
        return err;
}

static int write_quota(const struct throttle *throttle, size_t cpu, long quota_us)
{
        char text[64];

        if (!throttle->unified)
                return write_number(throttle->group_fd[cpu], "cpu.cfs_quota_us", quota_us);
        if (quota_us < 0)
                snprintf(text, sizeof(text), "max %d", PERIOD_US);
        else
                snprintf(text, sizeof(text), "%ld %d", quota_us, PERIOD_US);
        return write_at(throttle->group_fd[cpu], "cpu.max", text);
}

int throttle_set(struct throttle *throttle, size_t cpu, double share)
{
        long quota_us = (long)(share * PERIOD_US);

        if (cpu >= throttle->n || share == throttle->share[cpu])
                return 0;
        throttle->share[cpu] = share;
        return write_quota(throttle, cpu, share >= 1 ? -1 : MAX(quota_us, QUOTA_MIN_US));
}

/* Move the threads back to the root group: groups with threads of a running QEMU cannot be removed. */
static void leave(const struct throttle *throttle)
{
        const char *root = throttle->unified ? UNIFIED_ROOT : CPU_ROOT;
        _cleanup_close_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
                write_number(fd, "cgroup.procs", throttle->pid);
}

void throttle_close(struct throttle *throttle)
{
        if (!*throttle->parent)
                return;
        leave(throttle);
        for (size_t i = 0; i < throttle->n; i++) {
                char path[192];

                closep(&throttle->group_fd[i]);
                snprintf(path, sizeof(path), "%s/cpu%zu", throttle->parent, i);
                rmdir(path);
        }
        throttle->n = 0;
        rmdir(throttle->parent);
        *throttle->parent = '\0';
}
