/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The object /org/joulecast1: methods, properties, and the signal for changed properties. */

#include <math.h>
#include <string.h>

#include "dbus-private.h"
#include "util/util.h"

static const char *status_name(enum battery_status status)
{
        static const char *const names[] = {
                [BATTERY_UNKNOWN] = "unknown",           [BATTERY_DISCHARGING] = "discharging",
                        [BATTERY_CHARGING] = "charging",
                [BATTERY_NOT_CHARGING] = "not-charging", [BATTERY_FULL] = "full",
        };

        return (size_t)status < ARRAY_SIZE(names) && names[status] ? names[status] : "unknown";
}

/* The first reader of a property waits until its value is computed; afterwards polls keep it up to date. */
static const struct present *present_of(struct dbus *dbus)
{
        if (!dbus->wanted) {
                present_read(dbus->source, &dbus->present);
                dbus->told = dbus->present;
                dbus->wanted = true;
        }
        return &dbus->present;
}

static int get_property(sd_bus *bus, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *data, sd_bus_error *error)
{
        const struct present *present = present_of(data);
        const struct joulecast_value *minutes = &present->minutes;

        if (strcmp(property, "BatteryPercent") == 0)
                return sd_bus_message_append(reply, "d", present->percent);
        if (strcmp(property, "PercentPerHour") == 0)
                return sd_bus_message_append(reply, "d", present->percent_per_hour);
        if (strcmp(property, "ChargeLimitPercent") == 0)
                return sd_bus_message_append(reply, "d", present->charge_limit_percent);
        if (strcmp(property, "BatteryState") == 0)
                return sd_bus_message_append(reply, "s", status_name(present->status));
        if (strcmp(property, "CalibrationState") == 0)
                return sd_bus_message_append(reply, "s", present->calibration);
        if (strcmp(property, "MinutesToFull") == 0)
                minutes = &present->minutes_to_full;
        return sd_bus_message_append(reply, "(ddd)", minutes->value, minutes->low, minutes->high);
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *data, sd_bus_error *error)
{
        return sd_bus_message_append(reply, "s", JOULECAST_VERSION);
}

#define ASK(name, in, names, out) \
        SD_BUS_METHOD_WITH_NAMES(name, in, names, "a{sv}", SD_BUS_PARAM(out), dbus_on_ask, SD_BUS_VTABLE_UNPRIVILEGED)
#define SHOW(name, type) SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        ASK("Apps", "", , apps),
        ASK("Cost", "ss", SD_BUS_PARAM(from) SD_BUS_PARAM(to), cost),
        ASK("Predict", "sd", SD_BUS_PARAM(app) SD_BUS_PARAM(minutes), forecast),
        ASK("Budget", "sa{sd}a{sd}", SD_BUS_PARAM(app) SD_BUS_PARAM(reserve_minutes) SD_BUS_PARAM(options), budget),
        ASK("Remaining", "", , budget),
        ASK("WhatIf", "asasa{sd}", SD_BUS_PARAM(close) SD_BUS_PARAM(off) SD_BUS_PARAM(options), gain),
        ASK("Advise", "", , advice),
        ASK("Endure", "dsasa{sd}",
            SD_BUS_PARAM(minutes) SD_BUS_PARAM(app) SD_BUS_PARAM(without) SD_BUS_PARAM(options), endurance),
        SD_BUS_METHOD_WITH_NAMES("Calibrate", "", , "s", SD_BUS_PARAM(unit), dbus_on_calibrate,
                                 SD_BUS_VTABLE_UNPRIVILEGED),
        SHOW("BatteryPercent", "d"),
        SHOW("BatteryState", "s"),
        SHOW("PercentPerHour", "d"),
        SHOW("RemainingMinutes", "(ddd)"),
        SHOW("MinutesToFull", "(ddd)"),
        SHOW("ChargeLimitPercent", "d"),
        SHOW("CalibrationState", "s"),
        SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};

int dbus_vtable_add(struct dbus *dbus)
{
        return sd_bus_add_object_vtable(dbus->bus, NULL, DBUS_PATH, DBUS_NAME, vtable, dbus);
}

static bool minutes_differ(const struct joulecast_value *now, const struct joulecast_value *told)
{
        return present_differs(now->value, told->value, 1, 0.02) || present_differs(now->low, told->low, 1, 0.05) ||
               present_differs(now->high, told->high, 1, 0.05);
}

/* Reports properties whose change would be visible on a panel. */
void dbus_tell_changes(struct dbus *dbus)
{
        const struct present *now = &dbus->present, *told = &dbus->told;
        const struct {
                const char *name;
                bool changed;
        } rows[] = {
                { "BatteryPercent", present_differs(now->percent, told->percent, 1, 0) },
                { "BatteryState", now->status != told->status },
                { "PercentPerHour", present_differs(now->percent_per_hour, told->percent_per_hour, 0.1, 0.1) },
                { "RemainingMinutes", minutes_differ(&now->minutes, &told->minutes) },
                { "MinutesToFull", minutes_differ(&now->minutes_to_full, &told->minutes_to_full) },
                { "ChargeLimitPercent", present_differs(now->charge_limit_percent, told->charge_limit_percent, 1, 0) },
                { "CalibrationState", strcmp(now->calibration, told->calibration) != 0 },
        };
        const char *names[ARRAY_SIZE(rows) + 1];
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].changed)
                        names[n++] = rows[i].name;
        names[n] = NULL;
        if (n == 0)
                return;
        if (sd_bus_emit_properties_changed_strv(dbus->bus, DBUS_PATH, DBUS_NAME, (char **)names) >= 0)
                dbus->told = *now;
}
