/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd. */

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
