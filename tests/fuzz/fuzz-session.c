/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>

#include "focus/focus.h"
#include "fuzz.h"
#include "desktop/metered.h"
#include "session.h"
#include "hold/sessions.h"
#include "socket.h"
#include "util/sd-bus.h"
#include "util/util.h"

#define LOGIN "org.freedesktop.login1"
#define LOGIN_PATH "/org/freedesktop/login1"
#define PROPERTIES "org.freedesktop.DBus.Properties"

/* The bytes from which the bus's messages are made; bytes after the end are 0. */
struct invention {
        uint8_t bytes[4096];
        size_t size, at;
};

static uint8_t take(struct invention *from)
{
        return from->at < from->size ? from->bytes[from->at++] : 0;
}

/* A text of 0 to 255 characters that D-Bus accepts; @path: an object path. */
static const char *take_text(struct invention *from, bool path, char text[300])
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789/";
        size_t n = 0, length = take(from);

        if (path)
                n = (size_t)snprintf(text, 300, LOGIN_PATH "/s");
        while (length-- > 0 && n < 299) {
                uint8_t byte = take(from);

                text[n++] = path ? letters[byte % 63] : (char)(byte % 127 + 1);
        }
        text[n] = '\0';
        return text;
}

/* Appends a value of the property's type, or rarely one of an unexpected type. */
static int put_property(struct invention *from, sd_bus_message *reply, const char *name)
{
        static const char *const classes[] = { "user", "greeter", "lock-screen" };
        char text[300], path[300];
        uint8_t kind = take(from);

        if (kind == 255)
                return sd_bus_message_append(reply, "v", "a(si)", 2, take_text(from, false, text), 1, "", 2);
        if (kind == 254)
                return sd_bus_message_append(reply, "v", "s", take_text(from, false, text));
        if (strcmp(name, "ActiveSession") == 0)
                return sd_bus_message_append(reply, "v", "(so)", take_text(from, false, text),
                                             take_text(from, true, path));
        if (strcmp(name, "User") == 0)
                return sd_bus_message_append(reply, "v", "(uo)", take(from) * UINT32_C(0x01010101),
                                             take_text(from, true, path));
        if (strcmp(name, "Metered") == 0)
                return sd_bus_message_append(reply, "v", "u", take(from));
        if (strcmp(name, "Class") == 0)
                return sd_bus_message_append(reply, "v", "s", kind < 250 ? classes[kind % 3]
                                                                         : take_text(from, false, text));
        return sd_bus_message_append(reply, "v", "b", kind & 1);
}

static int put_sessions(struct invention *from, sd_bus_message *reply)
{
        char id[300], seat[300], path[300];
        int err = sd_bus_message_open_container(reply, 'a', "(susso)");

        for (unsigned i = take(from) % 32; err >= 0 && i > 0; i--)
                err = sd_bus_message_append(reply, "(susso)", take_text(from, false, id), 1000, "u",
                                            take_text(from, false, seat), take_text(from, true, path));
        return err < 0 ? err : sd_bus_message_close_container(reply);
}

static int put_answer(struct invention *from, sd_bus_message *call, sd_bus_message *reply)
{
        const char *member = sd_bus_message_get_member(call), *interface, *name;
        char path[300];

        if (strcmp(member, "Hello") == 0)
                return sd_bus_message_append(reply, "s", ":1.1");
        if (strcmp(member, "GetNameOwner") == 0)
                return sd_bus_message_append(reply, "s", ":1.2");
        if (strcmp(member, "Get") == 0 && sd_bus_message_read(call, "ss", &interface, &name) >= 0)
                return put_property(from, reply, name);
        if (strcmp(member, "ListSessions") == 0)
                return put_sessions(from, reply);
        if (strcmp(member, "GetDeviceByIpIface") == 0)
                return sd_bus_message_append(reply, "o", take_text(from, true, path));
        return 0;
}

static void tell_news(struct invention *from, sd_bus *bus)
{
        sd_bus_message *news = NULL;
        int err = 0;

        switch (take(from) % 8) {
        case 1:
                err = sd_bus_message_new_signal(bus, &news, LOGIN_PATH, LOGIN ".Manager", "PrepareForSleep");
                err = err < 0 ? err : sd_bus_message_append(news, "b", take(from) & 1);
                break;
        case 2: /* an argument of an unexpected type */
                err = sd_bus_message_new_signal(bus, &news, LOGIN_PATH, LOGIN ".Manager", "PrepareForSleep");
                err = err < 0 ? err : sd_bus_message_append(news, "s", "");
                break;
        case 3:
                err = sd_bus_message_new_signal(bus, &news, LOGIN_PATH, LOGIN ".Manager", "SessionRemoved");
                err = err < 0 ? err : sd_bus_message_append(news, "so", "c1", LOGIN_PATH "/s");
                break;
        case 4:
                err = sd_bus_message_new_signal(bus, &news, LOGIN_PATH, LOGIN ".Manager", "SessionNew");
                break;
        case 5:
                err = sd_bus_message_new_signal(bus, &news, LOGIN_PATH "/session/s", PROPERTIES,
                                                "PropertiesChanged");
                err = err < 0 ? err : sd_bus_message_append(news, "sa{sv}as", LOGIN ".Session", 0, 0);
                break;
        default:
                return;
        }
        if (err >= 0 && sd_bus_message_set_sender(news, LOGIN) >= 0)
                (void)sd_bus_send(bus, news, NULL);
        sd_bus_message_unref(news);
}

