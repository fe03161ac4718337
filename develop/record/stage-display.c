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

#include "answer/options.h"
#include "letter.h"
#include "player.h"
#include "util/util.h"
#include "x-window.h"

#define SERVER_WAIT_MS 20000
#define BOUND_MAX 64 /* keys that the server's keyboard lacks */

struct display {
        struct stage stage;
        Display *x;
        pid_t server;
        char name[32];
        int damage_event;
        Window window; /* that was found last; None: none yet */
        struct {
                KeySym symbol;
                KeyCode code;
        } bound[BOUND_MAX];
        size_t n_bound;
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

static void press_modifiers(struct display *display, unsigned modifiers, bool down)
{
        static const KeySym symbols[SCRIPT_MODIFIERS] = { XK_Control_L, XK_Shift_L, XK_Alt_L, XK_Super_L };

        for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
                size_t at = down ? i : ARRAY_SIZE(symbols) - 1 - i;

                if (modifiers & 1u << at)
                        press(display, XKeysymToKeycode(display->x, symbols[at]), down);
        }
}

/* Gives a key that has no symbol one: letters that the server's keyboard lacks. 0: there is no such key left. */
static KeyCode bind_key(struct display *display, KeySym symbol)
{
        int first, last, width;
        KeySym *map;
        KeyCode found = 0;

        XDisplayKeycodes(display->x, &first, &last);
        map = XGetKeyboardMapping(display->x, (KeyCode)first, last - first + 1, &width);
        for (int code = last; map && !found && code >= first; code--) {
                bool empty = true;

                for (int i = 0; i < width; i++)
                        empty &= map[(code - first) * width + i] == NoSymbol;
                if (empty)
                        found = (KeyCode)code;
        }
        if (map)
                XFree(map);
        if (found) {
                XChangeKeyboardMapping(display->x, found, 1, &symbol, 1);
                XSync(display->x, False);
        }
        return found;
}

/* The key of a symbol, and whether shift must be held for it. 0: there is none. */
static KeyCode find_key(struct display *display, KeySym symbol, bool *shifted)
{
        KeyCode code = XKeysymToKeycode(display->x, symbol);
        XKeyEvent event = { .display = display->x, .keycode = code };

        *shifted = code && XLookupKeysym(&event, 0) != symbol;
        if (code && (!*shifted || XLookupKeysym(&event, 1) == symbol))
                return code;
        *shifted = false;
        for (size_t i = 0; i < display->n_bound; i++)
                if (display->bound[i].symbol == symbol)
                        return display->bound[i].code;
        if (display->n_bound == ARRAY_SIZE(display->bound))
                return 0;
        code = bind_key(display, symbol);
        if (code) {
                display->bound[display->n_bound].symbol = symbol;
                display->bound[display->n_bound++].code = code;
        }
        return code;
}

static int press_symbol(struct display *display, KeySym symbol, unsigned modifiers)
{
        bool shifted;
        KeyCode code = find_key(display, symbol, &shifted);

        if (!code)
                return -EINVAL;
        modifiers |= shifted ? (unsigned)SCRIPT_SHIFT : 0;
        press_modifiers(display, modifiers, true);
        press(display, code, true);
        press(display, code, false);
        press_modifiers(display, modifiers, false);
        XFlush(display->x);
        return 0;
}

static int key(struct stage *stage, const char *name)
{
        unsigned modifiers;
        KeySym symbol = XStringToKeysym(script_take_modifiers(name, &modifiers));

        return symbol == NoSymbol ? -EINVAL : press_symbol((struct display *)stage, symbol, modifiers);
}

/* The next symbol of a text. The letters of Latin-1 have their own numbers, all others a bit before them. */
static KeySym next_symbol(const char **text)
{
        long letter = letter_next(text);

        return letter < 0x20 ? NoSymbol : (KeySym)letter | (letter > 0xff ? 0x01000000 : 0);
}

static int type(struct stage *stage, const char *text)
{
        int err = 0;

        while (!err && *text) {
                KeySym symbol = next_symbol(&text);

                err = symbol == NoSymbol ? -EINVAL : press_symbol((struct display *)stage, symbol, 0);
        }
        return err;
}

