/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * joulecast-picture: holds the screen for a calibration, plain or off. It reads one word a line and answers
 * each. When its input or its parent ends it exits, and the screen is restored.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "picture.h"
#include "session.h"
#include "util/options.h"
#include "util/util.h"

static const struct log program_log = { log_to_stderr, (void *)"joulecast-picture" };

/* In this order. In a session its display is used; otherwise the console. */
static const struct {
        const struct picture_ops *ops;
        bool session;
} pictures[] = {
#ifdef HAVE_WAYLAND
        { &picture_wayland, true },
#endif
#ifdef HAVE_XCB
        { &picture_x11, true },
#endif
#ifdef HAVE_DRM
        { &picture_kms, false },
#endif
        { &picture_console, false },
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
        stop = 1;
}

/* Blocked except in ppoll(), so that none is missed. @ret: the mask to wait with. */
static void catch_signals(sigset_t *ret)
{
        const struct sigaction action = { .sa_handler = on_signal };
        sigset_t block;

        sigemptyset(&block);
        sigaddset(&block, SIGTERM);
        sigaddset(&block, SIGINT);
        sigaddset(&block, SIGHUP);
        sigprocmask(SIG_BLOCK, &block, ret);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGHUP, &action, NULL);
        signal(SIGPIPE, SIG_IGN);
}

static int open_first(const char *only, bool session, struct picture **ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(pictures); i++) {
                int err;

                if (only ? strcmp(only, pictures[i].ops->name) != 0 : pictures[i].session != session)
                        continue;
                err = pictures[i].ops->open(ret);
                if (!err)
                        return 0;
                if (err != -ENOENT)
                        log_error(&program_log, "not on %s: %s", pictures[i].ops->name,
                                strerror(-err));
        }
        return -ENODEV;
}

static const struct {
        const char *word;
        int shade;
} words[] = {
        { "on", PICTURE_WHITE },
        { "grey", PICTURE_GREY },
        { "black", PICTURE_BLACK },
        { "off", PICTURE_OFF },
};

static int obey(struct picture *picture, const char *word)
{
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                int shade = words[i].shade;

                if (strcmp(word, words[i].word) != 0)
                        continue;
                if (!picture->ops->white && (shade == PICTURE_GREY || shade == PICTURE_BLACK))
                        return -EOPNOTSUPP;
                return picture->ops->show(picture, shade);
        }
        return -EINVAL;
}

static void answer(struct picture *picture, const char *word)
{
        int err = obey(picture, word);

        if (err)
                printf("failed %s\n", strerror(-err));
        else
                puts(word);
        fflush(stdout);
}

/* Answers all complete lines. False: end of input. */
static bool hear(struct picture *picture, char *line, size_t size, size_t *length)
{
        ssize_t n = read(STDIN_FILENO, line + *length, size - 1 - *length);
        char *end;

        if (n <= 0)
                return n < 0 && errno == EINTR;
        *length += (size_t)n;
        line[*length] = '\0';
        while ((end = strchr(line, '\n'))) {
                *end = '\0';
                answer(picture, line);
                *length -= (size_t)(end + 1 - line);
                memmove(line, end + 1, *length + 1);
        }
        return *length < size - 1; /* no valid word is so long */
}

static int serve(struct picture *picture, const sigset_t *mask)
{
        const struct timespec beat = { .tv_sec = PICTURE_BEAT_S };
        struct pollfd fds[] = {
                { .fd = STDIN_FILENO, .events = POLLIN },
                { .fd = picture->ops->fd(picture), .events = picture->ops->events },
        };
        char line[64];
        size_t length = 0;
        int err = 0;

        printf("screen %s%s%s\n", picture->ops->name, picture->ops->white ? " white" : "",
               picture->ops->can_switch(picture) ? " switch" : "");
        fflush(stdout);
        while (!stop && !err) {
                int n = ppoll(fds, ARRAY_SIZE(fds), &beat, mask);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n >= 0 && (n == 0 || fds[1].revents))
                        err = picture->ops->dispatch(picture);
                if (n > 0 && fds[0].revents && !hear(picture, line, sizeof(line), &length))
                        break;
        }
        return err;
}

static int parse_options(int argc, char **argv, const char **only)
{
        const struct option_row rows[] = { /* a way that this build or this machine lacks is no mistake */
                { "on", "WHAT", "wayland, x11, kms or console: only this, not the first that works", .text = only,
                  .words = "wayland x11 kms console" },
        };
        const struct option_table table = {
                .program = "joulecast-picture",
                .called = "joulecast-picture",
                .usage = "joulecast-picture [--on wayland|x11|kms|console]",
                .about = "Holds the screen of this machine for joulecast-calibrate, which starts it and\n"
                         "talks to it over a pipe. Started by root outside of a session, it becomes the\n"
                         "user whose session the screen shows; without one it takes the text console.",
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .after = "Its first line is \"screen WHAT\", followed by \"white\" where it can show a picture\n"
                         "and \"switch\" where it can switch the screen off. Then, a word a line:\n"
                         "\n"
                         "  on          white and lit (lit, where it cannot show a picture)\n"
                         "  grey        lit, with half of white's light\n"
                         "  black       lit, and black\n"
                         "  off         off (no picture any more, where it cannot switch)\n"
                         "\n"
                         "Each is answered by the same word when it is done, or by \"failed\" and why. The\n"
                         "end of the input ends it, and the screen is as it was.",
                .exits = "0 the input ended; 1 no screen can be held, or it was lost; 2 wrong usage",
        };

        return options_read(&table, argc, argv, &program_log);
}

int main(int argc, char **argv)
{
        struct picture *picture = NULL;
        const char *only = NULL;
        int err = parse_options(argc, argv, &only);
        sigset_t mask;

        if (err >= 0)
                return err;
        catch_signals(&mask);
        err = session_enter();
        if (err && err != -ENOENT)
                log_error(&program_log, "the session on the screen cannot be entered: %s",
                        strerror(-err));
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* changing the user resets it */
        err = open_first(only, !err, &picture);
        if (err) {
                log_error(&program_log, "no screen can be held here");
                return 1;
        }
        err = serve(picture, &mask);
        picture->ops->close(picture);
        if (err)
                log_error(&program_log, "the screen is not ours any more: %s", strerror(-err));
        return err ? 1 : 0;
}
