/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "metered.h"

#include <errno.h>
#include <stdint.h>

#include "util/sd-bus.h"
#include "util/util.h"

#define NETWORK_MANAGER "org.freedesktop.NetworkManager"
#define TIMEOUT_US 3000000

/* NMMetered of NetworkManager's D-Bus interface. */
enum {
        NM_METERED_UNKNOWN = 0,
        NM_METERED_YES = 1,
        NM_METERED_NO = 2,
        NM_METERED_GUESS_YES = 3,
        NM_METERED_GUESS_NO = 4,
};

/* A call must not start it. */
static bool is_running(sd_bus *bus)
{
        return sd_bus_get_name_creds(bus, NETWORK_MANAGER, 0, NULL) >= 0;
}

static int ask(sd_bus *bus, const char *interface, uint32_t *ret)
{
        sd_bus_message *answer = NULL;
        const char *device;
        int err = sd_bus_call_method(bus, NETWORK_MANAGER, "/org/freedesktop/NetworkManager", NETWORK_MANAGER,
                                     "GetDeviceByIpIface", NULL, &answer, "s", interface);

        if (err >= 0)
                err = sd_bus_message_read(answer, "o", &device);
        if (err >= 0)
                err = sd_bus_get_property_trivial(bus, NETWORK_MANAGER, device, NETWORK_MANAGER ".Device",
                                                  "Metered", NULL, 'u', ret);
        sd_bus_message_unref(answer);
        return err;
}

int metered(const char *interface)
{
        uint32_t answer = NM_METERED_UNKNOWN;
        sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err >= 0)
                sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
        if (err >= 0)
                err = is_running(bus) ? ask(bus, interface, &answer) : -ENODATA;
        sd_bus_flush_close_unref(bus);
        if (err < 0 || answer == NM_METERED_UNKNOWN)
                return -ENODATA;
        return answer == NM_METERED_YES || answer == NM_METERED_GUESS_YES;
}
