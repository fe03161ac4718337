/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Coefficients from printed tables: a usage table, and costs in percent of the battery, rounded. */

#include "forecast/usage-table.h"
#include "fit/outcome.h"
#include "util/log.h"

enum cost_column {
        COST_DISPLAY,
        COST_CPU,
        COST_IO,
        COST_WIFI,
        COST_COLUMNS,
};

struct cost_row {
        char name[APP_ID_MAX];
        enum app_state state;
        double percent[COST_COLUMNS]; /* NaN: not printed */
        double half_unit[COST_COLUMNS]; /* half a unit of the last digit that was printed */
        double total;                 /* NaN: not printed */
        double total_half_unit;
};

struct cost_table {
        struct cost_row *rows;
        size_t n;
};

/*
 * name,state,..,display_percent,cpu_percent,io_percent,wifi_percent,total_percent,..;
 * other columns are ignored. 0; -EINVAL; -errno.
 */
int cost_table_parse(const char *text, size_t length, const char *name, const struct log *log,
                     struct cost_table *ret);
void cost_table_clear(struct cost_table *table);

/*
 * The coefficients that reproduce the costs, monotone in frequency; rows without a partner are left out. The
 * paper calls itself "Power Profiler" in one table and "SApp" in the other.
 */
int tables_fit(const struct usage_table *usage, const struct cost_table *costs, double energy_full_mwh,
               struct outcome *ret, char *error, size_t error_size);
