/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "focus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "focus-link.h"
#include "screen-log.h"
#include "source/display-choice.h"
#include "source/display.h"
#include "uevent.h"
#include "util/log.h"
#include "util/units.h"
#include "util/util.h"
#include "vt.h"

struct focus {
        struct source source; /* first */
        int root_fd, epoll_fd, uevent_fd;
        struct apps *apps;
        const struct log *log;
        struct focus_link *link;
        struct vt *vt;
        struct foreground *foreground; /* NULL: agents and console */
        struct display_files *display;
        char *backlight; /* NULL: as set in joulecast.conf */
        struct screen_log changes;
        bool (*may_speak)(void *data, uid_t uid);
        void *guard_data;
        void (*sound)(void *data, const pid_t *pids, size_t n, size_t others);
        void *sound_data;
        void (*refresh)(void *data, uint32_t mhz);
        void *refresh_data;
        bool agent_knows;
        bool looked;
        uint64_t looked_ns;
};

/*
 * The foreground app from a source that the integrator configures:
 *
 *   file:/PATH       a file with the app's id; a change is dated by its modification time
 *   command:COMMAND  run by /bin/sh; prints a line with the app's id at each change
 *
 * An empty line or file means that no app has the foreground, "?" means unknown.
 */

struct foreground;

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

static void foreground_hear(struct foreground *self, uint64_t boottime_ns)
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

/* Starts the command at the first poll, when the service has given up the capabilities that opening sources needs. */
static void foreground_poll(struct foreground *self, const struct sample *sample)
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

/* readable: foreground_hear(); -1: none */
static int foreground_fd(const struct foreground *self)
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

static void foreground_close(struct foreground *self)
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

/* @changes: gets the changes, must live longer. 0; -EINVAL: @what is neither of the two; -ENOMEM. */
static int foreground_open(const char *what, struct screen_log *changes, const struct log *log, struct foreground **ret)
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

static void close_focus(struct source *source)
{
        struct focus *focus = (struct focus *)source;

        focus_link_close(focus->link);
        vt_close(focus->vt);
        foreground_close(focus->foreground);
        display_close(focus->display);
        free(focus->backlight);
        screen_log_clear(&focus->changes);
        closep(&focus->uevent_fd);
        closep(&focus->epoll_fd);
        closep(&focus->root_fd);
        free(focus);
}

/* Notes the app of a window's client; unknown if no app is found. */
static void note_window(struct focus *focus, uint64_t boottime_ns, pid_t pid, uint64_t start_time,
                        const char *app_id)
{
        char app[APP_ID_MAX];
        bool known = apps_find_window(focus->apps, pid, start_time, app_id, app) == 0;

        screen_log_foreground(&focus->changes, boottime_ns, known, known ? app : "");
}

/* Without an agent: the foreground job of the text console, else unknown. */
static void ask_console(struct focus *focus, uint64_t boottime_ns)
{
        pid_t pid;

        if (focus->agent_knows || focus->foreground)
                return;
        if (focus->vt && vt_foreground(focus->vt, &pid) == 0 && !apps_is_desktop(focus->apps, pid))
                note_window(focus, boottime_ns, pid, 0, "");
        else
                screen_log_foreground(&focus->changes, boottime_ns, false, "");
}

/* Always read the active terminal, which clears the event. */
static void hear_console(struct focus *focus, uint64_t boottime_ns)
{
        vt_active(focus->vt);
        ask_console(focus, boottime_ns);
}

static void heard(void *data, const struct focus_message *message, uint64_t boottime_ns)
{
        struct focus *focus = data;

        focus->agent_knows = message && (message->have & FOCUS_KNOWN);
        if (!focus->agent_knows)
                ask_console(focus, boottime_ns);
        else if ((message->have & FOCUS_APP) && !(message->have & FOCUS_LOCKED))
                note_window(focus, boottime_ns, message->pid, message->start_time, message->app_id);
        else
                screen_log_foreground(&focus->changes, boottime_ns, true, "");
}

static bool may_speak(void *data, uid_t uid)
{
        const struct focus *focus = data;

        return !focus->may_speak || focus->may_speak(focus->guard_data, uid);
}

static void heard_sound(void *data, const pid_t *pids, size_t n, size_t others)
{
        const struct focus *focus = data;

        if (focus->sound)
                focus->sound(focus->sound_data, pids, n, others);
}

static void heard_refresh(void *data, uint32_t mhz)
{
        const struct focus *focus = data;

        if (focus->refresh)
                focus->refresh(focus->refresh_data, mhz);
}

static const struct focus_link_ops link_ops = { .may_speak = may_speak, .heard = heard, .sound = heard_sound,
                                                .refresh = heard_refresh };

void focus_look(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;
        struct display_state state = { 0 };

        /* Again at each poll, as a driver may be loaded later. */
        if (!focus->display)
                display_open(focus->root_fd, focus->backlight, &focus->display);
        if (focus->display)
                display_read(focus->display, &state);
        screen_log_screen(&focus->changes, boottime_ns, state.screen_known, state.screen_on, state.brightness);
        screen_log_monitor(&focus->changes, boottime_ns, state.monitor_on);
        focus->looked = true;
        focus->looked_ns = boottime_ns;
}

/*
 * Blanking by the connector or bl_power causes no event. A change found at a poll happened at an unknown time since
 * the last look; the middle is right on average.
 */
static void look_at_poll(struct focus *focus, uint64_t boottime_ns)
{
        bool since = focus->looked && focus->looked_ns < boottime_ns;
        uint64_t when = since ? focus->looked_ns + (boottime_ns - focus->looked_ns) / 2 : boottime_ns;

        focus_look(&focus->source, when);
        focus->looked_ns = boottime_ns;
}

