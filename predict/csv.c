/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "model/component.h"
#include "model/profile.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"
#include "values.h"

static bool begun;

static void begin_field(void)
{
        if (begun)
                putchar(',');
        begun = true;
}

void csv_text(const char *text)
{
        begin_field();
        if (!strpbrk(text, ",\"\n\r")) {
                fputs(text, stdout);
                return;
        }
        putchar('"');
        for (; *text; text++)
                printf(*text == '"' ? "\"\"" : "%c", *text);
        putchar('"');
}

void csv_number(double value)
{
        char text[32];

        begin_field();
        if (!isnan(value))
                fputs(util_print_double(value, text, sizeof(text)), stdout);
}

void csv_value(const struct cost_value *value)
{
        csv_number(value->value);
        csv_number(value->low);
        csv_number(value->high);
}

void csv_time(int64_t time_ns)
{
        char text[40] = "";

        if (time_ns != INT64_MIN)
                utc_print(time_ns, text, sizeof(text));
        csv_text(text);
}

void csv_end(void)
{
        fputs("\r\n", stdout);
        begun = false;
}

void csv_cost_head(void)
{
        fputs("from,to,kind,app,name,state,active_s,energy_j,energy_low_j,energy_high_j,percent,percent_low,"
              "percent_high",
              stdout);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        printf(",%s_j", component_names[c]);
        fputs("\r\n", stdout);
}

/* @joule_part: relative error of joules; 0 for energies that the battery itself measured. */
static void put_energy(const struct cost_value *energy_j, double joule_part, const struct profile *profile)
{
        const struct cost_value joules = cost_joules(energy_j, joule_part), percent = cost_percent(energy_j, profile);

        csv_value(&joules);
        csv_value(&percent);
}

/* Prints a line that is not for an app. */
static void put_line(const struct cost *cost, const char *kind, const struct cost_value *energy_j,
                     double joule_part, const struct profile *profile)
{
        csv_time(cost->from_ns);
        csv_time(cost->to_ns);
        csv_text(kind);
        csv_text("");
        csv_text("");
        csv_text("");
        csv_number(cost->recorded_s);
        put_energy(energy_j, joule_part, profile);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        csv_number(NAN);
        csv_end();
}

void csv_cost(const struct cost *cost, const struct profile *profile)
{
        const struct cost_value base = { cost->base_j, NAN, NAN };

        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                csv_time(cost->from_ns);
                csv_time(cost->to_ns);
                csv_text("app");
                csv_text(app->app);
                csv_text(app->name);
                csv_text(answer_state(app->state));
                csv_number(app->active_s);
                put_energy(&app->energy_j, cost->joule_part, profile);
                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        if (c != COMPONENT_BASE)
                                csv_number(app->component_j[c]);
                csv_end();
        }
        put_line(cost, "base", &base, 0, profile);
        put_line(cost, "total", &cost->total_j, cost->joule_part, profile);
        put_line(cost, "battery", &cost->measured_j, 0, profile);
        put_line(cost, "unattributed", &cost->unexplained_j, 0, profile);
}
