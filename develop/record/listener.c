/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * XRecord shows each event of a keyboard or a pointer twice: as it came from the device, with the place on
 * the screen, and as it was delivered, to whom and to which window. Only the second tells whose it is: a
 * password for another program, and a key that the window manager took, have no such copy for our program.
 * Xlib ends the process when its server goes.
 */

#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/Xproto.h>
#include <X11/Xutil.h>
#include <X11/extensions/XI2proto.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/record.h>
#include <X11/keysym.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "answer/options.h"
#include "desktop/x-server.h"
#include "harness/script.h"
#include "input-steps.h"
#include "letter.h"
#include "listener.h"
#include "util/text.h"
#include "util/util.h"
#include "x-window.h"

#define PENDING 256      /* most device events that were not delivered yet; a window manager may hold some back */
#define DAMAGES 64       /* number of the last changes of the program's windows that are kept */
#define CLIENTS_MAX 1024
#define SERVER_WAIT_MS 20000
#define WINDOWS_MAX 4096 /* X servers allow 512 clients, with a few windows each */

struct client {
        XID base;
        bool ours;
};

struct seen {
        Window window, top;
        char title[WINDOW_TITLE_MAX];
        struct window_place place;
        uint32_t since_ms;
        Damage damage; /* reports changes of a toplevel window */
};

struct listener {
        Display *x, *data;
        int fd; /* readable when one of the displays is */
        struct x_server *server; /* tells the process of a client */
        XRecordContext context;
        bool started, ended;
        pid_t program;
        int xi_opcode, damage_event;
        Atom protocols, delete_window;
        struct client *clients;
        size_t n_clients, clients_capacity;
        struct seen *windows;
        size_t n_windows, windows_capacity;
        Window current;
        xEvent pending[PENDING];
        size_t next_pending;
        uint32_t damages_ms[DAMAGES];
        size_t n_damages;
        KeySym lone; /* a modifier that is down, with no other input since */
        struct text_kept kept;
        struct input_steps steps;
};

/* Ignores errors, as a window may go between two requests. */
static int on_error(Display *x, XErrorEvent *event)
{
        return 0;
}

static pid_t parent_of(pid_t pid)
{
        char path[32], text[512], *at;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')) || strlen(at) < 4)
                return 0;
        return (pid_t)strtol(at + 4, NULL, 10); /* ") S 1234" */
}

static bool is_of_program(const struct listener *listener, pid_t pid)
{
        for (int i = 0; i < 256 && pid > 1; i++, pid = parent_of(pid))
                if (pid == listener->program)
                        return true;
        return false;
}

static bool is_ours(struct listener *listener, XID base)
{
        struct client client = { .base = base };
        pid_t pid;

        for (size_t i = 0; i < listener->n_clients; i++)
                if (listener->clients[i].base == base)
                        return listener->clients[i].ours;
        pid = x_server_pid(listener->server, (uint32_t)base);
        client.ours = pid > 0 && is_of_program(listener, pid);
        if (pid > 0 && listener->n_clients < CLIENTS_MAX &&
            util_grow(&listener->clients, &listener->clients_capacity, listener->n_clients + 1, sizeof(client)) == 0)
                listener->clients[listener->n_clients++] = client;
        return client.ours;
}

/* Its number may be given to another client. */
static void forget_client(struct listener *listener, XID base)
{
        for (size_t i = 0; i < listener->n_clients; i++)
                if (listener->clients[i].base == base)
                        listener->clients[i--] = listener->clients[--listener->n_clients];
}

static struct seen *find_seen(struct listener *listener, Window window)
{
        for (size_t i = 0; i < listener->n_windows; i++)
                if (listener->windows[i].window == window)
                        return &listener->windows[i];
        return NULL;
}

