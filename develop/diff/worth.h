/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The worth of a difference in minutes of battery a day, by this device's use of the app and the part that differs. */

#include "comparison.h"
#include "harness/daily-use.h"

struct worth {
        struct daily_use use;
        double joules;  /* the app's a day, by the resources that the stacks count */
        double total;   /* the program's total in the stacks, for the same */
};

/*
 * @app: its name in the database; NULL: the programs' names. Returns as daily_use_find(), or -ENODATA: the stacks
 * count no energy, or the database has none for the app.
 */
int worth_find(const struct options *options, const char *app, const struct comparison *comparison, struct worth *ret);
/* Minutes of battery a day for a difference of any sign. */
struct estimate worth_minutes(const struct worth *worth, struct estimate difference);
