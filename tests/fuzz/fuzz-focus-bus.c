/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "../../poller/focus/bus.h"
#include "fuzz.h"
#include "socket.h"
#include "util/sd-bus.h"
#include "util/util.h"

/*
 * Messages about the focus on the session bus, from the desktop and from anybody else, with any arguments that sd-bus
 * carries; and what KWin answers to our script. The bus is the other end of a socket: a thread answers while a
 * back-end opens, as that waits for each answer.
 */

struct invention {
        const uint8_t *bytes;
        size_t size, at;
};

static struct fuzz_socket session_bus;
static sd_bus *server;
static struct backend *backend;
static struct invention from;
static bool from_desktop; /* the sender of the current message is the desktop */
static const struct backend_ops *now;

static uint8_t take(void)
{
        return from.at < from.size ? from.bytes[from.at++] : 0;
}

static const char *take_text(char text[300])
{
        size_t length = take();

        for (size_t i = 0; i < length; i++)
                text[i] = (char)(take() % 127 + 1);
        text[length] = '\0';
        return text;
}

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        char plain[FOCUS_APP_MAX];

        fuzz_assert(from_desktop || (!state->known && !state->pid && !*state->app_id));
        fuzz_assert(state->pid >= 0 && strlen(state->app_id) < sizeof(state->app_id));
        fuzz_assert(!state->locked || (!state->pid && !*state->app_id));
        fuzz_assert(strcmp(util_printable(state->app_id, plain, sizeof(plain)), state->app_id) == 0);
}

/* ---- the bus, while a back-end opens ---- */

/* Replies to a call. True: it was the last one of a back-end that opens. */
static bool answer(sd_bus_message *call, bool kwin)
{
        const char *member = sd_bus_message_get_member(call);
        bool script = strcmp(member, "loadScript") == 0, last = strcmp(member, kwin ? "run" : "RequestName") == 0;
        sd_bus_message *reply = NULL;
        char text[300];
        uint8_t kind = script || strcmp(member, "run") == 0 ? take() : 0;

        if (kind > 250) {
                sd_bus_reply_method_errorf(call, SD_BUS_ERROR_FAILED, "no");
                return false; /* KWin 5's path is tried next, or it closes */
        }
        fuzz_assert(sd_bus_message_new_method_return(call, &reply) >= 0);
        if (strcmp(member, "Hello") == 0)
                sd_bus_message_append(reply, "s", ":1.1");
        else if (strcmp(member, "GetNameOwner") == 0)
                sd_bus_message_append(reply, "s", ":1.2");
        else if (strcmp(member, "RequestName") == 0)
                sd_bus_message_append(reply, "u", 1);
        else if (script && kind > 240)
                sd_bus_message_append(reply, "s", take_text(text));
        else if (script)
                sd_bus_message_append(reply, "i", kind > 230 ? -1 : kind);
        sd_bus_message_set_sender(reply, strstr(member, "cript") || last ? ":1.2" : "org.freedesktop.DBus");
        sd_bus_send(server, reply, NULL);
        sd_bus_message_unref(reply);
        sd_bus_flush(server);
        return last;
}

