/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "groups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "desktop/scope.h"
#include "link.h"
#include "util/util.h"

#define SCOPE "joulecast-emulate"
#define PERIOD_US 10000.0    /* the shorter it is, the better bursts are slowed */
#define QUOTA_US_MIN 1000.0  /* the kernel's minimum */
#define REMOVE_TRIES 150     /* one each 10 ms */

static int write_in(const char *folder, const char *name, const char *text)
{
        char path[PATH_MAX + 512];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        return link_set(path, text);
}

/* Does the group's file @name contain @word? */
static bool has_word(const char *folder, const char *name, const char *word)
{
        char path[PATH_MAX + 512], text[4096], *rest = text, *one;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
                return false;
        while ((one = strsep(&rest, " \n")))
                if (strcmp(one, word) == 0)
                        return true;
        return false;
}

/* The group of this process in the hierarchy with that controller; "": version 2. */
static int find_own(const char *controller, const char *mounted, char ret[PATH_MAX])
{
        char text[8192], *rest = text, *line;

        if (util_read_at(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) <= 0)
                return -ENOENT;
        while ((line = strsep(&rest, "\n"))) {
                char *list = strchr(line, ':'), *path = list ? strchr(++list, ':') : NULL, *one;
                bool found = false;

                if (!path)
                        continue;
                *path++ = '\0';
                while ((one = strsep(&list, ",")))
                        found |= strcmp(one, controller) == 0;
                if (found)
                        return snprintf(ret, PATH_MAX, "%s%s", mounted, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
        }
        return -ENOENT;
}

static bool is_mounted(const char *path, long type)
{
        struct statfs filesystem;

        return statfs(path, &filesystem) == 0 && (long)filesystem.f_type == type;
}

int groups_refill(const struct groups *groups, const char *path, const struct groups_quota *quota)
{
        bool v2 = groups->version == GROUPS_V2;
        char number[64];

        if (!quota)
                return write_in(path, v2 ? "cpu.max" : "cpu.cfs_quota_us", v2 ? "max" : "-1");
        snprintf(number, sizeof(number), v2 ? "%u %u" : "%u", quota->quota_us, quota->period_us);
        return write_in(path, v2 ? "cpu.max" : "cpu.cfs_quota_us", number);
}

/* In version 2, a group of threads in place of processes. */
static int make_threaded(const struct groups *groups, const char *path)
{
        return groups->version == GROUPS_V2 ? write_in(path, "cgroup.type", "threaded") : 0;
}

/* In version 1 the period has a file of its own. */
static int set_period(const struct groups *groups, const char *path, struct groups_quota quota)
{
        char number[32];

        if (groups->version == GROUPS_V2)
                return 0;
        snprintf(number, sizeof(number), "%u", quota.period_us);
        return write_in(path, "cpu.cfs_period_us", number);
}

int groups_limit(const struct groups *groups, const char *path, struct groups_quota quota)
{
        int err = make_threaded(groups, path);

        err = err ? err : set_period(groups, path, quota);
        return err ? err : groups_refill(groups, path, &quota);
}

int groups_prefer(const struct groups *groups, const char *path, bool prefer)
{
        bool v2 = groups->version == GROUPS_V2;
        const char *most = v2 ? "10000" : "262144", *usual = v2 ? "100" : "1024"; /* by the kernel */

        return write_in(path, v2 ? "cpu.weight" : "cpu.shares", prefer ? most : usual);
}

static bool is_group(const struct dirent *entry)
{
        return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

/* Without limits what is in it ends at once. False: something still runs. */
static bool try_remove(const struct groups *groups)
{
        DIR *dir = opendir(groups->path);
        char path[PATH_MAX + 256];
        struct dirent *entry;

        (void)groups_refill(groups, groups->path, NULL);
        while (dir && (entry = readdir(dir))) {
                if (!is_group(entry))
                        continue;
                snprintf(path, sizeof(path), "%s/%.200s", groups->path, entry->d_name);
                if (rmdir(path) < 0)
                        (void)groups_refill(groups, path, NULL);
        }
        if (dir)
                closedir(dir);
        return rmdir(groups->path) == 0 || errno == ENOENT;
}

static void remove_all(const struct groups *groups)
{
        const struct timespec moment = { 0, 10000000 };

        for (int i = 0; i < REMOVE_TRIES && !try_remove(groups); i++)
                nanosleep(&moment, NULL);
}

/* Waits until nobody of the run is left, then removes the group, unless that is done. */
static _Noreturn void guard(const struct groups *groups, int life)
{
        struct pollfd polled = { life, 0, 0 };
        int null = open("/dev/null", O_RDWR);

        for (int i = 0; i < 3 && null >= 0; i++)
                (void)dup2(null, i);
        if (life > 3)
                (void)syscall(SYS_close_range, 3, (unsigned)life - 1, 0);
        (void)syscall(SYS_close_range, (unsigned)life + 1, ~0u, 0);
        setsid();
        for (int i = SIGHUP; i <= SIGTERM; i++)
                signal(i, SIG_IGN);
        while (!polled.revents)
                (void)poll(&polled, 1, -1);
        remove_all(groups);
        _exit(0);
}

static void end_guard(struct groups *groups)
{
        closep(&groups->life);
        closep(&groups->guarding);
        if (groups->guard > 0)
                (void)waitpid(groups->guard, NULL, 0);
        groups->life = groups->guarding = -1;
        groups->guard = -1;
}

int groups_guard(struct groups *groups)
{
        int life[2];

        end_guard(groups);
        if (pipe2(life, O_CLOEXEC) < 0)
                return -errno;
        fflush(NULL);
        groups->guard = fork();
        if (groups->guard == 0) {
                close(life[1]);
                guard(groups, life[0]);
        }
        close(life[0]);
        groups->life = life[1];
        groups->guarding = groups->guard > 0 ? (int)syscall(SYS_pidfd_open, groups->guard, 0) : -1;
        if (groups->guarding >= 0)
                return 0;
        end_guard(groups);
        return -EAGAIN;
}

/* Below a group of ours. There is a guard before there is a group. */
static int make_below(const char *parent, struct groups *groups)
{
        static unsigned number;
        int err;

        if (snprintf(groups->path, sizeof(groups->path), "%s/" SCOPE "-%d-%u", parent, (int)getpid(),
                     number++) >= PATH_MAX)
                return -ENAMETOOLONG;
        err = groups_guard(groups);
        if (!err && mkdir(groups->path, 0755) < 0)
                err = -errno;
        if (!err)
                err = make_threaded(groups, groups->path);
        if (!err)
                err = set_period(groups, groups->path, groups->all);
        if (!err && groups->version == GROUPS_V2)
                err = write_in(groups->path, "cgroup.subtree_control", "+cpu");
        if (err) {
                rmdir(groups->path);
                end_guard(groups);
        } else {
                (void)groups_prefer(groups, groups->path, true);
        }
        return err;
}

/*
 * Only systemd may say who makes groups where it runs; elsewhere the controller must be there for all below
 * our group.
 */
static int make_v2(struct groups *groups)
{
        static const struct scope_plan scope = { SCOPE, "An app that joulecast emulates on another device", "cpu" };
        static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
        const char *mounted = NULL;
        char own[PATH_MAX];
        int err;

        groups->version = GROUPS_V2;
        for (size_t i = 0; i < ARRAY_SIZE(places) && !mounted; i++)
                mounted = is_mounted(places[i], CGROUP2_SUPER_MAGIC) ? places[i] : NULL;
        if (!mounted || !has_word(mounted, "cgroup.controllers", "cpu"))
                return -ENOENT;
        err = find_own("", mounted, own);
        if (!err && !strstr(own, "/" SCOPE "-")) {
                err = scope_enter(&scope);
                if (!err)
                        err = find_own("", mounted, own);
                else if (err == -ENOSYS && has_word(own, "cgroup.subtree_control", "cpu"))
                        err = 0;
        }
        if (!err && !has_word(own, "cgroup.subtree_control", "cpu"))
                err = write_in(own, "cgroup.subtree_control", "+cpu");
        return err ? err : make_below(own, groups);
}

static int make_v1(struct groups *groups)
{
        static const char mounted[] = "/sys/fs/cgroup/cpu";
        char own[PATH_MAX];
        int err = is_mounted(mounted, CGROUP_SUPER_MAGIC) ? find_own("cpu", mounted, own) : -ENOENT;

        groups->version = GROUPS_V1;
        return err ? err : make_below(own, groups);
}

/* Each thread has its part of a period, which must not be shorter than the kernel allows. */
static struct groups_quota quota_of(double factor)
{
        double period_us = fmin(fmax(PERIOD_US, ceil(QUOTA_US_MIN * factor)), 1e6);

        return (struct groups_quota){ (unsigned)lround(period_us / factor), (unsigned)period_us };
}

int groups_make(double factor, uint32_t cpus, struct groups *ret)
{
        struct groups groups = { .guard = -1, .life = -1, .guarding = -1, .factor = factor, .cpus = cpus,
                                 .each = quota_of(factor) };
        int err;

        groups.all = (struct groups_quota){ groups.each.quota_us * cpus, groups.each.period_us };
        err = make_v2(&groups);
        if (err)
                err = make_v1(&groups);
        if (!err)
                *ret = groups;
        return err;
}

void groups_remove(struct groups *groups)
{
        if (groups->version == GROUPS_NONE)
                return;
        remove_all(groups);
        end_guard(groups);
        groups->version = GROUPS_NONE;
}
