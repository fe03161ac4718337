/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast cost --by component`: joules of each app by component, with sums that add up. */

#include <math.h>
#include <stdio.h>

#include "answer.h"
#include "options.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

/* Columns of numbers: the components (COMPONENT_BASE: idle power), and the sum. */
#define COLUMNS (COMPONENT_COUNT + 1)
#define SUM COMPONENT_COUNT

struct parts {
        double sums_j[COLUMNS];
        bool shown[COLUMNS]; /* any row has some; components that are unknown in all rows are in the notes */
        int decimals; /* the same in all cells, so that they add up to a rounding of each */
};

static void base_of(const struct cost *cost, double ret[COLUMNS])
{
        for (size_t c = 0; c < COLUMNS; c++)
                ret[c] = 0;
        ret[COMPONENT_DISPLAY] = cost->base_display_j;
        ret[COMPONENT_WIFI] = cost->base_wifi_j;
        ret[COMPONENT_BASE] = cost->base_idle_j;
        ret[SUM] = cost->base_j;
}

static void app_of(const struct cost_app *app, double ret[COLUMNS])
{
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                ret[c] = app->component_j[c];
        ret[SUM] = app->energy_j.value;
}

static void add_up(struct parts *parts, const double row[COLUMNS])
{
        for (size_t c = 0; c < COLUMNS; c++) {
                parts->shown[c] = parts->shown[c] || (!isnan(row[c]) && row[c] != 0);
                parts->sums_j[c] += isnan(row[c]) ? 0 : row[c];
        }
}

static void sum_up(const struct cost *cost, struct parts *parts)
{
        double row[COLUMNS];

        for (size_t i = 0; i < cost->n_apps; i++) {
                app_of(&cost->apps[i], row);
                add_up(parts, row);
        }
        if (!isnan(cost->base_j)) {
                base_of(cost, row);
                add_up(parts, row);
        }
        parts->shown[SUM] = true;
        parts->decimals = parts->sums_j[SUM] >= 1000 ? 1 : parts->sums_j[SUM] >= 10 ? 2 : 3;
}

static void add_cells(struct table *table, const struct parts *parts, const double row[COLUMNS])
{
        for (size_t c = 0; c < COLUMNS; c++) {
                if (!parts->shown[c] || row[c] == 0)
                        table_cell(table, "%s", "");
                else if (isnan(row[c]))
                        table_cell(table, "?");
                else
                        table_cell(table, "%.*f", parts->decimals, row[c]);
        }
}

static void add_row(struct table *table, enum table_style style, const char *name, const struct parts *parts,
                    const double row[COLUMNS])
{
        table_row(table, style);
        table_cell(table, "%s", name);
        table_cell(table, "%s", "");
        add_cells(table, parts, row);
}

/* Adds a row without components: the energy that the battery gave. */
static void add_whole(struct table *table, enum table_style style, const char *name, const struct parts *parts,
                      double energy_j)
{
        double row[COLUMNS] = { [SUM] = energy_j };

        add_row(table, style, name, parts, row);
}

static void add_apps(struct table *table, const struct cost *cost, const struct parts *parts)
{
        struct cost_value rest_j;
        struct parts rest = { 0 };
        size_t n = answer_cost_shown(cost, &rest_j);
        double row[COLUMNS];
        char name[64];

        for (size_t i = 0; i < cost->n_apps; i++) {
                app_of(&cost->apps[i], row);
                if (i >= n) {
                        add_up(&rest, row);
                        continue;
                }
                table_row(table, TABLE_PLAIN);
                answer_cost_name(table, cost, &cost->apps[i]);
                table_cell(table, "%s", _(answer_state(cost->apps[i].state)));
                add_cells(table, parts, row);
        }
        snprintf(name, sizeof(name), words_counted("%zu other", "%zu others", cost->n_apps - n), cost->n_apps - n);
        if (n < cost->n_apps)
                add_row(table, TABLE_PLAIN, name, parts, rest.sums_j);
}

static void add_heads(struct table *table, const struct parts *parts)
{
        static const char *const heads[COLUMNS] = {
                [COMPONENT_CPU] = N_("CPU"),       [COMPONENT_DISPLAY] = N_("Display"),
                [COMPONENT_DISK] = N_("Disk"),     [COMPONENT_WIFI] = N_("WiFi"),
                [COMPONENT_GPU] = N_("GPU"),       [COMPONENT_CELLULAR] = N_("Cellular"),
                [COMPONENT_GPS] = N_("GPS"),       [COMPONENT_AUDIO] = N_("Audio"),
                [COMPONENT_CAMERA] = N_("Camera"), [COMPONENT_UNSEEN] = N_("Unseen"),
                [COMPONENT_BASE] = N_("Idle"),     [SUM] = N_("Sum"),
        };

        table_heads(table, N_("App"), N_("State"), NULL);
        for (size_t c = 0; c < COLUMNS; c++)
                table_cell(table, "%s", parts->shown[c] ? _(heads[c]) : "");
}

int answer_parts_table(const struct cost *cost, const struct profile *profile)
{
        _cleanup_(table_freep) struct table *table = table_new("nlrrrrrrrrrrrr");
        struct parts parts = { 0 };
        double row[COLUMNS];

        _Static_assert(COLUMNS == 12, "as many columns of the table");
        table_spare(table, "1"); /* and no number: they add up */
        sum_up(cost, &parts);
        add_heads(table, &parts);
        add_apps(table, cost, &parts);
        if (!isnan(cost->base_j)) {
                base_of(cost, row);
                add_row(table, TABLE_FAINT, _("base"), &parts, row);
        }
        add_row(table, TABLE_SUM, _("model total"), &parts, parts.sums_j);
        if (!isnan(cost->unexplained_j.value))
                add_whole(table, TABLE_FAINT, _("unattributed"), &parts, cost->unexplained_j.value);
        if (!isnan(cost->measured_j.value))
                add_whole(table, TABLE_SUM, _("battery"), &parts, cost->measured_j.value);
        answer_cost_title(cost, profile);
        table_print(table);
        putchar('\n');
        table_note("Joules; 1 %% of the battery is %.4g J.", J_PER_PERCENT(profile->energy_full_mwh));
        answer_cost_notes(cost, profile);
        return CODE_OK;
}
