/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A bus of a test's own in the place of the system's, for a child to answer on as a service would. */

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/sd-bus.h"

struct bus {
        char dir[64], path[80], address[96];
        pid_t daemon;
};

/* Its place, where nobody listens yet. */
static bool bus_make(struct bus *bus)
{
        *bus = (struct bus){ .dir = "/tmp/joulecast-test-bus-XXXXXX" };
        if (!mkdtemp(bus->dir))
                return false;
        snprintf(bus->path, sizeof(bus->path), "%s/bus", bus->dir);
        snprintf(bus->address, sizeof(bus->address), "unix:path=%s", bus->path);
        return setenv("DBUS_SYSTEM_BUS_ADDRESS", bus->address, 1) == 0;
}

/* Until it is so or fifteen seconds are over. */
static bool wait_until(bool (*ready)(void))
{
        const struct timespec pause = { .tv_nsec = 50000000 };

        for (unsigned i = 0; i < 300; i++) {
                if (ready())
                        return true;
                nanosleep(&pause, NULL);
        }
        return false;
}

static bool bus_answers(void)
{
        sd_bus *bus = NULL;
        const char *name;
        bool answers_now = sd_bus_open_system(&bus) >= 0 && sd_bus_get_unique_name(bus, &name) >= 0;

        sd_bus_flush_close_unref(bus);
        return answers_now;
}

/* False: there is no dbus-daemon, or it does not start here. */
static bool bus_start(struct bus *bus)
{
        char argument[128];
        char *const arguments[] = { (char *)"dbus-daemon", (char *)"--session", (char *)"--nofork",
                                    (char *)"--nopidfile", argument, NULL };

        snprintf(argument, sizeof(argument), "--address=%s", bus->address);
        if (posix_spawnp(&bus->daemon, "dbus-daemon", NULL, NULL, arguments, environ) != 0)
                bus->daemon = 0;
        return bus->daemon && wait_until(bus_answers);
}

static void end_process(pid_t pid)
{
        if (pid <= 0)
                return;
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
}

static void bus_remove(struct bus *bus)
{
        end_process(bus->daemon);
        unlink(bus->path);
        rmdir(bus->dir);
}
