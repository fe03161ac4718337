/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * notifications: shows notifications in place of a desktop: each Notify of org.freedesktop.Notifications on the session
 * bus is a line, "summary|body". Prints "ready" first. For tests/predict/test-warn.py.
 */

#include <stdio.h>

#include "util/sd-bus.h"

static int on_notify(sd_bus_message *message, void *data, sd_bus_error *error)
{
        const char *app, *icon, *summary, *body;
        uint32_t replaces;
        int err = sd_bus_message_read(message, "susss", &app, &replaces, &icon, &summary, &body);

        (void)data;
        (void)error;
        if (err < 0)
                return err;
        if (!sd_bus_message_has_signature(message, "susssasa{sv}i"))
                return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INVALID_ARGS, "not a Notify");
        printf("%s|%s\n", summary, body);
        fflush(stdout);
        return sd_bus_reply_method_return(message, "u", 1);
}

static const sd_bus_vtable methods[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Notify", "susssasa{sv}i", "u", on_notify, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

int main(void)
{
        sd_bus *bus = NULL;

        if (sd_bus_open_user(&bus) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/Notifications",
                                     "org.freedesktop.Notifications", methods, NULL) < 0 ||
            sd_bus_request_name(bus, "org.freedesktop.Notifications", 0) < 0)
                return 1;
        puts("ready");
        fflush(stdout);
        while (sd_bus_wait(bus, UINT64_MAX) >= 0)
                while (sd_bus_process(bus, NULL) > 0)
                        ;
        return 0;
}