static struct seen *add_seen(struct listener *listener, Window window, uint32_t time_ms)
{
        if (listener->n_windows == WINDOWS_MAX || util_grow(&listener->windows, &listener->windows_capacity,
                                                            listener->n_windows + 1, sizeof(struct seen)) < 0)
                return NULL;
        listener->windows[listener->n_windows] = (struct seen){ .window = window, .since_ms = time_ms };
        return &listener->windows[listener->n_windows++];
}

static void look_at_top(struct listener *listener, Window top, uint32_t time_ms)
{
        struct seen *seen = find_seen(listener, top);
        char title[WINDOW_TITLE_MAX];

        if (!seen)
                seen = add_seen(listener, top, time_ms);
        if (!seen || !window_place(listener->x, top, &seen->place))
                return;
        seen->top = top;
        window_title(listener->x, top, title);
        if (*title)
                memcpy(seen->title, title, sizeof(title));
        if (!seen->damage)
                seen->damage = XDamageCreate(listener->x, top, XDamageReportNonEmpty);
}

/* Updates our data about a window, which may have gone already, and about its toplevel window. */
static void look_at(struct listener *listener, Window window, uint32_t time_ms)
{
        Window top = window_top(listener->x, window);
        struct seen *seen = find_seen(listener, window);

        if (!seen)
                seen = add_seen(listener, window, time_ms);
        if (!seen || top == None)
                return;
        seen->top = top;
        look_at_top(listener, top, time_ms);
}

/* The titled window that gets an input in @window; for a menu, the window that it belongs to, as far as we know. */
static const struct seen *main_window(struct listener *listener, Window window)
{
        const struct seen *seen = find_seen(listener, window),
                          *top = seen && seen->top ? find_seen(listener, seen->top) : NULL;

        if (top && !top->place.popup && *top->title)
                listener->current = top->window;
        else if (listener->current)
                look_at_top(listener, listener->current, 0);
        return listener->current ? find_seen(listener, listener->current) : NULL;
}

static uint32_t quiet_before(const struct listener *listener, uint32_t time_ms)
{
        uint32_t least = UINT32_MAX;

        for (size_t i = 0; i < MIN(listener->n_damages, (size_t)DAMAGES); i++) {
                int32_t ago = (int32_t)(time_ms - listener->damages_ms[i]);

                if (ago >= 0)
                        least = MIN(least, (uint32_t)ago);
        }
        return least == UINT32_MAX ? 0 : least;
}

static void take_damages(struct listener *listener)
{
        while (XPending(listener->x) > 0) {
                XEvent event;

                XNextEvent(listener->x, &event);
                if (event.type == listener->damage_event + XDamageNotify) {
                        const XDamageNotifyEvent *damage = (const XDamageNotifyEvent *)&event;

                        listener->damages_ms[listener->n_damages++ % DAMAGES] = (uint32_t)damage->timestamp;
                        XDamageSubtract(listener->x, damage->damage, None, None);
                } else if (event.type == MappingNotify) {
                        XRefreshKeyboardMapping(&event.xmapping);
                }
        }
}

static unsigned modifiers_of(unsigned state)
{
        return (state & ControlMask ? (unsigned)SCRIPT_CTRL : 0) | (state & ShiftMask ? (unsigned)SCRIPT_SHIFT : 0) |
               (state & Mod1Mask ? (unsigned)SCRIPT_ALT : 0) | (state & Mod4Mask ? (unsigned)SCRIPT_SUPER : 0);
}

/* Writes the letter of a key symbol; "" for one that is no letter of Unicode. */
static void letter_of(KeySym symbol, char letter[LETTER_BYTES_MAX])
{
        bool latin = (symbol >= 0x20 && symbol < 0x7f) || (symbol >= 0xa0 && symbol <= 0xff);

        letter_write(latin ? symbol : (symbol & 0xff000000) == 0x01000000 ? symbol & 0xffffff : 0, letter);
}

static bool is_lone_modifier(KeySym symbol)
{
        return symbol >= XK_Shift_L && symbol <= XK_Hyper_R && symbol != XK_Caps_Lock && symbol != XK_Shift_Lock;
}

