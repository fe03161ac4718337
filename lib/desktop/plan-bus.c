/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan-bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/sd-bus.h"
#include "util/util.h"

#define CALL_US 2000000
#define MANAGER "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager"
#define TUNED "com.redhat.tuned", "/Tuned", "com.redhat.tuned.control"

struct plan_bus {
        sd_bus *bus;
};

/* The newer name first. */
static const struct {
        const char *service, *path;
} profiles[] = {
        { "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles" },
        { "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles" },
};

int plan_bus_open(struct plan_bus **ret)
{
        struct plan_bus *bus = calloc(1, sizeof(*bus));
        int err = bus ? sd_bus_open_system(&bus->bus) : -ENOMEM;

        if (err < 0) {
                free(bus);
                return err;
        }
        sd_bus_set_method_call_timeout(bus->bus, CALL_US);
        *ret = bus;
        return 0;
}

void plan_bus_close(struct plan_bus *bus)
{
        if (!bus)
                return;
        sd_bus_close_unref(bus->bus);
        free(bus);
}

int plan_bus_set_brightness(struct plan_bus *bus, const char *name, uint32_t brightness)
{
        return MIN(sd_bus_call_method(bus->bus, "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
                                      "org.freedesktop.login1.Session", "SetBrightness", NULL, NULL, "ssu",
                                      "backlight", name, brightness), 0);
}

int plan_bus_read_radio(struct plan_bus *bus, const char *property, bool *ret)
{
        int on = 0, err = sd_bus_get_property_trivial(bus->bus, MANAGER, property, NULL, 'b', &on);

        if (err >= 0)
                *ret = on;
        return MIN(err, 0);
}

int plan_bus_set_radio(struct plan_bus *bus, const char *property, bool on)
{
        return MIN(sd_bus_set_property(bus->bus, MANAGER, property, NULL, "b", (int)on), 0);
}

static int read_profile(struct plan_bus *bus, size_t i, char *buf, size_t size)
{
        _cleanup_free_ char *text = NULL;
        int err = sd_bus_get_property_string(bus->bus, profiles[i].service, profiles[i].path, profiles[i].service,
                                             "ActiveProfile", NULL,
                                             &text);

        if (err >= 0)
                snprintf(buf, size, "%s", text);
        return MIN(err, 0);
}

static int read_tuned(struct plan_bus *bus, char *buf, size_t size)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *text;
        int err = sd_bus_call_method(bus->bus, TUNED, "active_profile", NULL, &reply, "");

        if (err >= 0)
                err = sd_bus_message_read(reply, "s", &text);
        if (err >= 0)
                snprintf(buf, size, "%s", text);
        return MIN(err, 0);
}

/* Index in the table of the service that replies; -1: tuned; -ENOENT: none. */
static int find_profiles(struct plan_bus *bus, char *buf, size_t size)
{
        for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
                if (read_profile(bus, i, buf, size) == 0)
                        return (int)i;
        return read_tuned(bus, buf, size) == 0 ? -1 : -ENOENT;
}

int plan_bus_read_power_profile(struct plan_bus *bus, char *buf, size_t size)
{
        return find_profiles(bus, buf, size) == -ENOENT ? -ENOENT : 0;
}

const char *plan_bus_thrifty(struct plan_bus *bus)
{
        char now[128];
        int found = find_profiles(bus, now, sizeof(now));

        return found >= 0 ? "power-saver" : found == -1 ? "powersave" : NULL;
}

static int set_tuned(struct plan_bus *bus, const char *profile)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int done = 0, err = sd_bus_call_method(bus->bus, TUNED, "switch_profile", NULL, &reply, "s", profile);

        if (err >= 0)
                err = sd_bus_message_read(reply, "(bs)", &done, NULL);
        return err < 0 ? err : done ? 0 : -EACCES;
}

int plan_bus_set_power_profile(struct plan_bus *bus, const char *profile)
{
        char now[128];
        int found = find_profiles(bus, now, sizeof(now));

        if (found == -1)
                return set_tuned(bus, profile);
        if (found < 0)
                return found;
        return MIN(sd_bus_set_property(bus->bus, profiles[found].service, profiles[found].path,
                                       profiles[found].service, "ActiveProfile",
                                       NULL, "s", profile), 0);
}
