/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logind.h"

#include <errno.h>
#include <fcntl.h>

#include "util/sd-bus.h"
#include "util/util.h"

/* "auto" is the caller's session, or the one that its user has on the screen (org.freedesktop.login1(5)). */
int logind_set_brightness(const char *backlight, uint32_t brightness)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                err = sd_bus_call_method(bus, "org.freedesktop.login1",
                                         "/org/freedesktop/login1/session/auto",
                                         "org.freedesktop.login1.Session", "SetBrightness", NULL, NULL, "ssu",
                                         "backlight", backlight, brightness);
        return err < 0 ? err : 0;
}

static int inhibit(sd_bus *bus, const char *what, const char *why)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int fd, err = sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
                                         "org.freedesktop.login1.Manager", "Inhibit", NULL, &reply,
                                         "ssss", what, "joulecast", why, "block");

        if (err >= 0)
                err = sd_bus_message_read(reply, "h", &fd);
        if (err < 0)
                return err;
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the message owns and closes the other one */
        return fd < 0 ? -errno : fd;
}

int logind_inhibit(const char *why)
{
        static const char *const wishes[] = { "sleep:idle:handle-lid-switch", "sleep:idle", "idle" };
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int fd = sd_bus_open_system(&bus);

        if (fd < 0)
                return fd;
        for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
                fd = inhibit(bus, wishes[i], why);
                if (fd >= 0)
                        break;
        }
        return fd;
}
