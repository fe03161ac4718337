/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "options.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

/* Decimals that show @resolution with two digits of it, at most 4. */
static int decimals(double resolution)
{
        if (!(resolution > 0) || resolution >= 10)
                return 0;
        return (int)fmin(fmax(1 - floor(log10(resolution)), 0), 4);
}

char *format_number(double value, double resolution, char *buf)
{
        if (isnan(value))
                snprintf(buf, 32, "?");
        else
                snprintf(buf, 32, "%.*f", decimals(resolution), value);
        if (strspn(buf, "-0.") == strlen(buf) && buf[0] == '-') /* "-0.00" */
                memmove(buf, buf + 1, strlen(buf));
        return buf;
}

char *format_value(const struct cost_value *value, const char *unit, char *buf)
{
        double resolution = isnan(value->high) ? fabs(value->value) / 10 : (value->high - value->low) / 2;
        char number[32], low[32], high[32];

        if (isnan(value->value)) {
                snprintf(buf, 64, "?");
                return buf;
        }
        /* An interval that is wide beside the value shall not hide it. */
        resolution = fmin(resolution, fabs(value->value) / 2);
        format_number(value->value, resolution, number);
        if (isnan(value->low))
                snprintf(buf, 64, "%s %s", number, unit);
        else
                snprintf(buf, 64, "%s %s (%s .. %s)", number, unit,
                         format_number(value->low, resolution, low),
                         format_number(value->high, resolution, high));
        return buf;
}

char *format_duration(double seconds, char *buf)
{
        double minutes = round(seconds / 60);

        if (isnan(seconds))
                snprintf(buf, 32, "?");
        else if (seconds < 60)
                snprintf(buf, 32, "%.0f s", seconds);
        else if (minutes < 60)
                snprintf(buf, 32, "%.0f min", minutes);
        else if (minutes < 48 * 60)
                snprintf(buf, 32, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60));
        else
                snprintf(buf, 32, "%.0f d %.0f h", floor(minutes / 1440), floor(fmod(minutes, 1440) / 60));
        return buf;
}

static void percent_cell(struct table *table, double energy_j, const struct profile *profile)
{
        double percent = energy_j / J_PER_PERCENT(profile->energy_full_mwh);
        struct cost_value value = { percent, NAN, NAN };
        char buf[64];

        table_cell(table, "%s", format_value(&value, "%", buf));
}

static void energy_cell(struct table *table, double energy_j)
{
        char buf[32];

        if (isnan(energy_j))
                table_cell(table, "?");
        else
                table_cell(table, "%s J", format_number(energy_j, fmax(fabs(energy_j) / 100, 1), buf));
}

static void power_cell(struct table *table, double energy_j, double seconds)
{
        if (seconds > 0 && !isnan(energy_j))
                table_cell(table, "%.0f mW", energy_j * 1e3 / seconds);
        else
                table_cell(table, " ");
}

static void add_app(struct table *table, const struct cost_app *app)
{
        char percent[64], rate[64], duration[32];
        struct cost_value per_minute = { app->percent_per_minute.value, NAN, NAN };
        bool named = strcmp(app->name, app->app) != 0;

        table_row(table, TABLE_PLAIN);
        table_cell(table, named ? "%s [%s]" : "%s", app->name, app->app);
        table_cell(table, "%s", app->state == STATE_FOREGROUND ? "in front" : "background");
        table_cell(table, "%s", format_value(&app->percent, "%", percent));
        table_cell(table, "%s", isnan(per_minute.value) ? "" : format_value(&per_minute, "%/min", rate));
        power_cell(table, app->energy_j.value, app->active_s);
        energy_cell(table, app->energy_j.value);
        table_cell(table, "%s", app->active_s > 0 ? format_duration(app->active_s, duration) : "");
}

static void add_line(struct table *table, enum table_style style, const char *name, double energy_j,
                     double seconds, const struct profile *profile)
{
        char duration[32];

        table_row(table, style);
        table_cell(table, "%s", name);
        table_cell(table, " ");
        percent_cell(table, energy_j, profile);
        table_cell(table, " ");
        power_cell(table, energy_j, seconds);
        energy_cell(table, energy_j);
        table_cell(table, "%s", seconds > 0 ? format_duration(seconds, duration) : "");
}

