/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "answer/options.h"
#include "child.h"
#include "listener.h"
#include "player.h"
#include "script-save.h"
#include "terminal-keys.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define LOOK_MS 100
#define PAUSE_LEAST_NS (50 * NS_PER_MS) /* a player leaves 20 ms between two steps anyway */
#define ESCAPE_WAIT_MS 20               /* for the rest of a key of several bytes */

#define NOT_STARTED { .pid = -1, .go_fd = -1, .failed_fd = -1, .pid_fd = -1 }

struct session {
        struct child child;
        struct stage *stage;
        struct termios before;
        sigset_t mask;
        FILE *out;
        uint64_t typed_ns; /* the last time; 0: never */
        size_t unknown;
        int signal_fd;
        bool raw;
};

static int hold_signals(struct session *session)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        sigaddset(&signals, SIGINT);
        sigprocmask(SIG_BLOCK, &signals, &session->mask);
        session->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
        return session->signal_fd < 0 ? -errno : 0;
}

static void session_close(struct session *session)
{
        if (session->raw)
                tcsetattr(STDIN_FILENO, TCSADRAIN, &session->before);
        child_end(&session->child);
        if (session->stage)
                session->stage->ops->free(session->stage);
        closep(&session->signal_fd);
        sigprocmask(SIG_SETMASK, &session->mask, NULL);
}

/* Ctrl-C goes to the program as a key; what ends us from outside must not leave the user's terminal as it is now. */
static int open_session(struct session *session, char *const argv[])
{
        struct child_place place = CHILD_NOWHERE;
        struct termios raw;
        int err = hold_signals(session);

        if (!err)
                err = stage_terminal(&place, &session->stage);
        if (!err)
                err = child_start(argv, &place, &session->child);
        if (session->stage)
                session->stage->ops->started(session->stage);
        if (err || tcgetattr(STDIN_FILENO, &session->before) < 0)
                return err ? err : -errno;
        raw = session->before;
        cfmakeraw(&raw);
        session->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
        return child_go(&session->child);
}

/* A pause before it is a step of its own, so that the script keeps the pace of who typed. */
static int take_typed(struct session *session)
{
        struct pollfd more = { .fd = STDIN_FILENO, .events = POLLIN };
        char typed[4096];
        ssize_t n = read(STDIN_FILENO, typed, sizeof(typed) / 2), rest = 0;
        uint64_t now = util_clock_ns(CLOCK_MONOTONIC);

        if (n <= 0)
                return n < 0 && errno == EINTR ? 0 : -EIO;
        if (typed[n - 1] == '\033' && poll(&more, 1, ESCAPE_WAIT_MS) > 0)
                rest = read(STDIN_FILENO, typed + n, sizeof(typed) / 2);
        n += MAX(rest, 0);
        if (session->typed_ns && now - session->typed_ns >= PAUSE_LEAST_NS)
                fprintf(session->out, "sleep %.0fms\n",
                        (double)MIN((now - session->typed_ns) / NS_PER_MS, UINT64_C(3600000)));
        session->typed_ns = now;
        session->unknown += terminal_keys_steps(typed, (size_t)n, session->out);
        return write(session->stage->ops->fd(session->stage), typed, (size_t)n) == n ? 0 : -EIO;
}

static void show(const struct session *session)
{
        struct pollfd fd = { .fd = session->stage->ops->fd(session->stage), .events = POLLIN };
        char text[4096];

        while (poll(&fd, 1, 0) > 0 && fd.revents & POLLIN) {
                ssize_t n = read(fd.fd, text, sizeof(text));

                if (n <= 0 || write(STDOUT_FILENO, text, (size_t)n) != n)
                        return;
        }
}

static int follow(struct session *session)
{
        struct pollfd fds[] = { { .fd = session->child.pid_fd, .events = POLLIN },
                                { .fd = session->signal_fd, .events = POLLIN },
                                { .fd = STDIN_FILENO, .events = POLLIN },
                                { .fd = session->stage->ops->fd(session->stage), .events = POLLIN } };
        int err = 0;

        session->typed_ns = util_clock_ns(CLOCK_MONOTONIC);
        while (!err && !fds[0].revents) {
                if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
                        return -errno;
                if (fds[3].revents & POLLHUP)
                        fds[3].fd = -1; /* all that had it open have ended, or will */
                show(session);
                if (fds[1].revents)
                        err = -EINTR;
                else if (fds[2].revents && !fds[0].revents)
                        err = take_typed(session);
        }
        show(session);
        return err;
}

