/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The rows of `joulecast top`: each app in the foreground and in the background, with its present power and its
 * energy so far.
 */

#include "forecast/cost.h"
#include "top-feed.h"
#include "util/hash.h"

enum top_sort {
        TOP_BY_POWER,
        TOP_BY_USED,
        TOP_BY_NAME,
        TOP_BY_COMPONENT, /* + enum component */
        TOP_SORTS = TOP_BY_COMPONENT + COMPONENT_BASE,
};

/* Since when energy is counted: since top started, or as recorded since the last full charge. */
enum top_since {
        TOP_SINCE_START,
        TOP_SINCE_FULL,
        TOP_SINCE_COUNT
};

struct top_id {
        char app[APP_ID_MAX]; /* zeroes to its end: the key of the hash */
        enum app_state state;
};

struct top_row {
        struct top_id key;
        char *name;                   /* printable */
        struct cost_value power_w;    /* NaN: unknown; 0 while it does nothing */
        double component_w[COMPONENT_BASE];
        double energy_j[TOP_SINCE_COUNT];
        UT_hash_handle hh;
};

/* Base, unattributed energy and the sums: apps + base + unattributed = battery. */
struct top_sums {
        double base_w, base_component_w[COMPONENT_BASE], unattributed_w, battery_w; /* NaN: unknown */
        struct cost_value total_w;    /* model total: apps and base */
        double base_j[TOP_SINCE_COUNT], unattributed_j[TOP_SINCE_COUNT], battery_j[TOP_SINCE_COUNT],
                total_j[TOP_SINCE_COUNT];
};

struct top_table {
        struct top_row *rows;         /* hash */
        struct top_row **shown;       /* rows that match the filter, sorted */
        size_t n_shown, capacity;
        struct top_sums sums;
        double hidden_w, hidden_j;    /* sums of the rows that do not match */
        size_t n_hidden;
        bool used[COMPONENT_BASE];    /* used by any app so far */
        bool read;                    /* there was a reading */
        double since_s;               /* time counted since top started */
        enum top_sort sort;
        bool reverse;
        enum top_since since;
        char filter[64];
};

/* All names are shown in ASCII if @ascii. 0; -ENOMEM. */
int top_table_update(struct top_table *table, const struct top_reading *reading, bool ascii);
/* Replaces the energies since the last full charge by those of @cost. */
int top_table_recorded(struct top_table *table, const struct cost *cost, bool ascii);
/* Sorts and filters anew, after a change of the order or the filter. */
int top_table_arrange(struct top_table *table);
void top_table_clear(struct top_table *table);
const char *top_sort_name(enum top_sort sort);