/* 0: a modifier, which is a step of its own only if nothing else is done before it goes up; else @in is filled in. */
static bool take_key(struct listener *listener, const xEvent *event, struct input *in, char letter[LETTER_BYTES_MAX])
{
        XKeyEvent key = { .type = KeyPress, .display = listener->x, .keycode = event->u.u.detail,
                          .state = event->u.keyButtonPointer.state };
        bool down = (event->u.u.type & 0177) == KeyPress, shifted;
        KeySym symbol = NoSymbol;
        char text[16];

        XLookupString(&key, text, sizeof(text), &symbol, NULL);
        if (is_lone_modifier(symbol) || (!down && listener->lone)) {
                bool lone = !down && listener->lone == symbol;

                listener->lone = down ? symbol : NoSymbol;
                if (!lone)
                        return false;
                in->modifiers = 0;
        } else if (!down || IsModifierKey(symbol)) {
                return false;
        } else {
                listener->lone = NoSymbol;
                shifted = XLookupKeysym(&key, 0) != symbol; /* then the symbol says it */
                in->modifiers = modifiers_of(key.state) & ~(shifted ? (unsigned)SCRIPT_SHIFT : 0);
                letter_of(symbol, letter);
                in->letter = *letter ? letter : NULL;
        }
        in->key = XKeysymToString(symbol);
        return in->key != NULL;
}

static bool take_device_event(struct listener *listener, const xEvent *event, struct input *in,
                              char letter[LETTER_BYTES_MAX])
{
        in->button = event->u.u.detail;
        in->modifiers = modifiers_of(event->u.keyButtonPointer.state);
        switch (event->u.u.type & 0177) {
        case KeyPress:
        case KeyRelease:
                in->kind = INPUT_KEY;
                return take_key(listener, event, in, letter);
        case MotionNotify:
                in->kind = INPUT_MOVE;
                return true;
        default:
                in->kind = (event->u.u.type & 0177) == ButtonPress ? INPUT_PRESS : INPUT_RELEASE;
                listener->lone = NoSymbol;
                return true;
        }
}

static void add_input(struct listener *listener, Window window, struct input *in, int x, int y)
{
        struct input_window at;
        const struct seen *seen;

        look_at(listener, window, in->time_ms);
        seen = main_window(listener, window);
        in->quiet_ms = quiet_before(listener, in->time_ms);
        if (seen) {
                at = (struct input_window){ seen->window, seen->title, seen->since_ms, seen->place.width,
                                            seen->place.height };
                in->window = &at;
                in->x = x - seen->place.x;
                in->y = y - seen->place.y;
        }
        input_steps_add(&listener->steps, in);
}

static bool is_same(const xEvent *pending, int type, unsigned detail, uint32_t time_ms)
{
        return pending->u.u.type == type && pending->u.keyButtonPointer.time == time_ms &&
               (type == MotionNotify || pending->u.u.detail == detail);
}

/* The program got an event: which one was it? */
static void take_delivered(struct listener *listener, Window window, int type, unsigned detail, uint32_t time_ms)
{
        for (size_t i = 0; i < PENDING; i++) {
                xEvent *pending = &listener->pending[i];
                struct input in = { .time_ms = time_ms };
                char letter[LETTER_BYTES_MAX];

                if (!is_same(pending, type, detail, time_ms))
                        continue;
                if (take_device_event(listener, pending, &in, letter))
                        add_input(listener, window, &in, pending->u.keyButtonPointer.rootX,
                                  pending->u.keyButtonPointer.rootY);
                pending->u.u.type = 0;
                return;
        }
}

/* A window manager asks a window to close. */
static void take_message(struct listener *listener, const xEvent *event, uint32_t time_ms)
{
        struct input in = { .kind = INPUT_CLOSE, .time_ms = time_ms };

        if (event->u.clientMessage.u.l.type == listener->protocols &&
            (Atom)(CARD32)event->u.clientMessage.u.l.longs0 == listener->delete_window)
                add_input(listener, event->u.clientMessage.window, &in, 0, 0);
}

