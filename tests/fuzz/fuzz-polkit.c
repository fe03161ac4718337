/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replies of polkit and systemd to the service when users call Calibrate: any values, of any type, and errors. */

#include <string.h>
#include <sys/socket.h>

#include "dbus-private.h"
#include "fuzz.h"
#include "invention.h"
#include "util/util.h"

#define ROUNDS 64       /* more messages than one input can cause */
#define QUIET_ROUNDS 4  /* while they authenticate, both return 0 */

static void take_text(struct invention *from, char text[300])
{
        size_t length = take(from), n = 0;

        while (n < length)
                text[n++] = (char)(take(from) % 127 + 1);
        text[n] = '\0';
}

static int put_reply(struct invention *from, sd_bus_message *reply)
{
        uint8_t kind = take(from), flags = take(from);
        int allowed = flags & 1, challenge = flags >> 1 & 1;
        char name[300], value[300];

        take_text(from, name);
        take_text(from, value);
        switch (kind % 6) {
        case 0: /* as polkit replies */
                return sd_bus_message_append(reply, "(bba{ss})", allowed, challenge, 1, name, value);
        case 1: /* as systemd does */
                return sd_bus_message_append(reply, "o", "/org/freedesktop/systemd1/job/1");
        case 2:
                return sd_bus_message_append(reply, "(bb)", allowed, challenge);
        case 3:
                return sd_bus_message_append(reply, "bba{ss}", allowed, challenge, 0);
        case 4:
                return sd_bus_message_append(reply, "(ss)", name, value);
        default:
                return 0;
        }
}

/* The bus's side: replies to a call of the service, or not at all. */
static void reply_to(struct invention *from, sd_bus *bus, sd_bus_message *call)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint8_t kind = take(from);
        char text[300];

        if (sd_bus_message_is_method_call(call, NULL, NULL) <= 0 || kind == 255)
                return;
        if (kind > 200) {
                take_text(from, text);
                (void)sd_bus_reply_method_errorf(call, SD_BUS_ERROR_ACCESS_DENIED, "%s", text);
                return;
        }
        if (sd_bus_message_new_method_return(call, &reply) >= 0 && put_reply(from, reply) >= 0)
                (void)sd_bus_send(bus, reply, NULL);
}

/* A call of Calibrate as the bus passes it on. */
static void call_calibrate(struct invention *from, sd_bus *bus)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        char sender[] = ":1.0";
        uint64_t cookie; /* without it no reply is expected */

        sender[3] = (char)('0' + take(from) % 8);
        fuzz_assert(sd_bus_message_new_method_call(bus, &call, DBUS_NAME, DBUS_PATH, DBUS_NAME, "Calibrate") >= 0);
        fuzz_assert(sd_bus_message_set_sender(call, sender) >= 0);
        (void)sd_bus_message_set_allow_interactive_authorization(call, take(from) & 1);
        (void)sd_bus_send(bus, call, &cookie);
}

static int on_call(sd_bus_message *message, void *data, sd_bus_error *error)
{
        return sd_bus_message_is_method_call(message, DBUS_NAME, "Calibrate") > 0 ?
                       dbus_on_calibrate(message, data, error) : 0;
}

static void connect_both(struct dbus *service, sd_bus **bus)
{
        const sd_id128_t id = { .bytes = { 1 } };
        int fds[2];

        fuzz_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
        fuzz_assert(sd_bus_new(bus) >= 0 && sd_bus_set_fd(*bus, fds[0], fds[0]) >= 0);
        fuzz_assert(sd_bus_set_server(*bus, 1, id) >= 0 && sd_bus_start(*bus) >= 0);
        fuzz_assert(sd_bus_new(&service->bus) >= 0 && sd_bus_set_fd(service->bus, fds[1], fds[1]) >= 0);
        fuzz_assert(sd_bus_start(service->bus) >= 0);
        fuzz_assert(sd_bus_add_filter(service->bus, NULL, on_call, service) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct log quiet = { 0 };
        struct invention from = { data, size, 0 };
        struct dbus service = { .log = &quiet };
        sd_bus *bus;

        connect_both(&service, &bus);
        for (unsigned i = take(&from) % 8; i > 0; i--)
                call_calibrate(&from, bus);
        for (int round = 0, quiet_rounds = 0; round < ROUNDS && quiet_rounds < QUIET_ROUNDS; round++) {
                sd_bus_message *call = NULL;
                int served = sd_bus_process(service.bus, NULL), heard = sd_bus_process(bus, &call);

                if (call)
                        reply_to(&from, bus, call);
                sd_bus_message_unref(call);
                quiet_rounds = served > 0 || heard > 0 ? 0 : quiet_rounds + 1;
        }
        for (size_t i = 0; i < DBUS_CALIBRATES_MAX; i++)
                dbus_call_end(&service.calibrates[i]);
        sd_bus_close_unref(service.bus);
        sd_bus_close_unref(bus);
        return 0;
}