static int run_session(char *const argv[], FILE *out, size_t *unknown)
{
        _cleanup_(session_close) struct session session = { .out = out, .signal_fd = -1,
                                                            .child = NOT_STARTED };
        int err = open_session(&session, argv);

        if (!err)
                err = follow(&session);
        *unknown = session.unknown;
        return err;
}

int script_save_check(const char *path)
{
        _cleanup_free_ char *copy = strdup(path);
        char name[256];

        if (!copy)
                return -ENOMEM;
        if (access(path, F_OK) < 0) {
                int err = access(dirname(copy), W_OK | X_OK) < 0 ? -errno : 0;

                if (err)
                        log_error(&program_log, "%s cannot be written: %s", util_printable(path, name, sizeof(name)),
                                  util_reason(err));
                return err;
        }
        log_error(&program_log, "%s is there already; remove it, or choose another name",
                  util_printable(path, name, sizeof(name)));
        return -EEXIST;
}

static void say_not_run(const char *program, int err)
{
        char name[128];

        if (err == -EINTR)
                log_error(&program_log, "stopped; nothing was written");
        else
                log_error(&program_log, "%s cannot be run: %s", util_printable(program, name, sizeof(name)),
                          strerror(-err));
}

int script_save(char *const argv[], const char *path)
{
        struct text_kept kept = { 0 };
        _cleanup_free_ char *text = NULL;
        char name[256];
        size_t unknown = 0;
        FILE *out;
        int err;

        err = script_save_check(path);
        if (err < 0)
                return err;
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
                log_error(&program_log, "what is typed can be kept only where there is a terminal");
                return -ENOTTY;
        }
        out = text_open(&kept);
        if (!out)
                return -ENOMEM;
        err = run_session(argv, out, &unknown);
        text = text_close(out, &kept);
        if (err)
                say_not_run(argv[0], err);
        else if (text && (err = util_write_file(path, text, strlen(text), 0600)) < 0)
                log_error(&program_log, "%s cannot be written: %s", util_printable(path, name, sizeof(name)),
                          util_reason(err));
        if (!err && unknown > 0)
                log_warning(&program_log,
                            words_counted("%zu byte of keys that a script has no name for was left out",
                                          "%zu bytes of keys that a script has no name for were left out", unknown),
                            unknown);
        return err ? err : text ? 0 : -ENOMEM;
}

static int listen_to(struct session *session, struct listener *listener, char *const argv[])
{
        struct child_place place = CHILD_NOWHERE;
        struct pollfd fds[3] = { { .events = POLLIN },
                                 { .events = POLLIN },
                                 { .fd = listener_fd(listener), .events = POLLIN } };
        int err = hold_signals(session);

        place.display = getenv("DISPLAY"); /* and not Wayland */
        if (!err)
                err = child_start(argv, &place, &session->child);
        listener_follow(listener, session->child.pid);
        if (!err)
                err = child_go(&session->child);
        fds[0].fd = session->child.pid_fd;
        fds[1].fd = session->signal_fd;
        while (!err && !fds[0].revents) {
                if (poll(fds, ARRAY_SIZE(fds), LOOK_MS) < 0 && errno != EINTR)
                        return -errno;
                err = fds[1].revents ? -EINTR : listener_step(listener);
        }
        return err;
}

int script_save_windows(char *const argv[], const char *path)
{
        _cleanup_(session_close) struct session session = { .signal_fd = -1, .child = NOT_STARTED };
        struct listener *listener = NULL;
        int err = script_save_check(path);

        sigprocmask(SIG_SETMASK, NULL, &session.mask);
        if (!err)
                err = listener_new(&listener);
        if (!listener)
                return err;
        err = listen_to(&session, listener, argv);
        if (err)
                say_not_run(argv[0], err);
        else
                err = listener_write(listener, path);
        listener_free(listener);
        return err;
}