/* Rows below a thousandth of all are told as one, where there are several of them; JSON has each. */
static void add_apps(struct table *table, const struct cost *cost, const struct profile *profile)
{
        double least_j = 1e-3 * cost->total_j.value, rest_j = 0;
        size_t n = cost->n_apps; /* dearest first */
        char name[64];

        while (n > 0 && cost->apps[n - 1].energy_j.value < least_j)
                rest_j += cost->apps[--n].energy_j.value;
        if (cost->n_apps - n < 4)
                n = cost->n_apps;
        for (size_t i = 0; i < n; i++)
                add_app(table, &cost->apps[i]);
        if (n == cost->n_apps)
                return;
        snprintf(name, sizeof(name), "%zu others", cost->n_apps - n);
        add_line(table, TABLE_PLAIN, name, rest_j, 0, profile);
}

static void print_title(const struct cost *cost, const struct profile *profile)
{
        char from[32], to[32], duration[32], device[PROFILE_NAME_MAX];

        util_printable(profile->device[0] ? profile->device : "unnamed", device, sizeof(device));
        if (cost->from_ns == INT64_MIN) {
                printf("Profile %s\n\n", device);
                return;
        }
        format_local(cost->from_ns, from, sizeof(from));
        format_local(cost->to_ns, to, sizeof(to));
        printf("%s .. %s (%s), profile %s\n\n", from, to,
               format_duration((double)(cost->to_ns - cost->from_ns) / 1e9, duration), device);
}

static void print_notes(const struct cost *cost, const struct profile *profile)
{
        char list[1024] = "";

        if (!isnan(cost->base_j))
                table_note("Base is nobody's: what the device needs awake, with its WiFi associated, its "
                           "screen on "
                           "for no app, and work that no process owns.");
        if (!isnan(cost->unexplained_j))
                table_note("Unexplained is what the battery gave beyond what the model says; it may be negative. "
                           "Apps%s and unexplained are the battery.", isnan(cost->base_j) ? "" : ", base");
        else if (!isnan(cost->measured_j) && !isnan(cost->total_j.value))
                table_note("The battery was not watched on battery power throughout, so nothing is called "
                           "unexplained.");
        if (cost->n_sleeps > 0)
                table_note("Suspended time is priced by what %u sleeps of this device drew.", cost->n_sleeps);
        if (isnan(profile->degrees_of_freedom))
                table_note("This profile has no standard errors, so there are no intervals.");
        for (size_t i = 0; i < cost->n_not_measured; i++) {
                size_t length = strlen(list);

                snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "", cost->not_measured[i]);
        }
        if (list[0])
                table_note("Not measured, and so in no sum: %s.", list);
}

int answer_cost_table(const struct cost *cost, const struct profile *profile)
{
        _cleanup_(table_freep) struct table *table = table_new("llrrrrr");
        double seconds = cost->from_ns == INT64_MIN ? 0 : (double)(cost->to_ns - cost->from_ns) / 1e9;
        char total[64];
        static const char *const heads[] = { "App", "", "Battery", "Rate", "Power", "Energy", "Time" };

        table_spare(table, "543"); /* JSON has them, and what is piped */
        table_row(table, TABLE_HEAD);
        for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
                table_cell(table, "%s", heads[i]);
        add_apps(table, cost, profile);
        if (!isnan(cost->base_j))
                add_line(table, TABLE_FAINT, "base", cost->base_j, seconds, profile);
        if (!isnan(cost->unexplained_j))
                add_line(table, TABLE_FAINT, "unexplained", cost->unexplained_j, seconds, profile);
        if (!isnan(cost->measured_j))
                add_line(table, TABLE_SUM, "battery", cost->measured_j, seconds, profile);
        else
                add_line(table, TABLE_SUM, "together", cost->total_j.value, seconds, profile);
        print_title(cost, profile);
        table_print(table);
        putchar('\n');
        if (!isnan(cost->total_j.low)) {
                struct cost_value percent = {
                        cost->total_j.value / J_PER_PERCENT(profile->energy_full_mwh),
                        cost->total_j.low / J_PER_PERCENT(profile->energy_full_mwh),
                        cost->total_j.high / J_PER_PERCENT(profile->energy_full_mwh),
                };
                table_note("By the model, apps%s are %s of the battery (95 of 100 times within).",
                           isnan(cost->base_j) ? "" : " and base", format_value(&percent, "%", total));
        }
        print_notes(cost, profile);
        return CODE_OK;
}
