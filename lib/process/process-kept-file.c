/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is read of one process, through descriptors that stay open. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process-kept-private.h"
#include "util/units.h"
#include "util/util.h"

void kept_close_file(struct kept_collector *collector, int *kept_fd)
{
        if (*kept_fd < 0)
                return;
        close(take_fd(kept_fd));
        collector->descriptors--;
}

void kept_forget(struct kept_collector *collector, struct kept *kept)
{
        kept_close_file(collector, &kept->stat_fd);
        kept_close_file(collector, &kept->io_fd);
}

static int open_file(struct kept_collector *collector, pid_t pid, const char *name)
{
        char path[32];
        int fd;

        snprintf(path, sizeof(path), "%d/%s", pid, name);
        fd = openat(collector->proc_fd, path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Asked once. */
uid_t kept_read_uid(const struct kept_collector *collector, pid_t pid)
{
        uid_t uid;

        return proc_read_uid(collector->proc_fd, pid, &uid) == 0 ? uid : (uid_t)-1;
}

/*
 * What another does is none of ours, unless we are root:
 * its disk bytes may not be read, and half would look like all.
 */
bool kept_is_anothers(const struct kept_collector *collector, pid_t pid)
{
        struct stat owner;
        char path[16];

        if (!collector->source.own_only)
                return false;
        snprintf(path, sizeof(path), "%d", (int)pid);
        return fstatat(collector->proc_fd, path, &owner, 0) < 0 || owner.st_uid != geteuid();
}

/* Through the kept descriptor if there is one; else opens, and keeps if there is room. */
static ssize_t read_file(struct kept_collector *collector, pid_t pid, const char *name, int *kept_fd,
                         char *buf, size_t size)
{
        ssize_t length;
        int fd = *kept_fd;

        if (fd < 0) {
                fd = open_file(collector, pid, name);
                if (fd < 0)
                        return fd;
        }
        length = pread(fd, buf, size - 1, 0);
        if (length < 0)
                length = -errno;
        else
                buf[length] = '\0';
        if (fd == *kept_fd)
                return length;
        if (length >= 0 && collector->descriptors < collector->most_descriptors) {
                *kept_fd = fd;
                collector->descriptors++;
        } else {
                close(fd);
        }
        return length;
}

int kept_read_stat(struct kept_collector *collector, struct kept *kept, struct proc_stat *ret)
{
        char text[1024];
        bool was_kept = kept->stat_fd >= 0;
        ssize_t length = read_file(collector, kept->pid, "stat", &kept->stat_fd, text, sizeof(text));

        if (length == -ESRCH && was_kept) { /* reaped; its pid may be another's by now */
                kept_forget(collector, kept);
                length = read_file(collector, kept->pid, "stat", &kept->stat_fd, text, sizeof(text));
        }
        if (length < 0)
                return (int)length;
        return proc_parse_stat(text, (size_t)length, ret) ? 0 : -EBADMSG;
}

void kept_read_io(struct kept_collector *collector, struct kept *kept)
{
        char text[1024];
        struct proc_io io;

        if (read_file(collector, kept->pid, "io", &kept->io_fd, text, sizeof(text)) < 0 ||
            !proc_parse_io(text, &io))
                return; /* another user's: known only to root and to its owner */
        kept->io_known = true;
        kept->read_bytes = io.read_bytes;
        kept->write_bytes = io.write_bytes;
}

/* CPU time of all of its threads, in ns. The number of a process's clock is part of the kernel's ABI. */
int kept_read_clock(pid_t pid, uint64_t *ret)
{
        struct timespec time;
        clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2); /* CPUCLOCK_SCHED; clock_getcpuclockid(), for less */

        if (clock_gettime(clock, &time) < 0)
                return -errno;
        *ret = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
        return 0;
}
