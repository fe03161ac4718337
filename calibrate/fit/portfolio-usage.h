/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The portfolio as usages: from the user's database, or typical sessions on such a device. */

#include "columns.h"

struct portfolio_usage {
        struct usage *totals;
        size_t n_totals;
        struct usage *apps;
        size_t n_apps;
};

/* From the usage database @path, last two weeks. -ENODATA: too little; another negative errno. */
int portfolio_usage_recorded(const char *path, struct portfolio_usage *ret);

/* The same, or typical sessions if there is no such database (@path may be NULL). */
int portfolio_usage_make(const struct device *device, const struct columns *columns, const char *path,
                         struct portfolio_usage *ret);
void portfolio_usage_clear(struct portfolio_usage *usage);
