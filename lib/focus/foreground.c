/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "util/units.h"
#include "util/util.h"

struct foreground {
        struct screen_log *changes;
        const struct log *log;
        char *file;    /* NULL: command */
        char *command;
        pid_t child;   /* its shell; 0: not started yet; -1: cannot be started */
        int fd;
        char line[2 * APP_ID_MAX];
        size_t length;
        uint64_t polled_ns; /* a change is never dated before the last poll */
};

extern char **environ;

/* @text NULL: the app is unknown. */
static void note(struct foreground *self, const char *text, uint64_t boottime_ns)
{
        bool known = text && strcmp(text, "?") != 0;
        char app[APP_ID_MAX];

        screen_log_foreground(self->changes, MAX(boottime_ns, self->polled_ns), known,
                              known ? util_printable(text, app, sizeof(app)) : "");
}

/* Lines that are too long are cut, not joined. */
static void take_lines(struct foreground *self, const char *text, size_t n, uint64_t boottime_ns)
{
        for (size_t i = 0; i < n; i++) {
                if (text[i] == '\n') {
                        self->line[self->length] = '\0';
                        self->length = 0;
                        note(self, self->line, boottime_ns);
                } else if (self->length + 1 < sizeof(self->line) && text[i]) {
                        self->line[self->length++] = text[i];
                }
        }
}

void foreground_hear(struct foreground *self, uint64_t boottime_ns)
{
        char text[4096];

        while (self->fd >= 0) {
                ssize_t n = read(self->fd, text, sizeof(text));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return;
                if (n > 0) {
                        take_lines(self, text, (size_t)n, boottime_ns);
                        continue;
                }
                log_warning(self->log, "the foreground command ended; the foreground app is unknown from now on");
                close(take_fd(&self->fd));
                note(self, NULL, boottime_ns);
        }
}

static void look_at_file(struct foreground *self, const struct sample *sample)
{
        char text[2 * APP_ID_MAX];
        struct stat info;
        uint64_t age_ns, when_ns = sample->boottime_ns;

        if (util_read_at(AT_FDCWD, self->file, text, sizeof(text)) < 0 || stat(self->file, &info) < 0) {
                note(self, NULL, when_ns);
                return;
        }
        text[strcspn(text, "\n")] = '\0';
        age_ns = (uint64_t)(sample->realtime_ns -
                            (info.st_mtim.tv_sec * (int64_t)NS_PER_S + info.st_mtim.tv_nsec));
        if (age_ns < when_ns)
                when_ns -= age_ns;
        note(self, text, when_ns);
}

static int start(struct foreground *self)
{
        char *const arguments[] = { (char *)"sh", (char *)"-c", self->command, NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none;
        int pipes[2], err;

        if (pipe2(pipes, O_CLOEXEC) < 0)
                return -errno;
        sigemptyset(&none);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        err = -posix_spawn(&self->child, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        close(pipes[1]);
        self->fd = pipes[0];
        if (!err && fcntl(self->fd, F_SETFL, O_NONBLOCK) < 0)
                err = -errno;
        return err;
}

void foreground_poll(struct foreground *self, const struct sample *sample)
{
        int err = self->command && !self->child ? start(self) : 0;

        if (err) {
                log_error(self->log, "cannot run the foreground command \"%s\": %s", self->command, strerror(-err));
                self->child = -1;
        }
        if (self->file)
                look_at_file(self, sample);
        else
                foreground_hear(self, sample->boottime_ns);
        self->polled_ns = sample->boottime_ns;
}

int foreground_fd(const struct foreground *self)
{
        return self->fd;
}

/* Ends its process group, after a second by SIGKILL. */
static void end_command(pid_t child)
{
        struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };

        kill(-child, SIGTERM);
        if (poll(&ended, 1, 1000) <= 0)
                kill(-child, SIGKILL);
        waitpid(child, NULL, 0);
        closep(&ended.fd);
}

void foreground_close(struct foreground *self)
{
        if (!self)
                return;
        closep(&self->fd);
        if (self->child > 0)
                end_command(self->child);
        free(self->command);
        free(self->file);
        free(self);
}

int foreground_open(const char *what, struct screen_log *changes, const struct log *log, struct foreground **ret)
{
        bool file = strncmp(what, "file:/", 6) == 0;
        struct foreground *self;
        char *copy;

        if (!file && (strncmp(what, "command:", 8) != 0 || !what[8])) {
                log_error(log, "foreground = \"%s\" is not none, file:/PATH or command:COMMAND", what);
                return -EINVAL;
        }
        self = calloc(1, sizeof(*self));
        copy = strdup(strchr(what, ':') + 1);
        if (!self || !copy) {
                free(self);
                free(copy);
                return -ENOMEM;
        }
        *self = (struct foreground){ .changes = changes, .log = log, .file = file ? copy : NULL,
                                     .command = file ? NULL : copy, .fd = -1 };
        *ret = self;
        return 0;
}
