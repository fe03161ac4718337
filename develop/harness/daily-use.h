/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How much an app is used a day on this device, by the records; tells what a finding is worth here. */

#include "answer/options.h"

struct daily_use {
        char app[256];    /* its display name, safe to print */
        size_t at;        /* index of the name that was found */
        double days;      /* number of days that were recorded */
        double active_s;  /* a day, in the foreground; in the background if it never had the screen */
        double cpu_j;     /* a day */
        double work_j;    /* a day, by all components that joulecast record charges to code: CPU, disk, networks, GPU */
        double uncertain; /* half width of the 95 % interval of the app's energy, as a part of it */
        double device_w;  /* mean power of the device while it was recorded */
};

/**
 * daily_use_find() - looks for an app in the database of @options, or in this device's own
 * @app:   the name that the user gave; NULL: none
 * @names: else names of the app or its program, NULL at the end; the first that the database has counts
 *
 * The profile is that of @options or this device's own. Return: 0; -ENOENT: the device has no database, no profile or
 * none of @names; -EINVAL, -ENOMEM or another error after a message about @app or a file that @options name.
 */
int daily_use_find(const struct options *options, const char *app, const char *const *names, struct daily_use *ret);
/* Minutes for which this energy runs the device at its mean power. */
double daily_use_minutes(const struct daily_use *use, double joules);
