/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logind.h"

#include <systemd/sd-bus.h>

#include "util.h"

/* "auto" is the caller's session, or the one that its user has on the screen: org.freedesktop.login1(5). */
int logind_set_brightness(const char *backlight, uint32_t brightness)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                err = sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
                                         "org.freedesktop.login1.Session", "SetBrightness", NULL, NULL, "ssu",
                                         "backlight", backlight, brightness);
        return err < 0 ? err : 0;
}