static void *serve(void *data)
{
        const sd_id128_t id = { .bytes = { 1 } };
        bool kwin = data, over = false;
        int fd;

        do
                fd = accept4(session_bus.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        while (fd < 0); /* libFuzzer's clock rings by a signal */
        fuzz_assert(sd_bus_new(&server) >= 0 && sd_bus_set_fd(server, fd, fd) >= 0);
        fuzz_assert(sd_bus_set_server(server, 1, id) >= 0 && sd_bus_start(server) >= 0);
        while (!over) {
                sd_bus_message *call = NULL;
                int more = sd_bus_process(server, &call);

                if (call && sd_bus_message_is_method_call(call, NULL, NULL) > 0)
                        over = answer(call, kwin);
                sd_bus_message_unref(call);
                if (more == 0)
                        more = sd_bus_wait(server, UINT64_MAX);
                over |= more < 0 && more != -EINTR;
        }
        return NULL;
}

static void close_bus(void)
{
        server = sd_bus_close_unref(server);
        backend_close(backend);
        backend = NULL;
}

static void open_bus(const struct backend_ops *ops)
{
        static struct focus_sink sink = { .report = report };
        pthread_t thread;

        if (!*session_bus.path) {
                char address[96];

                fuzz_listen(&session_bus, "bus");
                snprintf(address, sizeof(address), "unix:path=%s", session_bus.path);
                setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
                setenv("XDG_RUNTIME_DIR", fuzz_folder, 1);
        }
        fuzz_assert(pthread_create(&thread, NULL, serve, (void *)(intptr_t)(ops == &kwin_backend)) == 0);
        if (backend_open(ops, &sink, &backend) < 0)
                backend = NULL;
        fuzz_assert(pthread_join(thread, NULL) == 0);
        if (!backend)
                close_bus();
}

/* ---- messages ---- */

static int put_arguments(sd_bus_message *message)
{
        char first[300], second[300];
        uint8_t kind = take();
        int number = kind & 64 ? (int)(take() * UINT32_C(0x01010101)) : take();

        switch (kind % 8) {
        case 0:
        case 1:
                return sd_bus_message_append(message, "iss", number, take_text(first), take_text(second));
        case 2:
        case 3:
                return sd_bus_message_append(message, "isb", number, take_text(first), kind & 32);
        case 4:
                return sd_bus_message_append(message, "sss", take_text(first), take_text(second), "");
        case 5:
                return sd_bus_message_append(message, "u", number);
        case 6:
                return sd_bus_message_append(message, "a{sv}", 1, take_text(first), "s", take_text(second));
        default:
                return 0;
        }
}

static int put_owner_change(sd_bus_message *message)
{
        static const char *const names[] = { "org.kde.KWin", "org.gnome.Shell", BUS_NAME };
        static const char *const owners[] = { "", ":1.1", ":1.2", ":1.9" };
        uint8_t kind = take();

        return sd_bus_message_append(message, "sss", names[kind % 3], owners[kind / 4 % 4], owners[kind / 16 % 4]);
}

static void say(void)
{
        static const char *const members[] = { "Window", "Focus", "Unknown", "Other" };
        sd_bus_message *message = NULL;
        uint8_t kind = take();
        int err;

        from_desktop = kind & 4;
        if (kind & 8) {
                from_desktop = false;
                err = sd_bus_message_new_signal(server, &message, "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                                "NameOwnerChanged");
                err = err < 0 ? err : kind & 16 ? put_arguments(message) : put_owner_change(message);
        } else {
                err = sd_bus_message_new_method_call(server, &message, ":1.1", BUS_PATH, BUS_NAME, members[kind % 4]);
                err = err < 0 ? err : put_arguments(message);
        }
        if (err >= 0)
                err = sd_bus_message_set_sender(message, kind & 8 ? "org.freedesktop.DBus"
                                                         : from_desktop ? ":1.2" : ":1.3");
        if (err >= 0)
                err = sd_bus_send(server, message, NULL);
        sd_bus_message_unref(message);
        sd_bus_flush(server);
}

static bool hear(void)
{
        sd_bus_message *message = NULL;
        int err = now->dispatch(backend);

        while (sd_bus_process(server, &message) > 0) { /* drops the backend's messages */
                sd_bus_message_unref(message);
                message = NULL;
        }
        return err == 0;
}

/* The first byte selects the desktop; KWin is opened anew each time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{

        const struct backend_ops *ops = size > 0 && data[0] == 'k' ? &kwin_backend : &gnome_backend;

        if (size == 0)
                return 0;
        from = (struct invention){ data + 1, size - 1, 0 };
        if (backend && (now != ops || ops == &kwin_backend))
                close_bus();
        now = ops;
        if (!backend)
                open_bus(ops);
        while (backend && from.at < from.size) {
                say();
                if (!hear())
                        close_bus();
        }
        return 0;
}
