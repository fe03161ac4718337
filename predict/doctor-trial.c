/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor-trial.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/util.h"

/* The child's exit closes what the collector opened. */
static void try(const struct collector *collector, const struct collector_options *how, int fd)
{
        struct source *source = NULL;
        struct trial_result result = { .err = collector->open(how, &source) };

        if (!result.err) {
                result.counts = source->counts;
                result.net_by = source->net_by;
        }
        _exit(write(fd, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

void trial_begin(const struct collector *collector, const struct collector_options *how, struct trial *ret)
{
        int fds[2];

        *ret = (struct trial){ collector, -1, -1 };
        if (pipe2(fds, O_CLOEXEC) < 0)
                return;
        ret->pid = fork();
        if (ret->pid == 0)
                try(collector, how, fds[1]);
        close(fds[1]);
        if (ret->pid > 0)
                ret->fd = fds[0];
        else
                close(fds[0]);
}

struct trial_result trial_end(struct trial *trial)
{
        struct trial_result result;
        ssize_t n;

        if (trial->fd < 0)
                return (struct trial_result){ .err = -EAGAIN };
        do
                n = read(trial->fd, &result, sizeof(result));
        while (n < 0 && errno == EINTR);
        close(trial->fd);
        while (waitpid(trial->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        return n == (ssize_t)sizeof(result) ? result : (struct trial_result){ .err = -EIO };
}
