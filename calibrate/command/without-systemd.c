/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Built without libsystemd: nothing can be scheduled. */

#include <errno.h>

#include "schedule-bus.h"

int schedule_bus_there(void) { return -ENOSYS; }
int schedule_bus_reload(void) { return -ENOSYS; }
int schedule_bus_enable(const char *timer) { return -ENOSYS; }
int schedule_bus_disable(const char *timer) { return -ENOSYS; }
