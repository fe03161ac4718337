/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Used in a build without D-Bus: no setting of the machine can be changed, but apps can still be limited. */

#include "plan-bus.h"

#include <errno.h>

int plan_bus_open(struct plan_bus **ret)
{
        (void)ret;
        return -EOPNOTSUPP;
}

void plan_bus_close(struct plan_bus *bus)
{
        (void)bus;
}

int plan_bus_set_brightness(struct plan_bus *bus, const char *name, uint32_t brightness)
{
        (void)bus, (void)name, (void)brightness;
        return -EOPNOTSUPP;
}

int plan_bus_read_radio(struct plan_bus *bus, const char *property, bool *ret)
{
        (void)bus, (void)property, (void)ret;
        return -EOPNOTSUPP;
}

int plan_bus_set_radio(struct plan_bus *bus, const char *property, bool on)
{
        (void)bus, (void)property, (void)on;
        return -EOPNOTSUPP;
}

int plan_bus_read_power_profile(struct plan_bus *bus, char *buf, size_t size)
{
        (void)bus, (void)buf, (void)size;
        return -EOPNOTSUPP;
}

int plan_bus_set_power_profile(struct plan_bus *bus, const char *profile)
{
        (void)bus, (void)profile;
        return -EOPNOTSUPP;
}

const char *plan_bus_thrifty(struct plan_bus *bus)
{
        (void)bus;
        return NULL;
}
