/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An X server of its own for a program (Xvfb), and input by XTEST. Xlib ends the process when its server goes, so
 * nothing that must be put back is open meanwhile.
 */

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <X11/extensions/Xdamage.h>
#include <X11/keysym.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "player.h"
#include "util/util.h"

#define SERVER_WAIT_MS 20000

struct display {
        struct stage stage;
        Display *x;
        pid_t server;
        char name[32];
        int damage_event;
};

/* A window may go between two requests. */
static int on_error(Display *x, XErrorEvent *event)
{
        return 0;
}

/* The number of the display that the server chose, from its pipe. */
static int read_number(int fd, char *name, size_t size)
{
        char text[16];
        size_t length = 0;
        struct pollfd wait = { .fd = fd, .events = POLLIN };

        while (length < sizeof(text) - 1 && poll(&wait, 1, SERVER_WAIT_MS) > 0) {
                ssize_t got = read(fd, text + length, 1);

                if (got != 1)
                        break;
                if (text[length] == '\n') {
                        text[length] = '\0';
                        snprintf(name, size, ":%s", text);
                        return 0;
                }
                length++;
        }
        return -EIO;
}

/* Its own process group: Ctrl-C is not for it. It ends with us. */
static _Noreturn void become_server(int number_fd, const char *screen)
{
        int null = open("/dev/null", O_RDWR);

        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (null < 0 || dup2(number_fd, 3) < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
                _exit(126);
        execlp("Xvfb", "Xvfb", "-displayfd", "3", "-screen", "0", screen, "-nolisten", "tcp", "-noreset", (char *)NULL);
        _exit(127);
}

static int start_server(struct display *display, const char *screen)
{
        int fds[2], err;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        display->server = fork();
        if (display->server == 0) {
                sigset_t none;

                sigemptyset(&none);
                sigprocmask(SIG_SETMASK, &none, NULL);
                become_server(fds[1], screen ? screen : "1280x800x24");
        }
        close(fds[1]);
        err = display->server < 0 ? -errno : read_number(fds[0], display->name, sizeof(display->name));
        close(fds[0]);
        return err;
}

static void press(struct display *display, KeyCode code, bool down)
{
        XTestFakeKeyEvent(display->x, code, down, CurrentTime);
}

/* A key of a symbol, with shift where it needs it. */
static int press_symbol(struct display *display, KeySym symbol, const KeyCode *held, size_t n_held)
{
        KeyCode code = XKeysymToKeycode(display->x, symbol), shift = XKeysymToKeycode(display->x, XK_Shift_L);
        bool shifted = code && XLookupKeysym(&(XKeyEvent){ .display = display->x, .keycode = code }, 0) != symbol;

        if (!code)
                return -EINVAL;
        for (size_t i = 0; i < n_held; i++)
                press(display, held[i], true);
        if (shifted)
                press(display, shift, true);
        press(display, code, true);
        press(display, code, false);
        if (shifted)
                press(display, shift, false);
        for (size_t i = n_held; i > 0; i--)
                press(display, held[i - 1], false);
        XFlush(display->x);
        return 0;
}

static int key(struct stage *stage, const char *name)
{
        static const struct {
                const char *name;
                KeySym symbol;
        } modifiers[] = { { "ctrl+", XK_Control_L }, { "shift+", XK_Shift_L }, { "alt+", XK_Alt_L }, { "super+", XK_Super_L } };
        struct display *display = (struct display *)stage;
        KeyCode held[ARRAY_SIZE(modifiers)];
        size_t n = 0;
        KeySym symbol;

        for (size_t i = 0; i < ARRAY_SIZE(modifiers) && n < ARRAY_SIZE(held); i++)
                if (strncmp(name, modifiers[i].name, strlen(modifiers[i].name)) == 0) {
                        held[n++] = XKeysymToKeycode(display->x, modifiers[i].symbol);
                        name += strlen(modifiers[i].name);
                        i = (size_t)-1;
                }
        symbol = XStringToKeysym(name);
        return symbol == NoSymbol ? -EINVAL : press_symbol(display, symbol, held, n);
}

/* The letters of Latin-1 have their own numbers as symbols. */
static int type(struct stage *stage, const char *text)
{
        int err = 0;

        for (; !err && *text; text++)
                err = (unsigned char)*text < 0x80 ? press_symbol((struct display *)stage, (KeySym)*text, NULL, 0) : -EINVAL;
        return err;
}

static int click(struct stage *stage, int x, int y)
{
        Display *to = ((struct display *)stage)->x;

        XTestFakeMotionEvent(to, -1, x, y, CurrentTime);
        XTestFakeButtonEvent(to, 1, True, CurrentTime);
        XTestFakeButtonEvent(to, 1, False, CurrentTime);
        XFlush(to);
        return 0;
}

static bool find_title(Display *x, Window window, const char *title, Window *ret)
{
        char *name = NULL;
        bool found = XFetchName(x, window, &name) && name && strstr(name, title);

        if (found)
                *ret = window;
        if (name)
                XFree(name);
        return found;
}

/* There is no window manager: windows are the root's children, and we give that one the keyboard. */
static bool has_window(struct stage *stage, const char *title)
{
        Display *x = ((struct display *)stage)->x;
        Window root, parent, *children = NULL, window;
        XWindowAttributes attributes;
        unsigned n = 0;
        bool found = false;

        if (XQueryTree(x, DefaultRootWindow(x), &root, &parent, &children, &n))
                for (unsigned i = 0; i < n && !found; i++)
                        found = find_title(x, children[i], title, &window);
        if (children)
                XFree(children);
        found = found && XGetWindowAttributes(x, window, &attributes) && attributes.map_state == IsViewable;
        if (found)
                XSetInputFocus(x, window, RevertToPointerRoot, CurrentTime);
        XFlush(x);
        return found;
}

static bool look(struct stage *stage, char **seen, size_t *length)
{
        struct display *display = (struct display *)stage;
        bool changed = false;

        while (XPending(display->x) > 0) {
                XEvent event;

                XNextEvent(display->x, &event);
                changed |= event.type == display->damage_event + XDamageNotify;
        }
        return changed;
}

static int fd_of(struct stage *stage)
{
        return ConnectionNumber(((struct display *)stage)->x);
}

static void display_free(struct stage *stage)
{
        struct display *display = (struct display *)stage;

        if (display->x)
                XCloseDisplay(display->x);
        if (display->server > 0) {
                kill(display->server, SIGTERM);
                while (waitpid(display->server, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        free(display);
}

static const struct stage_ops display_ops = { key, type, click, has_window, look, fd_of, NULL, display_free };

static int connect_to(struct display *display)
{
        int error;

        display->x = XOpenDisplay(display->name);
        if (!display->x || !XTestQueryExtension(display->x, &error, &error, &error, &error) ||
            !XDamageQueryExtension(display->x, &display->damage_event, &error))
                return -EIO;
        XSetErrorHandler(on_error);
        XDamageCreate(display->x, DefaultRootWindow(display->x), XDamageReportRawRectangles);
        XFlush(display->x);
        return 0;
}

int stage_display(struct child_place *place, struct stage **ret)
{
        struct display *display = calloc(1, sizeof(*display));
        int err;

        if (!display)
                return -ENOMEM;
        display->stage.ops = &display_ops;
        err = start_server(display, place->screen);
        if (!err)
                err = connect_to(display);
        if (err) {
                log_error(&program_log, "an X server for the program cannot be started (Xvfb, package xvfb): %s", strerror(-err));
                display_free(&display->stage);
                return err;
        }
        place->display = display->name;
        *ret = &display->stage;
        return 0;
}
