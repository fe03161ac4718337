/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In the place of schedule-bus.c where libsystemd was not there at build time. */

#include "schedule-bus.h"

#include <errno.h>

int schedule_bus_there(void)
{
        return -ENOSYS;
}

int schedule_bus_reload(void)
{
        return -ENOSYS;
}

int schedule_bus_enable(const char *timer)
{
        return -ENOSYS;
}

int schedule_bus_disable(const char *timer)
{
        return -ENOSYS;
}
