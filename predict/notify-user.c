/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "notify-user.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/sd-bus.h"
#include "util/text.h"
#include "util/util.h"

#define CALL_US UINT64_C(5000000)

static char *escape(const char *text)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return NULL;
        for (; *text; text++) {
                if (*text == '&' || *text == '<' || *text == '>')
                        fprintf(file, "&%s;", *text == '&' ? "amp" : *text == '<' ? "lt" : "gt");
                else
                        fputc(*text, file);
        }
        return text_close(file, &kept);
}

static int make(sd_bus *bus, const char *summary, const char *body, sd_bus_message **ret)
{
        int err = sd_bus_message_new_method_call(bus, ret, "org.freedesktop.Notifications",
                                                 "/org/freedesktop/Notifications",
                                                 "org.freedesktop.Notifications", "Notify");

        if (err >= 0)
                err = sd_bus_message_append(*ret, "susssasa{sv}i", "joulecast", UINT32_C(0),
                                            "battery-caution", summary, body, 0, 1, "category", "s", "device",
                                            INT32_C(-1));
        return err;
}

int notify_user(const char *summary, const char *body)
{
        _cleanup_free_ char *escaped = escape(body);
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *message = NULL;
        sd_bus *bus = NULL;
        int err = escaped ? sd_bus_open_user(&bus) : -ENOMEM;

        if (err < 0 && err != -ENOMEM)
                err = -ENOTCONN;
        if (err >= 0)
                err = make(bus, summary, escaped, &message);
        if (err >= 0)
                err = sd_bus_call(bus, message, CALL_US, &error, NULL);
        if (err == -EHOSTUNREACH || sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN))
                err = -ENOTCONN;
        sd_bus_error_free(&error);
        sd_bus_message_unref(message);
        sd_bus_flush_close_unref(bus);
        return err < 0 ? err : 0;
}