static void take_event(struct listener *listener, const XRecordInterceptData *data)
{
        uint32_t time_ms = (uint32_t)data->server_time;
        xXIDeviceEvent other;
        xEvent event;
        int type;

        memcpy(&event, data->data, sizeof(event));
        memcpy(&other, data->data, sizeof(event)); /* its first 32 bytes are what is recorded */
        type = event.u.u.type & 0177;
        if (data->id_base == 0) {
                if (type >= KeyPress && type <= MotionNotify)
                        listener->pending[listener->next_pending++ % PENDING] = event;
                return;
        }
        if (!is_ours(listener, data->id_base))
                return;
        if (type == ClientMessage)
                take_message(listener, &event, time_ms);
        else if (event.u.u.type & 0200)
                return; /* another program made it up */
        else if (type >= KeyPress && type <= MotionNotify)
                take_delivered(listener, event.u.keyButtonPointer.event, type, event.u.u.detail,
                               event.u.keyButtonPointer.time);
        else if (type == GenericEvent && other.extension == listener->xi_opcode && other.evtype >= KeyPress &&
                 other.evtype <= MotionNotify)
                take_delivered(listener, other.event, other.evtype, other.detail, other.time);
        else if (type == FocusIn || type == Expose || type == MapNotify || type == ConfigureNotify)
                look_at(listener, event.u.focus.window, time_ms); /* in all of them it stands there */
}

static void on_data(XPointer closure, XRecordInterceptData *data)
{
        struct listener *listener = (struct listener *)closure;

        if (data->category == XRecordStartOfData)
                listener->started = true;
        else if (data->category == XRecordEndOfData)
                listener->ended = true;
        else if (data->category == XRecordClientDied)
                forget_client(listener, data->id_base);
        else if (data->category == XRecordFromServer && !data->client_swapped && data->data_len * 4 >= sizeof(xEvent))
                take_event(listener, data);
        XRecordFreeData(data);
}

static int wait_for(struct listener *listener, const bool *done)
{
        struct pollfd fd = { .fd = ConnectionNumber(listener->data), .events = POLLIN };

        XRecordProcessReplies(listener->data);
        while (!*done) {
                if (poll(&fd, 1, SERVER_WAIT_MS) <= 0)
                        return -EIO;
                XRecordProcessReplies(listener->data);
        }
        return 0;
}

/*
 * Windows are looked at when they come, as a key may close one before we can ask for its title. One range
 * of events, as X.Org's server 21.1 leaves out some events of several ranges.
 */
static int enable(struct listener *listener)
{
        XRecordRange *range = XRecordAllocRange();
        XRecordClientSpec all = XRecordAllClients;

        if (!range)
                return -ENOMEM;
        range->device_events.first = KeyPress;
        range->device_events.last = MotionNotify;
        range->delivered_events.first = KeyPress;
        range->delivered_events.last = GenericEvent;
        range->client_died = True;
        listener->context = XRecordCreateContext(listener->x, 0, &all, 1, &range, 1);
        XFree(range);
        XSync(listener->x, False);
        if (!listener->context ||
            !XRecordEnableContextAsync(listener->data, listener->context, on_data, (XPointer)listener))
                return -EIO;
        XFlush(listener->data);
        return wait_for(listener, &listener->started);
}

static int open_display(struct listener *listener)
{
        int major = 0, minor = 0, none;

        listener->x = XOpenDisplay(NULL);
        listener->data = XOpenDisplay(NULL);
        if (!listener->x || !listener->data || x_server_open(&listener->server) < 0)
                return -ECONNREFUSED;
        XSetErrorHandler(on_error);
        if (!XRecordQueryVersion(listener->x, &major, &minor) ||
            !XDamageQueryExtension(listener->x, &listener->damage_event, &none))
                return -ENOTSUP;
        if (!XQueryExtension(listener->x, "XInputExtension", &listener->xi_opcode, &none, &none))
                listener->xi_opcode = -1;
        listener->protocols = XInternAtom(listener->x, "WM_PROTOCOLS", False);
        listener->delete_window = XInternAtom(listener->x, "WM_DELETE_WINDOW", False);
        return enable(listener);
}

