/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "util/util.h"

/*
 * Like the lock itself this belongs to the process: after a fork() both sides share the open file description, to
 * which a lock of flock() belongs.
 */
static int held = -1;
static unsigned holders;

static pid_t read_pid(int fd)
{
        char text[32] = "";
        uint64_t pid;

        if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || util_parse_u64(text, &pid) < 0 || pid > INT32_MAX)
                return 0;
        return (pid_t)pid;
}

int lock_take(const char *journal, pid_t *pid)
{
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -1;
        int err;

        if (held >= 0) {
                holders++;
                return 0;
        }
        if (asprintf(&path, "%s.lock", journal) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        err = util_make_parent(path, 0700);
        if (err)
                return err;
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                err = errno == EWOULDBLOCK ? -EBUSY : -errno;
                if (pid)
                        *pid = read_pid(fd);
                return err;
        }
        /* Only for the message of a second caller; the lock holds without it. */
        if (ftruncate(fd, 0) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
                fprintf(stderr, "%s: the process number could not be written\n", path);
        held = take_fd(&fd);
        holders = 1;
        return 0;
}

void lock_give(void)
{
        if (holders == 0 || --holders > 0)
                return;
        closep(&held);
        held = -1;
}
