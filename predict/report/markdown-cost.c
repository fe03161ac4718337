/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Costs in Markdown: by app, by component, and beside another time or another app. */

#include <math.h>
#include <string.h>

#include "answer.h"
#include "markdown.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

static void app_row(FILE *file, const struct report *report, const struct cost_app *app)
{
        const struct cost_value used = report_share(report, &app->percent);
        char time[32];

        markdown_row(file);
        markdown_name(file, app->app, app->name);
        markdown_word(file, _(answer_state(app->state)));
        markdown_value(file, &used, report->share_unit);
        markdown_number(file, app->energy_j.value, report_half(&app->energy_j), "J");
        markdown_word(file, answer_print_duration(app->active_s, time));
        markdown_row_end(file);
}

static void whole_row(FILE *file, const struct report *report, const char *name, const struct cost_value *energy_j)
{
        const struct cost_value used = { energy_j->value / report->share_j, energy_j->low / report->share_j,
                                         energy_j->high / report->share_j };

        markdown_row(file);
        markdown_word(file, _(name));
        markdown_word(file, "");
        markdown_value(file, &used, report->share_unit);
        markdown_number(file, energy_j->value, report_half(energy_j), "J");
        markdown_word(file, "");
        markdown_row_end(file);
}

static void by_app(FILE *file, const struct report *report)
{
        static const char *const heads[] = {
                N_("App"), "<" N_("State"), N_("Battery"), N_("95 % interval"), N_("Energy"), N_("Time"), NULL
        };
        const struct cost *cost = report->cost;
        const struct cost_value base_j = { cost->base_j, NAN, NAN };

        markdown_table(file, N_("Cost by app, in the foreground and in the background"), heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++)
                app_row(file, report, &cost->apps[i]);
        whole_row(file, report, N_("*base*"), &base_j);
        whole_row(file, report, N_("*model total*"), &cost->total_j);
        whole_row(file, report, N_("*unattributed*"), &cost->unexplained_j);
        whole_row(file, report, N_("*battery*"), &cost->measured_j);
        markdown_table_end(file);
        if (cost->n_apps > REPORT_ROWS_MAX)
                fprintf(file, words_counted("%zu more row is left out; joulecast cost has them all.\n\n",
                                            "%zu more rows are left out; joulecast cost has them all.\n\n",
                                            cost->n_apps - REPORT_ROWS_MAX), cost->n_apps - REPORT_ROWS_MAX);
}

static void by_component(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        const char *heads[COMPONENT_COUNT + 3] = { N_("App"), "<" N_("State") };
        size_t shown[COMPONENT_COUNT], n = report_shown_components(cost, shown);

        for (size_t c = 0; c < n; c++)
                heads[c + 2] = report_components[shown[c]];
        markdown_table(file, N_("Cost by component, J"), heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++) {
                const struct cost_app *app = &cost->apps[i];

                markdown_row(file);
                markdown_name(file, app->app, app->name);
                markdown_word(file, _(answer_state(app->state)));
                for (size_t c = 0; c < n; c++)
                        markdown_number(file, app->component_j[shown[c]], fabs(app->component_j[shown[c]]) / 100, "");
                markdown_row_end(file);
        }
        markdown_table_end(file);
}

void markdown_costs(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        char part[128];

        fprintf(file, "## %s\n\n", _("Cost by app and component"));
        by_app(file, report);
        if (isnan(cost->unexplained_j.value))
                fputs(_("Unattributed energy is unknown, as the device was not on battery all the time.\n\n"), file);
        if (cost->n_not_measured) {
                fputs(_("Not measured, and in no sum: "), file);
                for (size_t i = 0; i < cost->n_not_measured; i++) {
                        fputs(i ? ", " : "", file);
                        markdown_text(file, answer_part(cost->not_measured[i], part, sizeof(part)));
                }
                fputs(".\n\n", file);
        }
        by_component(file, report);
}

static void compared_row(FILE *file, const struct cost_app *app, const struct cost_value *now,
                         const struct cost_value *then)
{
        markdown_row(file);
        markdown_name(file, app->app, app->name);
        markdown_word(file, _(answer_state(app->state)));
        markdown_value(file, now, "%");
        markdown_value(file, then, "%");
        markdown_word(file, _(report_verdict(now, then)));
        markdown_row_end(file);
}

static void two_periods(FILE *file, const struct report *report)
{
        char from[32], to[32];

        fprintf(file, "## %s\n\n", _("Two periods side by side"));
        fprintf(file, _("Now: %s to %s. "), page_when(report->cost->from_ns, false, from),
                page_when(report->cost->to_ns, false, to));
        fprintf(file, _("Then: %s to %s.\n\n"), page_when(report->other->from_ns, false, from),
                page_when(report->other->to_ns, false, to));
        markdown_table(file, N_("Percent of the battery for each day of recorded time"), report_compared_heads);
        report_compared(file, report, compared_row);
        markdown_table_end(file);
}

static void two_apps(FILE *file, const struct report *report)
{
        static const char *const heads[] = {
                N_("App"), "<" N_("State"), N_("Battery"), N_("95 % interval"), N_("Energy"), N_("Time"), NULL
        };

        fprintf(file, "## %s\n\n", _("Two apps side by side"));
        markdown_table(file, N_("What each took in this time"), heads);
        for (size_t i = 0; i < 2; i++)
                for (size_t k = 0; k < report->cost->n_apps; k++)
                        if (strcmp(report->cost->apps[k].app, report->apps[i]) == 0)
                                app_row(file, report, &report->cost->apps[k]);
        markdown_table_end(file);
}

void markdown_compare(FILE *file, const struct report *report)
{
        if (report->other)
                two_periods(file, report);
        if (report->apps[0])
                two_apps(file, report);
}