static void answer(struct invention *from, sd_bus *bus, sd_bus_message *call)
{
        sd_bus_message *reply = NULL;

        if (sd_bus_message_is_method_call(call, NULL, NULL) <= 0 ||
            sd_bus_message_new_method_return(call, &reply) < 0)
                return;
        tell_news(from, bus);
        if (put_answer(from, call, reply) >= 0 && sd_bus_message_set_sender(reply, LOGIN) >= 0)
                (void)sd_bus_send(bus, reply, NULL);
        else
                sd_bus_reply_method_errorf(call, SD_BUS_ERROR_FAILED, "no");
        sd_bus_message_unref(reply);
        tell_news(from, bus);
        sd_bus_flush(bus);
}

static struct fuzz_socket system_bus;

/* A caller may have given up before the bus receives its call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct invention now;

static void set_now(const uint8_t *data, size_t size)
{
        pthread_mutex_lock(&lock);
        now = (struct invention){ .size = MIN(size, sizeof(now.bytes)) };
        memcpy(now.bytes, data, now.size);
        pthread_mutex_unlock(&lock);
}

static struct invention get_now(void)
{
        struct invention copy;

        pthread_mutex_lock(&lock);
        copy = now;
        pthread_mutex_unlock(&lock);
        return copy;
}

/* The bus and the managers on it, one connection after the other. */
static void *serve(void *data)
{
        const sd_id128_t id = { .bytes = { 1 } };

        for (;;) {
                int fd = accept4(system_bus.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), more;
                struct invention from = get_now();
                sd_bus *bus = NULL;

                if (fd < 0) /* libFuzzer's clock rings by a signal */
                        continue;
                fuzz_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fd, fd) >= 0);
                fuzz_assert(sd_bus_set_server(bus, 1, id) >= 0);
                more = sd_bus_start(bus);
                while (more >= 0) {
                        sd_bus_message *call = NULL;

                        more = sd_bus_process(bus, &call);
                        if (call)
                                answer(&from, bus, call);
                        sd_bus_message_unref(call);
                        if (more == 0)
                                more = sd_bus_wait(bus, UINT64_MAX);
                }
                sd_bus_close_unref(bus);
        }
        return NULL;
}

static void prepare(struct source **focus)
{
        struct focus_options options = { .root_fd = -1 };
        char address[96];
        pthread_t thread;

        fuzz_listen(&system_bus, "bus");
        snprintf(address, sizeof(address), "unix:path=%s", system_bus.path);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
        options.root_fd = open(fuzz_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fuzz_assert(focus_open(&options, focus) == 0);
        close(options.root_fd);
        fuzz_assert(pthread_create(&thread, NULL, serve, NULL) == 0);
        pthread_detach(thread);
}

static void run_session(struct source *focus)
{
        struct sample sample = { .boottime_ns = 1 };
        struct source *session = NULL;

        if (session_open(focus, NULL, &session) < 0)
                return;
        session->ops->read(session, &sample);
        for (unsigned i = 0; i < 3; i++)
                session->ops->hear(session, 2 + i);
        session->ops->close(session);
        focus->ops->read(focus, &sample);
        sample_clear(&sample);
}

static void run_sessions(void)
{
        struct sessions *sessions = NULL;

        if (sessions_open(NULL, &sessions) < 0)
                return;
        for (unsigned i = 0; i < 3; i++)
                fuzz_assert((sessions_hear(sessions) & ~(unsigned)(SESSIONS_WOKEN | SESSIONS_ENTERED)) == 0);
        sessions_close(sessions);
}

/* Managers on the system bus that reply with anything D-Bus accepts; the first byte selects the client. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct source *focus;

        if (size == 0)
                return 0;
        set_now(data + 1, size - 1);
        if (!focus)
                prepare(&focus);
        if (data[0] == 'f')
                run_session(focus);
        else if (data[0] == 'g')
                run_sessions();
        else if (data[0] == 'm')
                fuzz_assert(metered("wlan0") <= 1);
        return 0;
}
