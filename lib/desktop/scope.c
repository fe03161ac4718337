/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/sd-bus.h"
#include "util/util.h"

#define MOVE_TRIES 50 /* tries every 20 ms: systemd moves the process some time after its reply */

static int start_scope(const struct scope_plan *plan, const char *unit)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int err = plan->controller && geteuid() != 0 ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);

        if (err >= 0)
                err = sd_bus_message_new_method_call(bus, &message, "org.freedesktop.systemd1",
                                                     "/org/freedesktop/systemd1",
                                                     "org.freedesktop.systemd1.Manager",
                                                     "StartTransientUnit");
        if (err >= 0)
                err = sd_bus_message_append(message, "ss", unit, "fail");
        if (err >= 0)
                err = sd_bus_message_open_container(message, 'a', "(sv)");
        if (err >= 0)
                err = sd_bus_message_append(message, "(sv)(sv)(sv)", "Description", "s", plan->description,
                                            "PIDs", "au", 1, (uint32_t)getpid(),
                                            "CollectMode", "s", "inactive-or-failed");
        if (err >= 0 && plan->controller)
                err = sd_bus_message_append(message, "(sv)", "DelegateControllers", "as", 1, plan->controller);
        if (err >= 0)
                err = sd_bus_message_close_container(message);
        if (err >= 0)
                err = sd_bus_message_append(message, "a(sa(sv))", 0);
        if (err >= 0)
                err = sd_bus_call(bus, message, 0, NULL, NULL);
        return err < 0 ? err : 0;
}

static bool is_inside(const char *unit)
{
        char text[8192];

        return util_read_at(-1, "/proc/self/cgroup", text, sizeof(text)) > 0 && strstr(text, unit);
}

int scope_enter(const struct scope_plan *plan)
{
        char unit[128];
        int err;

        if (!systemd_manages())
                return -ENOSYS;
        snprintf(unit, sizeof(unit), "%s-%d.scope", plan->name, (int)getpid());
        err = start_scope(plan, unit);
        for (int i = 0; !err && i < MOVE_TRIES; i++) {
                if (is_inside(unit))
                        return 0;
                usleep(20000);
        }
        return err ? err : -ETIMEDOUT;
}
