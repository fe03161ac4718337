/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus.h"

#include <errno.h>
#include <string.h>

#include "util/sd-bus.h"
#include "util/util.h"

#define CALL_US 2000000
#define MESSAGES_MAX 256 /* handled at once, since any process on the bus may send them */

struct bus {
        struct focus_sink *sink;
        sd_bus *bus;
        char desktop[64];
        char owner[64]; /* unique bus name of its owner */
        bool gone;
};

void bus_close(struct bus *bus)
{
        if (!bus)
                return;
        sd_bus_flush_close_unref(bus->bus);
        free(bus);
}

int bus_fd(const struct bus *bus)
{
        return sd_bus_get_fd(bus->bus);
}

/* Any process on the bus can call us, but only the desktop may report the focus. */
static bool from_desktop(const struct bus *bus, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);

        return sender && strcmp(sender, bus->owner) == 0;
}

static int refuse(sd_bus_message *message)
{
        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_ACCESS_DENIED,
                                          "only the desktop itself may call this");
}

/* Window(i pid, s class, s desktop file), from KWin's script; pid 0: no window has the focus. */
static int on_window(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct bus *bus = data;
        const char *class, *desktop_file;
        int pid, err = sd_bus_message_read(message, "iss", &pid, &class, &desktop_file);

        if (err < 0)
                return err;
        if (!from_desktop(bus, message))
                return refuse(message);
        focus_report(bus->sink, MAX(pid, 0), pid > 0 && *desktop_file ? desktop_file : pid > 0 ? class : "");
        return sd_bus_reply_method_return(message, "");
}

/* Focus(i pid, s app id, b locked), from the GNOME Shell extension; pid 0 and "": no app has the focus. */
static int on_focus(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct bus *bus = data;
        struct focus_state state = { .known = true };
        const char *app_id;
        int pid, locked, err = sd_bus_message_read(message, "isb", &pid, &app_id, &locked);

        if (err < 0)
                return err;
        if (!from_desktop(bus, message))
                return refuse(message);
        focus_state_set(&state, locked ? 0 : MAX(pid, 0), locked ? "" : app_id);
        state.locked = locked;
        bus->sink->report(bus->sink, &state);
        return sd_bus_reply_method_return(message, "");
}

/* Unknown(), from the extension when it is disabled. */
static int on_unknown(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct bus *bus = data;

        if (!from_desktop(bus, message))
                return refuse(message);
        focus_report_unknown(bus->sink);
        return sd_bus_reply_method_return(message, "");
}

static const sd_bus_vtable methods[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Window", "iss", "", on_window, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Focus", "isb", "", on_focus, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Unknown", "", "", on_unknown, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

/* The desktop ended or was replaced: the agent has to reconnect. */
static int on_owner_changed(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct bus *bus = data;
        const char *name, *before, *now;

        if (sd_bus_message_read(message, "sss", &name, &before, &now) >= 0 && strcmp(name, bus->desktop) == 0)
                bus->gone = true;
        return 0;
}

#define NAME_FLAGS (SD_BUS_NAME_REPLACE_EXISTING | SD_BUS_NAME_ALLOW_REPLACEMENT)

/* Another agent took our name and gets the calls until it ends. */
static int on_name_changed(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct bus *bus = data;
        const char *name, *before, *now, *own;

        if (sd_bus_message_read(message, "sss", &name, &before, &now) < 0 || strcmp(name, BUS_NAME) ||
            sd_bus_get_unique_name(bus->bus, &own) < 0 || strcmp(now, own) == 0)
                return 0;
        focus_report_unknown(bus->sink);
        if (!*now)
                sd_bus_request_name_async(bus->bus, NULL, BUS_NAME, NAME_FLAGS, NULL, NULL);
        return 0;
}

/* Calls @changed when the owner of @name changes. */
static int watch_name(struct bus *bus, const char *name, sd_bus_message_handler_t changed)
{
        char match[256];

        snprintf(match, sizeof(match),
                 "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                 "member='NameOwnerChanged',arg0='%s'",
                 name);
        return sd_bus_add_match(bus->bus, NULL, match, changed, bus);
}

static int find_owner(struct bus *bus)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *owner;
        int err;

        err = sd_bus_call_method(bus->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus",
                                 "GetNameOwner", NULL, &reply, "s", bus->desktop);
        if (err < 0)
                return -EHOSTUNREACH;
        err = sd_bus_message_read(reply, "s", &owner);
        if (err < 0)
                return err;
        snprintf(bus->owner, sizeof(bus->owner), "%s", owner);
        return 0;
}

static int start(struct bus *bus)
{
        int err = sd_bus_open_user(&bus->bus);

        if (err < 0)
                return err;
        sd_bus_set_method_call_timeout(bus->bus, CALL_US);
        err = watch_name(bus, bus->desktop, on_owner_changed);
        if (err >= 0)
                err = watch_name(bus, BUS_NAME, on_name_changed);
        if (err >= 0)
                err = find_owner(bus);
        if (err >= 0)
                err = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, BUS_NAME, methods, bus);
        if (err >= 0)
                err = sd_bus_request_name(bus->bus, BUS_NAME, NAME_FLAGS);
        return MIN(err, 0);
}

int bus_open(struct focus_sink *sink, const char *desktop, struct bus **ret)
{
        struct bus *bus = calloc(1, sizeof(*bus));
        int err;

        if (!bus)
                return -ENOMEM;
        bus->sink = sink;
        snprintf(bus->desktop, sizeof(bus->desktop), "%s", desktop);
        err = start(bus);
        if (err) {
                bus_close(bus);
                return err;
        }
        *ret = bus;
        return 0;
}

int bus_dispatch(struct bus *bus)
{
        int more = 1;

        for (unsigned n = 0; more > 0 && n < MESSAGES_MAX; n++)
                more = sd_bus_process(bus->bus, NULL);
        if (more < 0)
                return more;
        sd_bus_flush(bus->bus);
        return bus->gone ? -ECONNRESET : 0;
}

int bus_call(struct bus *bus, const char *path, const char *interface, const char *method, const char *first,
             const char *second, int *ret)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int err = sd_bus_call_method(bus->bus, bus->desktop, path, interface, method, NULL, &reply,
                                     second ? "ss" : first ? "s" : "", first, second);

        if (err < 0)
                return err;
        return ret ? MIN(sd_bus_message_read(reply, "i", ret), 0) : 0;
}

const char *bus_probe(void)
{
        return getenv("DBUS_SESSION_BUS_ADDRESS") ||
                getenv("XDG_RUNTIME_DIR") ? NULL : "there is no D-Bus session bus";
}
