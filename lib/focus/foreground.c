/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The foreground app from a source that the integrator configures:
 *
 *   file:PATH        a file with the app's id; a change is dated by its modification time
 *   command:COMMAND  run by /bin/sh; prints a line with the app's id at each change
 *
 * An empty line or file means that no app has the foreground, "?" means unknown.
 */

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

#define EVENTS_MAX 1024 /* between two polls */

struct change {
        uint64_t boottime_ns;
        bool known;
        char app[APP_ID_MAX];
};

struct foreground_source {
        struct source source;
        const struct log *log;
        char *file;    /* NULL: command */
        char *command;
        pid_t child;   /* its shell */
        int fd;
        char line[2 * APP_ID_MAX];
        size_t length;
        struct change now;
        struct change changes[EVENTS_MAX];
        size_t n_changes;
        struct screen_event screen; /* state at the last poll */
};

extern char **environ;

static bool same(const struct change *a, const struct change *b)
{
        return a->known == b->known && strcmp(a->app, b->app) == 0;
}

static void note(struct foreground_source *self, const char *text, uint64_t boottime_ns)
{
        struct change change = { .boottime_ns = boottime_ns, .known = text && strcmp(text, "?") != 0 };

        if (change.known)
                util_printable(text, change.app, sizeof(change.app));
        if (same(&change, &self->now))
                return;
        self->now = change;
        if (self->n_changes < EVENTS_MAX)
                self->n_changes++;
        self->changes[self->n_changes - 1] = change; /* beyond EVENTS_MAX the newest change overwrites the last */
}

/* Lines that are too long are cut, not joined. */
static void take_lines(struct foreground_source *self, const char *text, size_t n, uint64_t boottime_ns)
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

static void hear_command(struct foreground_source *self, uint64_t boottime_ns)
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
                log_warning(self->log,
                            "the foreground command ended; the foreground app is unknown from now on");
                close(take_fd(&self->fd));
                note(self, NULL, boottime_ns);
        }
}

/* A change is dated by the file's modification time. */
static void look_at_file(struct foreground_source *self, const struct sample *sample)
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

static int merge(struct foreground_source *self, const struct sample *sample, struct screen_event **ret,
                 size_t *ret_n)
{
        struct screen_event *events = calloc(sample->n_events + self->n_changes + 1, sizeof(*events));
        struct screen_event state = self->screen;
        size_t seen = 0, heard = 0, n = 0;

        if (!events)
                return -ENOMEM;
        while (seen < sample->n_events || heard < self->n_changes) {
                const struct screen_event *event = seen < sample->n_events ? &sample->events[seen] : NULL;
                const struct change *change = heard < self->n_changes ? &self->changes[heard] : NULL;

                if (!change || (event && event->boottime_ns <= change->boottime_ns)) {
                        state.boottime_ns = event->boottime_ns;
                        state.screen_known = event->screen_known;
                        state.screen_on = event->screen_on;
                        state.brightness = event->brightness;
                        seen++;
                } else {
                        state.boottime_ns = MAX(change->boottime_ns, state.boottime_ns);
                        state.foreground_known = change->known;
                        memcpy(state.app, change->app, sizeof(state.app));
                        heard++;
                }
                events[n++] = state;
        }
        *ret = events;
        *ret_n = n;
        return 0;
}

static int start(struct foreground_source *self)
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

/* At the first poll, when the service has given up the capabilities that opening sources needs. */
static int start_once(struct foreground_source *self)
{
        int err = self->command && !self->child ? start(self) : 0;

        if (err)
                log_error(self->log, "cannot run the foreground command \"%s\": %s", self->command,
                          strerror(-err));
        return err;
}

/* The sample has the changes of the display already: merge ours into them by time. */
static int foreground_read(struct source *source, struct sample *sample)
{
        struct foreground_source *self = (struct foreground_source *)source;
        _cleanup_free_ struct screen_event *events = NULL;
        size_t n;
        int err = start_once(self);

        if (err)
                return err;
        if (self->file)
                look_at_file(self, sample);
        else
                hear_command(self, sample->boottime_ns);
        err = merge(self, sample, &events, &n);
        if (err)
                return err;
        sample->n_events = 0;
        for (size_t i = 0; i < n; i++) {
                struct screen_event *event = sample_add_event(sample);

                if (!event)
                        return -ENOMEM;
                *event = events[i];
        }
        sample->screen.foreground_known = self->now.known;
        memcpy(sample->screen.app, self->now.app, sizeof(sample->screen.app));
        sample->have |= SAMPLE_FOREGROUND;
        self->screen = sample->screen;
        self->n_changes = 0;
        return 0;
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

static void foreground_close(struct source *source)
{
        struct foreground_source *self = (struct foreground_source *)source;

        closep(&self->fd);
        if (self->child > 0)
                end_command(self->child);
        free(self->command);
        free(self->file);
        free(self);
}

static int foreground_fd(const struct source *source)
{
        return ((const struct foreground_source *)source)->fd;
}

static void foreground_hear(struct source *source, uint64_t boottime_ns)
{
        hear_command((struct foreground_source *)source, boottime_ns);
}

static const struct source_ops foreground_ops = {
        .name = "foreground",
        .read = foreground_read,
        .close = foreground_close,
        .fd = foreground_fd,
        .hear = foreground_hear,
};

static int choose(struct foreground_source *self, const char *what)
{
        if (strncmp(what, "file:/", 6) == 0) {
                self->file = strdup(what + 5);
                return self->file ? 0 : -ENOMEM;
        }
        if (strncmp(what, "command:", 8) != 0 || !what[8]) {
                log_error(self->log,
                          "foreground = \"%s\" is not none, file:/PATH or command:COMMAND", what);
                return -EINVAL;
        }
        self->command = strdup(what + 8);
        return self->command ? 0 : -ENOMEM;
}

int foreground_open(const char *what, const struct log *log, struct source **ret)
{
        struct foreground_source *self = calloc(1, sizeof(*self));
        int err;

        if (!self)
                return -ENOMEM;
        self->source.ops = &foreground_ops;
        self->log = log;
        self->fd = -1;
        err = choose(self, what);
        if (err) {
                foreground_close(&self->source);
                return err;
        }
        *ret = &self->source;
        return 0;
}
