/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit-manager.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "util/util.h"

#define CALL_US 2000000

#define SYSTEMD "org.freedesktop.systemd1"
#define MANAGER "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"
#define LOGIN "org.freedesktop.login1"

struct unit_manager {
        sd_bus *bus;
};

static int errno_from_bus(int err, const sd_bus_error *error)
{
        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.NoSuchUnit"))
                return -ENOENT;
        if (sd_bus_error_has_name(error, SD_BUS_ERROR_NOT_SUPPORTED))
                return -ENOTSUP;
        return MIN(err, 0);
}

int unit_manager_open(struct unit_manager **ret)
{
        struct unit_manager *manager = calloc(1, sizeof(*manager));
        int err = manager ? sd_bus_open_user(&manager->bus) : -ENOMEM;

        if (err < 0) {
                free(manager);
                return err;
        }
        sd_bus_set_method_call_timeout(manager->bus, CALL_US);
        *ret = manager;
        return 0;
}

void unit_manager_close(struct unit_manager *manager)
{
        if (!manager)
                return;
        sd_bus_close_unref(manager->bus);
        free(manager);
}

static int find(struct unit_manager *manager, const char *unit, char *path, size_t size)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *found;
        int err = sd_bus_call_method(manager->bus, SYSTEMD, MANAGER, "GetUnit", &error, &reply, "s", unit);

        if (err >= 0)
                err = sd_bus_message_read(reply, "o", &found);
        if (err < 0)
                return errno_from_bus(err, &error);
        if (strlen(found) >= size)
                return -ENAMETOOLONG;
        strcpy(path, found);
        return 0;
}

static int read_text(struct unit_manager *manager, const char *path, const char *interface, const char *name, char *buf,
                     size_t size)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *text;
        int err = sd_bus_get_property(manager->bus, SYSTEMD, path, interface, name, NULL, &reply, "s");

        if (err >= 0)
                err = sd_bus_message_read(reply, "s", &text);
        if (err >= 0)
                snprintf(buf, size, "%s", text);
        return MIN(err, 0);
}

int unit_manager_read(struct unit_manager *manager, const char *unit, struct unit_now *ret)
{
        size_t length = strlen(unit);
        const char *interface = length > 6 && strcmp(unit + length - 6, ".scope") == 0 ? SYSTEMD ".Scope" :
                                SYSTEMD ".Service";
        char path[1024], freezer[32] = "";
        struct unit_now now = { 0 };
        int err = find(manager, unit, path, sizeof(path));

        if (err)
                return err;
        err = sd_bus_get_property_trivial(manager->bus, SYSTEMD, path, interface, "CPUQuotaPerSecUSec", NULL, 't',
                                          &now.quota_us);
        if (err >= 0)
                err = read_text(manager, path, interface, "ControlGroup", now.cgroup, sizeof(now.cgroup));
        if (err < 0)
                return err;
        /* Older managers cannot freeze; they return an error when asked to. */
        if (read_text(manager, path, SYSTEMD ".Unit", "FreezerState", freezer, sizeof(freezer)) == 0)
                now.frozen = strcmp(freezer, "running") != 0;
        *ret = now;
        return 0;
}

int unit_manager_set_quota(struct unit_manager *manager, const char *unit, uint64_t quota_us)
{
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int err = sd_bus_call_method(manager->bus, SYSTEMD, MANAGER, "SetUnitProperties", &error, NULL, "sba(sv)",
                                     unit, 1, 1, "CPUQuotaPerSecUSec", "t", quota_us);

        return errno_from_bus(err, &error);
}

static int call(struct unit_manager *manager, const char *method, const char *unit)
{
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int err = sd_bus_call_method(manager->bus, SYSTEMD, MANAGER, method, &error, NULL, "s", unit);

        return errno_from_bus(err, &error);
}

int unit_manager_freeze(struct unit_manager *manager, const char *unit)
{
        return call(manager, "FreezeUnit", unit);
}

int unit_manager_thaw(struct unit_manager *manager, const char *unit)
{
        return call(manager, "ThawUnit", unit);
}

static int visit_inhibitors(sd_bus_message *list, void (*visit)(void *data, pid_t pid), void *data)
{
        const char *what, *who, *why, *mode;
        uint32_t uid, pid;
        int err = sd_bus_message_enter_container(list, 'a', "(ssssuu)");

        while (err >= 0) {
                err = sd_bus_message_read(list, "(ssssuu)", &what, &who, &why, &mode, &uid, &pid);
                if (err <= 0)
                        break;
                if (strncmp(mode, "block", 5) == 0 &&
                    (strstr(what, "idle") || strstr(what, "sleep") || strstr(what, "shutdown")))
                        visit(data, (pid_t)pid);
        }
        return MIN(err, 0);
}

int unit_manager_inhibitors(void (*visit)(void *data, pid_t pid), void *data)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        sd_bus *bus = NULL;
        int err = sd_bus_open_system(&bus);

        if (err < 0)
                return err;
        sd_bus_set_method_call_timeout(bus, CALL_US);
        err = sd_bus_call_method(bus, LOGIN, "/org/freedesktop/login1", LOGIN ".Manager", "ListInhibitors", NULL,
                                 &reply, "");
        if (err >= 0)
                err = visit_inhibitors(reply, visit, data);
        sd_bus_message_unref(TAKE_PTR(reply));
        sd_bus_close_unref(bus);
        return MIN(err, 0);
}
