/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A printed table of costs, in percent of the battery. */

#include "forecast/usage-table.h"
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
