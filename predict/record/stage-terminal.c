/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A terminal of its own for a program: 80 columns and 24 lines. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <string.h>

#include "options.h"
#include "player.h"
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

/* As a VT100 and xterm send them. */
static int key(struct stage *stage, const char *name)
{
        static const struct {
                const char *name, *keys;
        } known[] = {
                { "Return", "\r" }, { "Tab", "\t" }, { "Escape", "\033" }, { "BackSpace", "\177" }, { "space", " " },
                { "Up", "\033[A" }, { "Down", "\033[B" }, { "Right", "\033[C" }, { "Left", "\033[D" }, { "Home", "\033[H" },
                { "End", "\033[F" }, { "Insert", "\033[2~" }, { "Delete", "\033[3~" }, { "Prior", "\033[5~" }, { "Next", "\033[6~" },
                { "F1", "\033OP" }, { "F2", "\033OQ" }, { "F3", "\033OR" }, { "F4", "\033OS" }, { "F5", "\033[15~" },
                { "F6", "\033[17~" }, { "F7", "\033[18~" }, { "F8", "\033[19~" }, { "F9", "\033[20~" }, { "F10", "\033[21~" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (strcmp(known[i].name, name) == 0)
                        return type(stage, known[i].keys);
        if (strncmp(name, "ctrl+", 5) == 0 && isalpha((unsigned char)name[5]) && !name[6])
                return write_keys(stage, (char[]){ (char)(name[5] & 0x1f) }, 1);
        return *name && !name[1] ? type(stage, name) : -EINVAL;
}

static int click(struct stage *stage, int x, int y)
{
        log_error(&program_log, "a program in a terminal gets no clicks; leave out --terminal, or the step");
        return -ENOTSUP;
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

static const struct stage_ops terminal_ops = { key, type, click, has_window, look, fd_of, started, terminal_free };

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