/* A program that runs already might look a key up before it has heard of a new one. */
static void expect(struct stage *stage, const struct script_step *step)
{
        struct display *display = (struct display *)stage;
        const char *text = step->text;
        KeySym symbol;
        unsigned modifiers;
        bool shifted;

        if (step->verb == SCRIPT_KEY && (symbol = XStringToKeysym(script_take_modifiers(text, &modifiers))) != NoSymbol)
                find_key(display, symbol, &shifted);
        while (step->verb == SCRIPT_TYPE && *text && (symbol = next_symbol(&text)) != NoSymbol)
                find_key(display, symbol, &shifted);
}

static int move(struct stage *stage, int x, int y)
{
        struct display *display = (struct display *)stage;
        struct window_place place = { 0 };

        if (display->window && !window_place(display->x, display->window, &place))
                place = (struct window_place){ 0 }; /* it has gone */
        XTestFakeMotionEvent(display->x, -1, place.x + x, place.y + y, CurrentTime);
        XFlush(display->x);
        return 0;
}

static int button(struct stage *stage, unsigned number, unsigned modifiers, bool down)
{
        struct display *display = (struct display *)stage;

        if (down)
                press_modifiers(display, modifiers, true);
        XTestFakeButtonEvent(display->x, number, down, CurrentTime);
        if (!down)
                press_modifiers(display, modifiers, false);
        XFlush(display->x);
        return 0;
}

/*
 * There is no window manager: windows are the root's children. One of exactly that title comes first, then
 * the upper one.
 */
static Window find_window(Display *x, const char *title)
{
        Window root, parent, *children = NULL, found = None;
        unsigned n = 0;
        bool exact = false;

        if (!XQueryTree(x, DefaultRootWindow(x), &root, &parent, &children, &n))
                return None;
        for (unsigned i = 0; i < n; i++) {
                XWindowAttributes attributes;
                char name[WINDOW_TITLE_MAX];

                if (!XGetWindowAttributes(x, children[i], &attributes) || attributes.map_state != IsViewable)
                        continue;
                window_title(x, children[i], name);
                if (strcmp(name, title) == 0 || (!exact && strstr(name, title))) {
                        exact = strcmp(name, title) == 0;
                        found = children[i];
                }
        }
        if (children)
                XFree(children);
        return found;
}

static bool has_window(struct stage *stage, const char *title)
{
        struct display *display = (struct display *)stage;
        Window window = find_window(display->x, title);

        if (window == None)
                return false;
        display->window = window;
        XRaiseWindow(display->x, window);
        XSetInputFocus(display->x, window, RevertToPointerRoot, CurrentTime);
        XFlush(display->x);
        return true;
}

/* As a window manager's button does; a window that does not know of it loses its connection. */
static int close_window(struct stage *stage, const char *title)
{
        Display *x = ((struct display *)stage)->x;
        Window window = find_window(x, title);
        Atom delete_window = XInternAtom(x, "WM_DELETE_WINDOW", False), *known = NULL;
        XEvent event = { .xclient = { .type = ClientMessage, .window = window, .format = 32,
                                      .message_type = XInternAtom(x, "WM_PROTOCOLS", False),
                                      .data.l = { (long)delete_window, CurrentTime } } };
        bool asked = false;
        int n = 0;

        if (window == None)
                return 0;
        if (XGetWMProtocols(x, window, &known, &n))
                for (int i = 0; i < n; i++)
                        asked |= known[i] == delete_window;
        if (known)
                XFree(known);
        if (asked)
                XSendEvent(x, window, False, NoEventMask, &event);
        else
                XKillClient(x, window);
        XFlush(x);
        return 1;
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

static const struct stage_ops display_ops = { expect,       key,  type,  move, button,      has_window,
                                              close_window, look, fd_of, NULL, display_free };

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
                log_error(&program_log, "an X server for the program cannot be started (Xvfb, package xvfb): "
                                        "%s", strerror(-err));
                display_free(&display->stage);
                return err;
        }
        place->display = display->name;
        *ret = &display->stage;
        return 0;
}
