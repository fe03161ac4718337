/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* In which units of a user's service manager the apps of that user run now. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "app.h"

#define APP_UNIT_MAX 256 /* systemd's own limit, with the NUL */

/* Why a unit may not be limited, from the most to the least important reason. */
enum app_unit_trouble {
        UNIT_FINE,
        UNIT_DESKTOP,   /* part of the desktop: a compositor, a panel, a launcher */
        UNIT_NOT_APPS,  /* not an app's unit below app.slice: a login session, a service */
        UNIT_SHARED,    /* other apps run in it, too */
};

struct app_unit {
        char unit[APP_UNIT_MAX]; /* "": none */
        char app[APP_ID_MAX];
        char other[APP_ID_MAX];  /* UNIT_SHARED: one of them */
        enum app_unit_trouble trouble;
};

struct app_units {
        struct app_unit *list; /* an app has one for each of its units; a shared unit has one for each of its apps */
        size_t n, capacity;
        struct app_unit_process {
                pid_t pid;
                size_t at; /* in @list */
        } *processes;
        size_t n_processes, processes_capacity;
};

/* Looks at all processes of @uid. @ret: filled anew. 0; -ENOMEM; another negative errno: /proc cannot be read. */
int app_units_read(struct apps *apps, int root_fd, uid_t uid, struct app_units *ret);
void app_units_clear(struct app_units *units);

/* The unit below app.slice in a path as /proc/PID/cgroup has it, else the last unit in it. False: none is in it. */
bool app_units_parse(const char *path, char *unit, bool *below_apps);

/* The unit of a process now. 0; -ENODATA: in none; another negative errno: there is no such process. */
int app_units_of_process(int root_fd, pid_t pid, char *unit, bool *below_apps);
