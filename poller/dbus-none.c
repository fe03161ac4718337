/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dbus.h"

#include <errno.h>

int dbus_open(struct answers *answers, const struct question_source *source, const struct log *log, struct dbus **ret)
{
        return -ENOSYS;
}

void dbus_close(struct dbus *dbus)
{
}

void dbus_watch(struct dbus *dbus, struct pollfd *fd)
{
        *fd = (struct pollfd){ .fd = -1 };
}

uint64_t dbus_deadline_ns(struct dbus *dbus)
{
        return UINT64_MAX;
}

void dbus_serve(struct dbus *dbus, const struct pollfd *fd)
{
}

void dbus_polled(struct dbus *dbus, const struct battery *battery)
{
}
