/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A terminal of its own for a program: 80 columns and 24 lines. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <string.h>

#include "answer/options.h"
#include "player.h"
#include "terminal-keys.h"
#include "util/util.h"

struct terminal {
        struct stage stage;
        int fd, child_fd;
};

static int fd_of(struct stage *stage)
{
        return ((struct terminal *)stage)->fd;
}

static int write_keys(struct stage *stage, const char *text, size_t length)
{
        return write(fd_of(stage), text, length) == (ssize_t)length ? 0 : -EIO;
}

static int type(struct stage *stage, const char *text)
{
        return write_keys(stage, text, strlen(text));
}

static int key(struct stage *stage, const char *name)
{
        char keys[TERMINAL_KEYS_MAX];

        return terminal_keys_send(name, keys) ? type(stage, keys) : -EINVAL;
}

static int refuse(void)
{
        log_error(&program_log, "a program in a terminal has no pointer and no windows; leave out "
                                "--terminal, or the step");
        return -ENOTSUP;
}

static int move(struct stage *stage, int x, int y)
{
        return refuse();
}

static int button(struct stage *stage, unsigned number, unsigned modifiers, bool down)
{
        return refuse();
}

static int close_window(struct stage *stage, const char *title)
{
        return refuse();
}

static bool has_window(struct stage *stage, const char *title)
{
        return true; /* the terminal is there */
}

static bool look(struct stage *stage, char **seen, size_t *length)
{
        struct pollfd fd = { .fd = fd_of(stage), .events = POLLIN };
        bool changed = false;
        char buf[4096];

        while (poll(&fd, 1, 0) > 0 && fd.revents & POLLIN) {
                ssize_t got = read(fd.fd, buf, sizeof(buf));
                char *more = got > 0 ? realloc(*seen, *length + (size_t)got) : NULL;

                if (!more)
                        break;
                memcpy(more + *length, buf, (size_t)got);
                *seen = more;
                *length += (size_t)got;
                changed = true;
        }
        return changed;
}

static void started(struct stage *stage)
{
        closep(&((struct terminal *)stage)->child_fd);
        ((struct terminal *)stage)->child_fd = -1;
}

static void terminal_free(struct stage *stage)
{
        struct terminal *terminal = (struct terminal *)stage;

        closep(&terminal->fd);
        closep(&terminal->child_fd);
        free(terminal);
}

static const struct stage_ops terminal_ops = { NULL,         key,  type,  move,    button,       has_window,
                                               close_window, look, fd_of, started, terminal_free };

int stage_terminal(struct child_place *place, struct stage **ret)
{
        static const struct winsize size = { .ws_row = 24, .ws_col = 80 };
        struct terminal *terminal = calloc(1, sizeof(*terminal));

        if (!terminal)
                return -ENOMEM;
        terminal->stage.ops = &terminal_ops;
        if (openpty(&terminal->fd, &terminal->child_fd, NULL, NULL, &size) < 0) {
                log_error(&program_log, "a terminal cannot be opened: %s", strerror(errno));
                free(terminal);
                return -EIO;
        }
        fcntl(terminal->fd, F_SETFD, FD_CLOEXEC);
        fcntl(terminal->child_fd, F_SETFD, FD_CLOEXEC);
        for (int i = 0; i < 3; i++)
                place->fds[i] = terminal->child_fd;
        place->terminal = true;
        *ret = &terminal->stage;
        return 0;
}
