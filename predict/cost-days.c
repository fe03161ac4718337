/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cost-days.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "csv.h"
#include "names.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define DAYS_MAX 3700 /* ten years */
#define DEAREST 3

struct days {
        const struct ask *ask;
        const struct desktop_index *index;
        bool csv;
        struct cJSON *json;  /* else, or the table */
        struct table *table;
        size_t n;
};

/* The next local midnight, or -1. */
static int64_t next_day(int64_t time_ns)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -1;
        tm.tm_mday++;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        return (int64_t)mktime(&tm) * (int64_t)NS_PER_S;
}

static void dearest_cell(struct table *table, const struct cost *cost)
{
        char cell[512] = "", name[APP_ID_MAX + 2], number[32];
        size_t length = 0;

        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)DEAREST) && length < sizeof(cell); i++) {
                const struct cost_app *app = &cost->apps[i];

                if (!isnan(app->percent.value))
                        length += (size_t)snprintf(cell + length, sizeof(cell) - length, "%s%s %s %%", i ? ", " : "",
                                                   names_in_table(app->app, app->name, name, sizeof(name)),
                                                   answer_print_number(app->percent.value, app->percent.value / 5,
                                                                       number));
        }
        table_cell(table, "%s", cell);
}

static void add_row(struct days *days, int64_t start_ns, const struct cost *cost)
{
        double percent_j = J_PER_PERCENT(joulecast_profile_energy_full_mwh(days->ask->profile));
        struct cost_value total = { cost->total_j.value / percent_j, cost->total_j.low / percent_j,
                                    cost->total_j.high / percent_j };
        char day[32], text[64], bounds[64], duration[32], measured[32];

        values_print_local(start_ns, day, sizeof(day));
        day[strcspn(day, " ")] = '\0';
        table_row(days->table, TABLE_PLAIN);
        table_cell(days->table, "%s", day);
        table_cell(days->table, "%s", answer_print_duration(cost->recorded_s, duration));
        table_cell(days->table, "%s%s", answer_print_number(cost->measured_percent, 1, measured),
                   isnan(cost->measured_percent) ? "" : " %");
        table_cell(days->table, "%s", answer_print_value(&total, "%", text));
        table_cell(days->table, "%s", answer_print_bounds(&total, bounds));
        dearest_cell(days->table, cost);
}

/* 0, also for a day without anything; a negative errno. */
static int add_day(struct days *days, int64_t from_ns, int64_t to_ns)
{
        struct joulecast_cost *cost = NULL;
        int err = joulecast_cost_new(days->ask->profile, days->ask->usage, from_ns, to_ns, &cost);

        if (err)
                return err == -ENODATA ? 0 : err;
        names_localise(days->index, cost->cost);
        if (days->csv)
                csv_cost(cost->cost, days->ask->profile->profile);
        else if (days->json)
                cJSON_AddItemToArray(days->json, answer_cost_json(cost->cost, days->ask->profile->profile));
        else
                add_row(days, from_ns, cost->cost);
        joulecast_cost_free(cost);
        days->n++;
        return 0;
}

/* Each day that has a record. */
static int add_days(struct days *days, int64_t from_ns, int64_t to_ns)
{
        int64_t first_ns, last_ns;
        int err = joulecast_usage_span(days->ask->usage, &first_ns, &last_ns);

        if (err)
                return err;
        from_ns = MAX(from_ns, first_ns);
        to_ns = MIN(to_ns, last_ns);
        for (int i = 0; !err && i < DAYS_MAX && from_ns < to_ns; i++) {
                int64_t next_ns = next_day(from_ns);

                if (next_ns <= from_ns)
                        return -EOVERFLOW;
                err = add_day(days, from_ns, MIN(next_ns, to_ns));
                from_ns = next_ns;
        }
        return err ? err : days->n > 0 ? 0 : -ENODATA;
}

int cost_days(const struct ask *ask, const struct options *options, bool csv, int64_t from_ns, int64_t to_ns)
{
        struct desktop_index *index = options->device ? NULL : desktop_index_of_user();
        _cleanup_(table_freep) struct table *table = table_new("lrrrrl");
        struct cJSON *json = options->json ? cJSON_CreateObject() : NULL;
        struct days days = { .ask = ask, .index = index, .table = table, .csv = csv,
                             .json = cJSON_AddArrayToObject(json, "days") };
        int err;

        table_spare(table, "514");
        table_heads(table, N_("Day"), N_("Recorded"), N_("Battery"), N_("Model"), N_("95 % CI"), N_("Dearest"), NULL);
        if (csv)
                csv_cost_head();
        err = add_days(&days, from_ns, to_ns);
        desktop_index_free(index);
        if (err) {
                cJSON_Delete(json);
                return err;
        }
        if (csv)
                return CODE_OK;
        if (json)
                return answer_print_json(json);
        table_print(table);
        putchar('\n');
        table_note("Battery: what it gave, without the time on external power. Model: base and all apps.");
        answer_note_profile(ask->profile->profile);
        return CODE_OK;
}
