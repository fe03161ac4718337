/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "location.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "held/held.h"
#include "util/sd-bus.h"
#include "util/util.h"

#define GEOCLUE "org.freedesktop.GeoClue2"
#define GEOCLUE_CLIENT GEOCLUE ".Client"
#define CLIENTS_PATH "/org/freedesktop/GeoClue2/Client"
#define MODEMS "org.freedesktop.ModemManager1"
#define MODEMS_PATH "/org/freedesktop/ModemManager1"
#define MODEM MODEMS ".Modem"
#define MODEM_LOCATION MODEM ".Location"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OBJECTS "org.freedesktop.DBus.ObjectManager"
#define GPS_SOURCES 0x16u /* MMModemLocationSource: GPS_RAW, GPS_NMEA, GPS_UNMANAGED */

/* As in session.c: messages of other programs must not delay polls. */
#define CALL_US 500000
#define MESSAGES_MAX 256
#define CLIENTS_MAX 32

struct client {
        char path[64];
        char desktop_id[128];
        bool active;
};

struct location_source {
        struct source source; /* first */
        sd_bus *bus;
        struct source *held;
        bool has_gps, on;
        char modem[64];       /* modem whose signal is read; "": there is none */
        struct client clients[CLIENTS_MAX];
        size_t n_clients;
        bool stale;           /* the modems must be read again */
        bool changed;
};

/* Reads a{sv} of one interface; properties that are not in @wanted are skipped. */
struct property {
        const char *name;
        char type;
        void *value;
        bool *there; /* may be NULL */
};

static int read_properties(sd_bus_message *message, const struct property *wanted, size_t n)
{
        int err = sd_bus_message_enter_container(message, 'a', "{sv}");

        while (err >= 0 && (err = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                const struct property *found = NULL;
                const char *name, *contents;
                char type;

                err = sd_bus_message_read(message, "s", &name);
                for (size_t i = 0; err >= 0 && i < n; i++)
                        found = strcmp(wanted[i].name, name) == 0 ? &wanted[i] : found;
                if (err >= 0)
                        err = sd_bus_message_peek_type(message, &type, &contents);
                if (err >= 0 && found && contents[0] == found->type && !contents[1]) {
                        err = sd_bus_message_read(message, "v", contents, found->value);
                        if (found->there)
                                *found->there = true;
                } else if (err >= 0) {
                        err = sd_bus_message_skip(message, "v");
                }
                if (err >= 0)
                        err = sd_bus_message_exit_container(message);
        }
        return err < 0 ? err : sd_bus_message_exit_container(message);
}

static int read_modem(struct location_source *self, const char *path, sd_bus_message *message)
{
        uint32_t enabled = 0, capabilities = 0;
        const struct property wanted[] = { { "Enabled", 'u', &enabled, NULL },
                                           { "Capabilities", 'u', &capabilities, NULL } };
        int err = sd_bus_message_enter_container(message, 'a', "{sa{sv}}");

        while (err >= 0 && (err = sd_bus_message_enter_container(message, 'e', "sa{sv}")) > 0) {
                const char *interface;

                err = sd_bus_message_read(message, "s", &interface);
                if (err >= 0 && strcmp(interface, MODEM) == 0 && strlen(path) < sizeof(self->modem))
                        strcpy(self->modem, path);
                if (err >= 0)
                        err = strcmp(interface, MODEM_LOCATION) ==
                              0 ? read_properties(message, wanted, ARRAY_SIZE(wanted)) :
                                                                       sd_bus_message_skip(message, "a{sv}");
                if (err >= 0)
                        err = sd_bus_message_exit_container(message);
        }
        self->has_gps = self->has_gps || capabilities & GPS_SOURCES;
        self->on = self->on || enabled & GPS_SOURCES;
        return err < 0 ? err : sd_bus_message_exit_container(message);
}

/* Reads a{oa{sa{sv}}}: the modems. */
static int ask_modems(struct location_source *self)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL, *reply = NULL;
        int err = sd_bus_message_new_method_call(self->bus, &question, MODEMS, MODEMS_PATH, OBJECTS,
                                                 "GetManagedObjects");

        self->stale = false;
        self->changed = true;
        self->has_gps = self->on = false;
        self->modem[0] = '\0';
        if (err >= 0)
                err = sd_bus_message_set_auto_start(question, false);
        if (err >= 0)
                err = sd_bus_call(self->bus, question, CALL_US, NULL, &reply);
        if (err >= 0)
                err = sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}");
        while (err >= 0 && (err = sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}")) > 0) {
                const char *path;

                err = sd_bus_message_read(reply, "o", &path);
                if (err >= 0)
                        err = read_modem(self, path, reply);
                if (err >= 0)
                        err = sd_bus_message_exit_container(reply);
        }
        return err;
}

static struct client *find_client(struct location_source *self, const char *path)
{
        size_t at = self->n_clients;

        for (size_t i = 0; i < self->n_clients; i++)
                if (strcmp(self->clients[i].path, path) == 0)
                        return &self->clients[i];
        for (size_t i = 0; at == CLIENTS_MAX && i < self->n_clients; i++)
                at = self->clients[i].active ? at : i;
        if (at == CLIENTS_MAX || strlen(path) >= sizeof(self->clients[at].path))
                return NULL;
        self->n_clients = MAX(self->n_clients, at + 1);
        self->clients[at] = (struct client){ 0 };
        snprintf(self->clients[at].path, sizeof(self->clients[at].path), "%s", path);
        return &self->clients[at];
}

