/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replies and signals of ModemManager and GeoClue with unexpected contents. */

#include <sys/socket.h>

#include "fuzz.h"
#include "invention.h"
#include "location.c"

static const char *take_text(struct invention *from, char text[300])
{
        size_t length = take(from), n = 0;

        while (n < length)
                text[n++] = (char)(take(from) % 127 + 1);
        text[n] = '\0';
        return text;
}

static void put_value(struct invention *from, sd_bus_message *message)
{
        char text[300];

        switch (take(from) % 6) {
        case 0:
                (void)sd_bus_message_append(message, "v", "u", (uint32_t)take(from) << (take(from) % 25));
                break;
        case 1:
                (void)sd_bus_message_append(message, "v", "b", take(from) & 1);
                break;
        case 2:
                (void)sd_bus_message_append(message, "v", "s", take_text(from, text));
                break;
        case 3:
                (void)sd_bus_message_append(message, "v", "(ub)", (uint32_t)take(from), take(from) & 1);
                break;
        case 4:
                (void)sd_bus_message_append(message, "v", "a{sv}", 1, take_text(from, text), "v", "t", UINT64_MAX);
                break;
        default:
                (void)sd_bus_message_append(message, "v", "as", 2, take_text(from, text), "");
        }
}

static void put_properties(struct invention *from, sd_bus_message *message)
{
        static const char *const names[] = { "Active", "DesktopId", "Enabled", "Capabilities", "SignalQuality", "" };
        int n = take(from) % 8;

        (void)sd_bus_message_open_container(message, 'a', "{sv}");
        for (int i = 0; i < n; i++) {
                (void)sd_bus_message_open_container(message, 'e', "sv");
                (void)sd_bus_message_append(message, "s", names[take(from) % ARRAY_SIZE(names)]);
                put_value(from, message);
                (void)sd_bus_message_close_container(message);
        }
        (void)sd_bus_message_close_container(message);
}

static const char *take_interface(struct invention *from)
{
        static const char *const names[] = { GEOCLUE_CLIENT, MODEM, MODEM_LOCATION, "org.example.Other" };

        return names[take(from) % ARRAY_SIZE(names)];
}

static void put_modem(struct invention *from, sd_bus_message *message)
{
        int n = take(from) % 5;

        (void)sd_bus_message_open_container(message, 'a', "{sa{sv}}");
        for (int i = 0; i < n; i++) {
                (void)sd_bus_message_open_container(message, 'e', "sa{sv}");
                (void)sd_bus_message_append(message, "s", take_interface(from));
                put_properties(from, message);
                (void)sd_bus_message_close_container(message);
        }
        (void)sd_bus_message_close_container(message);
}

static void tell_one(struct invention *from, struct location_source *self)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        bool modem = take(from) & 1;
        char path[300];
        int length = snprintf(path, sizeof(path), "%s/%u", modem ? MODEMS_PATH "/Modem" : CLIENTS_PATH, take(from));

        for (int left = take(from) % 200; left > 0 && length < 290; left--) /* as long as a path may be, or longer */
                path[length++] = 'x';
        path[length] = '\0';
        fuzz_assert(sd_bus_message_new_signal(self->bus, &message, path, PROPERTIES, "PropertiesChanged") >= 0);
        if (modem) {
                put_modem(from, message);
        } else {
                (void)sd_bus_message_append(message, "s", take_interface(from));
                put_properties(from, message);
        }
        if (sd_bus_message_seal(message, 1, 0) < 0)
                return;
        if (modem)
                (void)read_modem(self, path, message);
        else
                (void)on_client(message, self, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct invention from = { data, size, 0 };
        static struct location_source self; /* static: one bus for all inputs */
        sd_bus *bus = self.bus;
        int fds[2];

        if (!bus) {
                fuzz_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
                fuzz_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0 && sd_bus_start(bus) >= 0);
        }
        self = (struct location_source){ .bus = bus };
        while (from.at < from.size)
                tell_one(&from, &self);
        fuzz_assert(self.n_clients <= CLIENTS_MAX && strnlen(self.modem, sizeof(self.modem)) < sizeof(self.modem));
        for (size_t i = 0; i < self.n_clients; i++) {
                fuzz_assert(strnlen(self.clients[i].path, sizeof(self.clients[i].path)) < sizeof(self.clients[i].path));
                for (const char *at = self.clients[i].desktop_id; *at; at++)
                        fuzz_assert((unsigned char)*at >= 0x20 && *at != 0x7f);
        }
        return 0;
}
