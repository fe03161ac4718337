/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names.h"
#include "top-text.h"
#include "util/tuning.h"
#include "util/util.h"
#include "util/words.h"

void top_table_clear(struct top_table *table)
{
        struct top_row *row, *next;

        HASH_ITER(hh, table->rows, row, next) {
                HASH_DEL(table->rows, row);
                free(row->name);
                free(row);
        }
        free(table->shown);
        *table = (struct top_table){ 0 };
}

const char *top_sort_name(enum top_sort sort)
{
        static const char *const names[] = { N_("power"), N_("used"), N_("name") };

        return sort < TOP_BY_COMPONENT ? names[sort] : component_names[sort - TOP_BY_COMPONENT];
}

static double known(double value)
{
        return isnan(value) ? 0 : value;
}

static struct top_row *add_row(struct top_table *table, const struct top_id *key)
{
        struct top_row *row = calloc(1, sizeof(*row));

        if (!row)
                return NULL;
        row->key = *key;
        HASH_ADD(hh, table->rows, key, sizeof(row->key), row);
        if (HASH_HAS(row))
                return row;
        free(row);
        return NULL;
}

/* Whoever starts programs can give them ever new names. */
#define ROWS_MAX 20000

/* The row of an app; NULL without memory. */
static struct top_row *find_row(struct top_table *table, const struct cost_app *app, bool ascii)
{
        char shown[APP_ID_MAX + 2], name[APP_ID_MAX + 2];
        struct top_id key;
        struct top_row *row;

        memset(&key, 0, sizeof(key));
        snprintf(key.app, sizeof(key.app), "%s", app->app);
        key.state = app->state;
        HASH_FIND(hh, table->rows, &key, sizeof(key), row);
        if (!row && HASH_COUNT(table->rows) >= ROWS_MAX && strcmp(app->app, TUNING_OTHER_APPS) != 0) {
                const struct cost_app others = { .app = TUNING_OTHER_APPS, .name = (char *)TUNING_OTHER_APPS };

                return find_row(table, &others, ascii);
        }
        if (!row)
                row = add_row(table, &key);
        if (!row || row->name)
                return row;
        names_in_table(app->app, app->name, shown, sizeof(shown));
        row->name = strdup(top_text_safe(shown, ascii, name, sizeof(name)));
        return row->name ? row : NULL;
}

static void read_app(struct top_table *table, struct top_row *row, const struct cost_app *app,
                     const struct top_reading *reading)
{
        const struct cost_value joules = cost_joules(&app->energy_j, reading->cost->joule_part);
        double seconds = reading->seconds;

        row->power_w.value += joules.value / seconds;
        row->power_w.low += joules.low / seconds;
        row->power_w.high += joules.high / seconds;
        for (size_t c = 0; c < COMPONENT_BASE; c++) {
                row->component_w[c] += app->component_j[c] / seconds;
                table->used[c] |= app->component_j[c] > 0;
        }
        if (!reading->before)
                row->energy_j[TOP_SINCE_START] += known(app->energy_j.value);
}

static void read_sums(struct top_table *table, const struct top_reading *reading)
{
        const struct cost *cost = reading->cost;
        const struct cost_value total_j = cost_joules(&cost->total_j, cost->joule_part);
        struct top_sums *sums = &table->sums;
        double seconds = reading->seconds, none = reading->before ? 0 : 1;

        sums->base_w = cost->base_j / seconds;
        memset(sums->base_component_w, 0, sizeof(sums->base_component_w));
        sums->base_component_w[COMPONENT_WIFI] = cost->base_wifi_j / seconds;
        sums->base_component_w[COMPONENT_DISPLAY] = cost->base_display_j / seconds;
        sums->unattributed_w = cost->unexplained_j.value / seconds;
        sums->battery_w = cost->measured_j.value / seconds;
        sums->total_w = (struct cost_value){ total_j.value / seconds, total_j.low / seconds,
                                             total_j.high / seconds };
        sums->base_j[TOP_SINCE_START] += none * cost->base_j;
        sums->total_j[TOP_SINCE_START] += none * known(cost->total_j.value);
        if (reading->before)
                return;
        sums->unattributed_j[TOP_SINCE_START] += cost->unexplained_j.value;
        sums->battery_j[TOP_SINCE_START] += cost->measured_j.value;
        table->since_s += seconds;
}