/* geoclue answers questions about a client to that client only, but sends its changes to everybody. */
static int on_client(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct location_source *self = data;
        const char *interface, *desktop_id = NULL;
        int active = 0;
        bool told = false;
        const struct property wanted[] = { { "Active", 'b', &active, &told }, { "DesktopId", 's', &desktop_id, NULL } };
        struct client *client;

        if (sd_bus_message_read(message, "s", &interface) < 0 || strcmp(interface, GEOCLUE_CLIENT) != 0 ||
            read_properties(message, wanted, ARRAY_SIZE(wanted)) < 0)
                return 0;
        client = find_client(self, sd_bus_message_get_path(message));
        if (!client)
                return 0;
        if (desktop_id)
                util_printable(desktop_id, client->desktop_id, sizeof(client->desktop_id));
        if (told)
                client->active = active;
        self->changed = true;
        return 0;
}

static int on_modem(sd_bus_message *message, void *data, sd_bus_error *error)
{
        ((struct location_source *)data)->stale = true;
        return 0;
}

static int on_geoclue_owner(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct location_source *self = data;

        self->n_clients = 0;
        self->changed = true;
        return 0;
}

/*
 * A client whose program has ended sends no signal. For an existing client geoclue refuses access; for a
 * client that has ended it reports an unknown object.
 */
static void drop_gone(struct location_source *self)
{
        for (size_t i = 0; i < self->n_clients; i++) {
                _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
                int active;

                if (!self->clients[i].active ||
                    sd_bus_get_property_trivial(self->bus, GEOCLUE, self->clients[i].path, GEOCLUE_CLIENT, "Active",
                                                &error, 'b', &active) >= 0 ||
                    !(sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_OBJECT) ||
                      sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_METHOD) ||
                      sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_INTERFACE)))
                        continue;
                self->clients[i].active = false;
                self->changed = true;
        }
}

/* If the GPS is on but no client was seen to begin, it is used by an unknown process. */
static int tell(struct location_source *self)
{
        struct holders holders = { 0 };
        int err = 0;

        self->changed = false;
        for (size_t i = 0; self->on && !err && i < self->n_clients; i++)
                if (self->clients[i].active)
                        err = held_add_app(self->held, self->clients[i].desktop_id, &holders);
        if (!err && self->on && holders.n_apps + holders.nobodys == 0)
                err = holders_add(&holders, 0);
        if (!err)
                err = held_set_gps(self->held, self->has_gps ? &holders : NULL);
        holders_clear(&holders);
        return err;
}

static void hear_location(struct source *source, uint64_t boottime_ns)
{
        struct location_source *self = (struct location_source *)source;
        int more = 1;

        for (unsigned n = 0; more > 0 && n < MESSAGES_MAX; n++)
                more = sd_bus_process(self->bus, NULL);
        if (more < 0) {
                sd_bus_close(self->bus);
                self->has_gps = self->on = self->stale = false;
                self->modem[0] = '\0';
                self->changed = true;
        } else if (self->stale) {
                (void)ask_modems(self); /* without a reply, no GPS is known */
        }
        if (self->changed && tell(self) < 0)
                self->changed = true;
}

/* Read at polls, as it changes more often than there are polls. */
static void ask_signal(struct location_source *self, struct sample *sample)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        uint32_t percent;
        int recent;

        if (!self->modem[0] ||
            sd_bus_get_property(self->bus, MODEMS, self->modem, MODEM, "SignalQuality", NULL, &reply, "(ub)") < 0 ||
            sd_bus_message_read(reply, "(ub)", &percent, &recent) < 0 || !recent || percent > 100)
                return;
        sample->signal.have |= SIGNAL_CELLULAR;
        sample->signal.cellular_signal_percent = percent;
}

static int read_location(struct source *source, struct sample *sample)
{
        struct location_source *self = (struct location_source *)source;

        drop_gone(self);
        ask_signal(self, sample);
        hear_location(source, sample->boottime_ns); /* also messages that the calls left in the queue */
        return 0; /* the source of sound, cameras and GPS writes it to the sample */
}

static int fd_location(const struct source *source)
{
        return sd_bus_get_fd(((const struct location_source *)source)->bus);
}

static void close_location(struct source *source)
{
        struct location_source *self = (struct location_source *)source;

        sd_bus_flush_close_unref(self->bus);
        free(self);
}

static const struct source_ops location_ops = {
        .name = "location",
        .read = read_location,
        .close = close_location,
        .fd = fd_location,
        .hear = hear_location,
};

static int watch(struct location_source *self)
{
        static const struct {
                const char *match;
                sd_bus_message_handler_t handler;
        } matches[] = {
                { "type='signal',sender='" GEOCLUE "',interface='" PROPERTIES "',member='PropertiesChanged',"
                  "path_namespace='" CLIENTS_PATH "'", on_client },
                { "type='signal',sender='" MODEMS "',interface='" PROPERTIES "',member='PropertiesChanged',"
                  "arg0='" MODEM_LOCATION "'", on_modem },
                { "type='signal',sender='" MODEMS "',interface='" OBJECTS "'", on_modem },
                { "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" MODEMS "'", on_modem },
                { "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" GEOCLUE "'",
                  on_geoclue_owner },
        };
        int err = 0;

        for (size_t i = 0; err >= 0 && i < ARRAY_SIZE(matches); i++)
                err = sd_bus_add_match(self->bus, NULL, matches[i].match, matches[i].handler, self);
        return err;
}

int location_open(struct source *held, struct source **ret)
{
        struct location_source *self = calloc(1, sizeof(*self));

        if (!self)
                return -ENOMEM;
        self->source.ops = &location_ops;
        self->held = held;
        if (sd_bus_open_system(&self->bus) < 0) {
                free(self);
                return -ENODEV;
        }
        sd_bus_set_method_call_timeout(self->bus, CALL_US);
        if (watch(self) < 0) {
                close_location(&self->source);
                return -ENODEV;
        }
        self->stale = true;
        *ret = &self->source;
        return 0;
}
