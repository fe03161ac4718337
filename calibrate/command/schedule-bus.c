/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule-bus.h"

#include <errno.h>

#include "util/sd-bus.h"
#include "util/util.h"

#define MANAGER "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"

int schedule_bus_there(void)
{
        return systemd_manages() ? 0 : -ENOSYS;
}

static int call_reload(sd_bus *bus)
{
        return sd_bus_call_method(bus, MANAGER, "Reload", NULL, NULL, "");
}

int schedule_bus_reload(void)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                err = call_reload(bus);
        return err < 0 ? err : 0;
}

int schedule_bus_enable(const char *timer)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                err = call_reload(bus);
        if (err >= 0)
                err = sd_bus_call_method(bus, MANAGER, "EnableUnitFiles", NULL, NULL, "asbb", 1, timer, 0, 1);
        if (err >= 0)
                err = sd_bus_call_method(bus, MANAGER, "RestartUnit", NULL, NULL, "ss", timer, "replace");
        return err < 0 ? err : 0;
}

int schedule_bus_disable(const char *timer)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                err = sd_bus_call_method(bus, MANAGER, "StopUnit", NULL, NULL, "ss", timer, "replace");
        if (err >= 0)
                err = sd_bus_call_method(bus, MANAGER, "DisableUnitFiles", NULL, NULL, "asb", 1, timer, 0);
        return err < 0 ? err : 0;
}