int top_table_update(struct top_table *table, const struct top_reading *reading, bool ascii)
{
        const struct cost *cost = reading->cost;
        struct top_row *row, *next;

        HASH_ITER(hh, table->rows, row, next) {
                row->power_w = (struct cost_value){ 0, 0, 0 };
                memset(row->component_w, 0, sizeof(row->component_w));
        }
        for (size_t i = 0; i < cost->n_apps; i++) {
                row = find_row(table, &cost->apps[i], ascii);
                if (!row)
                        return -ENOMEM;
                read_app(table, row, &cost->apps[i], reading);
        }
        read_sums(table, reading);
        table->read = true;
        return top_table_arrange(table);
}

int top_table_recorded(struct top_table *table, const struct cost *cost, bool ascii)
{
        struct top_sums *sums = &table->sums;
        struct top_row *row, *next;

        HASH_ITER(hh, table->rows, row, next)
                row->energy_j[TOP_SINCE_FULL] = 0;
        for (size_t i = 0; i < cost->n_apps; i++) {
                row = find_row(table, &cost->apps[i], ascii);
                if (!row)
                        return -ENOMEM;
                row->energy_j[TOP_SINCE_FULL] += known(cost->apps[i].energy_j.value);
        }
        sums->base_j[TOP_SINCE_FULL] = cost->base_j;
        sums->total_j[TOP_SINCE_FULL] = cost->total_j.value;
        sums->unattributed_j[TOP_SINCE_FULL] = cost->unexplained_j.value;
        sums->battery_j[TOP_SINCE_FULL] = isnan(cost->unexplained_j.value) ? NAN : cost->measured_j.value;
        return top_table_arrange(table);
}

static double sort_value(const struct top_table *table, const struct top_row *row)
{
        switch (table->sort) {
        case TOP_BY_POWER:
                return known(row->power_w.value);
        case TOP_BY_USED:
                return row->energy_j[table->since];
        case TOP_BY_NAME:
                return 0;
        default:
                return known(row->component_w[table->sort - TOP_BY_COMPONENT]);
        }
}

/* Order of the rows: the highest value first, or names ascending; ties by energy, and then by name. */
static int compare(const void *a, const void *b, void *data)
{
        const struct top_row *one = *(struct top_row *const *)a, *other = *(struct top_row *const *)b;
        const struct top_table *table = data;
        double left = sort_value(table, one), right = sort_value(table, other);
        int way = table->reverse ? -1 : 1, names;

        if (left != right)
                return left < right ? way : -way;
        left = one->energy_j[table->since];
        right = other->energy_j[table->since];
        if (table->sort != TOP_BY_NAME && left != right)
                return left < right ? 1 : -1;
        names = strcasecmp(one->name, other->name);
        if (names == 0)
                names = strcmp(one->key.app, other->key.app);
        if (names != 0)
                return table->sort == TOP_BY_NAME ? names * way : names;
        return (int)other->key.state - (int)one->key.state;
}

static bool is_wanted(const struct top_table *table, const struct top_row *row)
{
        return !*table->filter || strcasestr(row->name, table->filter) || strcasestr(row->key.app, table->filter);
}

int top_table_arrange(struct top_table *table)
{
        struct top_row *row, *next;

        if (util_grow(&table->shown, &table->capacity, HASH_COUNT(table->rows) + 1, sizeof(*table->shown)) < 0)
                return -ENOMEM;
        table->n_shown = table->n_hidden = 0;
        table->hidden_w = table->hidden_j = 0;
        HASH_ITER(hh, table->rows, row, next) {
                if (is_wanted(table, row)) {
                        table->shown[table->n_shown++] = row;
                        continue;
                }
                table->n_hidden++;
                table->hidden_w += known(row->power_w.value);
                table->hidden_j += row->energy_j[table->since];
        }
        qsort_r(table->shown, table->n_shown, sizeof(struct top_row *), compare, table);
        return 0;
}