void focus_set_guard(struct source *source, bool (*guard)(void *data, uid_t uid), void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->may_speak = guard;
        focus->guard_data = data;
}

void focus_set_sound(struct source *source, void (*sound)(void *data, const pid_t *pids, size_t n, size_t others),
                     void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->sound = sound;
        focus->sound_data = data;
}

void focus_set_refresh(struct source *source, void (*refresh)(void *data, uint32_t mhz), void *data)
{
        struct focus *focus = (struct focus *)source;

        focus->refresh = refresh;
        focus->refresh_data = data;
}

void focus_session_changed(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;

        if (focus->link)
                focus_link_recheck(focus->link, boottime_ns);
}

void focus_set_locked(struct source *source, uint64_t boottime_ns, bool locked)
{
        screen_log_locked(&((struct focus *)source)->changes, boottime_ns, locked);
}

const struct screen_inputs *focus_now(const struct source *source)
{
        return screen_log_now(&((const struct focus *)source)->changes);
}

static int fd_focus(const struct source *source)
{
        return ((const struct focus *)source)->epoll_fd;
}

/* Only sources with an event are read, since reading the consoles may read all processes. */
static void hear_focus(struct source *source, uint64_t boottime_ns)
{
        struct focus *focus = (struct focus *)source;
        struct epoll_event events[4];
        int n = epoll_wait(focus->epoll_fd, events, ARRAY_SIZE(events), 0);

        for (int i = 0; i < n; i++) {
                int fd = events[i].data.fd;

                if (focus->link && fd == focus_link_fd(focus->link))
                        focus_link_dispatch(focus->link, boottime_ns);
                else if (fd == focus->uevent_fd && uevent_read_screen(fd))
                        focus_look(source, boottime_ns);
                else if (focus->vt && fd == vt_fd(focus->vt))
                        hear_console(focus, boottime_ns);
                else if (focus->foreground && fd == foreground_fd(focus->foreground))
                        foreground_hear(focus->foreground, boottime_ns);
        }
}

static int watch(struct focus *focus, int fd, uint32_t events)
{
        struct epoll_event event = { .events = events, .data.fd = fd };

        return fd < 0 || epoll_ctl(focus->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void poll_foreground(struct focus *focus, const struct sample *sample)
{
        int before_fd = foreground_fd(focus->foreground);

        foreground_poll(focus->foreground, sample);
        if (before_fd < 0)
                watch(focus, foreground_fd(focus->foreground), EPOLLIN); /* on error it is only read at polls */
}

static int read_focus(struct source *source, struct sample *sample)
{
        struct focus *focus = (struct focus *)source;

        hear_focus(source, sample->boottime_ns);
        if (focus->foreground)
                poll_foreground(focus, sample);
        ask_console(focus, sample->boottime_ns);
        look_at_poll(focus, sample->boottime_ns);
        if (focus->link)
                focus_link_tick(focus->link);
        return screen_log_drain(&focus->changes, sample);
}

static const struct source_ops focus_ops = {
        .name = "focus",
        .read = read_focus,
        .close = close_focus,
        .fd = fd_focus,
        .hear = hear_focus,
};

bool focus_is(const struct source *source)
{
        return source->ops == &focus_ops;
}

static int open_console(struct focus *focus)
{
        int err = vt_open(focus->root_fd, &focus->vt);

        if (err)
                return err == -ENODEV ? 0 : err;
        err = watch(focus, vt_fd(focus->vt), EPOLLPRI);
        return err == -EPERM ? 0 : err; /* epoll does not accept regular files, as in a machine tree */
}

static int open_link(struct focus *focus, const char *path)
{
        int err = focus_link_open(path, focus->root_fd, &link_ops, focus, focus->log, &focus->link);

        if (err) {
                log_warning(focus->log, "no focus agent can connect to %s: %s", path, strerror(-err));
                return 0;
        }
        return watch(focus, focus_link_fd(focus->link), EPOLLIN);
}

/* A name that does not exist (yet) is reported once. */
static int take_backlight(struct focus *focus, const char *wanted)
{
        char why[512];
        int err;

        if (!wanted)
                return 0;
        focus->backlight = strdup(wanted);
        err = focus->backlight ? display_explain_choice(focus->root_fd, wanted, why, sizeof(why)) : -ENOMEM;
        if (err == -ENOENT)
                log_error(focus->log, "%s", why);
        return err == -ENOENT ? 0 : err;
}

static int open_parts(struct focus *focus, const struct focus_options *options)
{
        int err;

        focus->root_fd = openat(options->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        focus->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (focus->root_fd < 0 || focus->epoll_fd < 0)
                return -errno;
        err = take_backlight(focus, options->backlight);
        if (!err && options->console)
                err = open_console(focus);
        if (!err && options->foreground)
                err = foreground_open(options->foreground, &focus->changes, focus->log, &focus->foreground);
        if (err)
                return err;
        focus->uevent_fd = uevent_open(); /* on error, as in a container, the screen is only read at polls */
        err = watch(focus, focus->uevent_fd, EPOLLIN);
        return err || !options->socket_path ? err : open_link(focus, options->socket_path);
}

int focus_open(const struct focus_options *options, struct source **ret)
{
        struct focus *focus = calloc(1, sizeof(*focus));
        int err;

        if (!focus)
                return -ENOMEM;
        focus->source.ops = &focus_ops;
        focus->apps = options->apps;
        focus->log = options->log;
        focus->root_fd = focus->epoll_fd = focus->uevent_fd = -1;
        err = open_parts(focus, options);
        if (err) {
                close_focus(&focus->source);
                return err;
        }
        *ret = &focus->source;
        return 0;
}
