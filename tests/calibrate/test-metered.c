/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NetworkManager's Metered property of an interface, on a bus of our own where a child plays NetworkManager. */

#include <errno.h>

#include "bus.h"
#include "check.h"
#include "child.h"
#include "desktop/metered.h"
#include "util/util.h"

#define NAME "org.freedesktop.NetworkManager"

static const char *const interfaces[] = { "unknown0", "paid0", "free0", "paidperhaps0", "freeperhaps0" };
static const uint32_t answers[] = { 0, 1, 2, 3, 4 };

static int get_device(sd_bus_message *message, void *data, sd_bus_error *error)
{
        const char *interface;
        char path[64];
        int err = sd_bus_message_read(message, "s", &interface);

        for (size_t i = 0; err >= 0 && i < ARRAY_SIZE(interfaces); i++) {
                if (strcmp(interfaces[i], interface))
                        continue;
                snprintf(path, sizeof(path), "/org/freedesktop/NetworkManager/Devices/%zu", i);
                return sd_bus_reply_method_return(message, "o", path);
        }
        return sd_bus_reply_method_errorf(message, NAME ".UnknownDevice", "No device %s", interface);
}

static int get_metered(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *data, sd_bus_error *error)
{
        return sd_bus_message_append(reply, "u", *(const uint32_t *)data);
}

static const sd_bus_vtable manager_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("GetDeviceByIpIface", "s", "o", get_device, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable device_table[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Metered", "u", get_metered, 0, 0),
        SD_BUS_VTABLE_END,
};

static void serve(void)
{
        sd_bus *bus = NULL;

        if (sd_bus_open_system(&bus) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/NetworkManager", NAME, manager_table,
                                     NULL) < 0)
                _exit(1);
        for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
                char path[64];

                snprintf(path, sizeof(path), "/org/freedesktop/NetworkManager/Devices/%zu", i);
                sd_bus_add_object_vtable(bus, NULL, path, NAME ".Device", device_table, (void *)&answers[i]);
        }
        if (sd_bus_request_name(bus, NAME, 0) < 0)
                _exit(1);
        for (;;) {
                if (sd_bus_process(bus, NULL) == 0)
                        sd_bus_wait(bus, UINT64_MAX);
        }
}

static bool manager_answers(void)
{
        return metered("paid0") >= 0;
}

int main(void)
{
        struct bus bus;
        pid_t service;

        if (!bus_make(&bus))
                return 1;
        check_int(metered("paid0"), -ENODATA); /* no bus at all */
        if (!bus_start(&bus)) {
                printf("no dbus-daemon could be started here\n");
                bus_remove(&bus);
                return 77;
        }
        check_int(metered("paid0"), -ENODATA); /* a bus without NetworkManager */
        service = start_child();
        if (service == 0)
                serve();
        check(wait_until(manager_answers));
        check_int(metered("paid0"), 1);
        check_int(metered("paidperhaps0"), 1);
        check_int(metered("free0"), 0);
        check_int(metered("freeperhaps0"), 0);
        check_int(metered("unknown0"), -ENODATA);
        check_int(metered("nowhere0"), -ENODATA);
        end_process(service);
        bus_remove(&bus);
        return check_result();
}