static int open_fd(struct listener *listener)
{
        const Display *const displays[] = { listener->x, listener->data };
        struct epoll_event readable = { .events = EPOLLIN };

        listener->fd = epoll_create1(EPOLL_CLOEXEC);
        for (size_t i = 0; listener->fd >= 0 && i < ARRAY_SIZE(displays); i++)
                if (epoll_ctl(listener->fd, EPOLL_CTL_ADD, ConnectionNumber(displays[i]), &readable) < 0)
                        return -errno;
        return listener->fd < 0 ? -errno : 0;
}

static int say_open(int err)
{
        char name[128];
        const char *display = getenv("DISPLAY");

        if (!display || !*display)
                log_error(&program_log, "there is no X display ($DISPLAY is not set) whose input could be "
                          "kept; --terminal keeps what is typed in this terminal");
        else if (err == -ENOTSUP)
                log_error(&program_log, "the X server %s has no XRecord or no XDamage, so its input cannot be kept",
                          util_printable(display, name, sizeof(name)));
        else if (err)
                log_error(&program_log, "the input of the X display %s cannot be kept: %s",
                          util_printable(display, name, sizeof(name)), strerror(-err));
        return err;
}

int listener_new(struct listener **ret)
{
        struct listener *listener = calloc(1, sizeof(*listener));
        int err;

        if (!listener)
                return -ENOMEM;
        listener->fd = -1;
        err = open_display(listener);
        err = say_open(err ? err : open_fd(listener));
        if (!err && !(listener->steps.out = text_open(&listener->kept)))
                err = -ENOMEM;
        if (err) {
                listener_free(listener);
                return err;
        }
        *ret = listener;
        return 0;
}

void listener_free(struct listener *listener)
{
        if (!listener)
                return;
        if (listener->steps.out)
                free(text_close(listener->steps.out, &listener->kept));
        if (listener->x && listener->context) {
                XRecordDisableContext(listener->x, listener->context);
                XSync(listener->x, False); /* the other connection has no answer to anything before */
        }
        if (listener->data)
                XCloseDisplay(listener->data);
        if (listener->x)
                XCloseDisplay(listener->x);
        x_server_close(listener->server);
        closep(&listener->fd);
        free(listener->clients);
        free(listener->windows);
        free(listener);
}

int listener_fd(const struct listener *listener)
{
        return listener->fd;
}

void listener_follow(struct listener *listener, pid_t program)
{
        listener->program = program;
}

int listener_step(struct listener *listener)
{
        take_damages(listener);
        XRecordProcessReplies(listener->data);
        take_damages(listener);
        XFlush(listener->x);
        return 0;
}

int listener_write(struct listener *listener, const char *path)
{
        _cleanup_free_ char *text = NULL;
        char name[256];
        int err;

        take_damages(listener);
        XRecordDisableContext(listener->x, listener->context);
        XSync(listener->x, False);
        err = wait_for(listener, &listener->ended); /* all that the server had for us comes before */
        input_steps_end(&listener->steps);
        text = text_close(listener->steps.out, &listener->kept);
        listener->steps.out = NULL;
        if (err || !text)
                return err ? say_open(err) : -ENOMEM;
        if (listener->steps.n == 0) {
                log_error(&program_log, "no key or click came to a window of the program, so there is no "
                          "script to write; a program that shows its windows through Wayland, or through a "
                          "process that ran already, cannot be listened to");
                return -ENODATA;
        }
        err = util_write_file(path, text, strlen(text), 0600);
        if (err < 0)
                log_error(&program_log, "%s cannot be written: %s", util_printable(path, name, sizeof(name)),
                          util_reason(err));
        return err;
}
