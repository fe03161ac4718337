/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two periods, or two apps, side by side. */

#include <math.h>
#include <string.h>

#include "answer.h"
#include "report.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define ROWS_MAX 40

const char *const report_compared_heads[] = {
        N_("App"),           "<" N_("State"),      N_("Now"), N_("95 % interval"), N_("Then"),
        N_("95 % interval"), "<" N_("Difference"), NULL
};

/* Percent per day of recorded time, so that periods of different length can be compared. */
static struct cost_value a_day(const struct cost_value *percent, double recorded_s)
{
        double per = 86400 / recorded_s;

        return (struct cost_value){ percent->value * per, percent->low * per, percent->high * per };
}

static void value_cells(FILE *file, const struct cost_value *value)
{
        double half = (value->high - value->low) / 2;

        page_cell(file, value->value, isnan(half) ? fabs(value->value) / 100 : half, "%");
        page_bounds(file, value, "%");
}

/* Intervals of both have errors of the same model, so that "cannot tell" is careful. */
const char *report_verdict(const struct cost_value *now, const struct cost_value *then)
{
        return isnan(now->low) || isnan(then->low) ? N_("unknown") :
               now->low > then->high ? N_("▲ more now") :
               now->high < then->low ? N_("▼ less now") : N_("cannot tell");
}

static void verdict(FILE *file, const struct cost_value *now, const struct cost_value *then)
{
        fprintf(file, "<td class=\"text\">%s</td></tr>\n", _(report_verdict(now, then)));
}

/* Or NULL. */
static const struct cost_app *find(const struct cost *cost, const char *app, enum app_state state)
{
        for (size_t i = 0; i < cost->n_apps; i++)
                if (cost->apps[i].state == state && strcmp(cost->apps[i].app, app) == 0)
                        return &cost->apps[i];
        return NULL;
}

void report_compared(FILE *file, const struct report *report, report_compared_row row)
{
        const struct cost_value nothing = { 0, 0, 0 };
        const struct cost *costs[2] = { report->cost, report->other };
        size_t rows = 0;

        for (size_t c = 0; c < 2; c++)
                for (size_t i = 0; i < costs[c]->n_apps && rows < ROWS_MAX; i++) {
                        const struct cost_app *app = &costs[c]->apps[i];
                        const struct cost_app *other = find(costs[!c], app->app, app->state);
                        const struct cost_value *percents[2] = { &nothing, &nothing };
                        struct cost_value now, then;

                        if (c == 1 && other)
                                continue;
                        percents[c] = &app->percent;
                        percents[!c] = other ? &other->percent : &nothing;
                        now = a_day(percents[0], report->cost->recorded_s);
                        then = a_day(percents[1], report->other->recorded_s);
                        row(file, app, &now, &then);
                        rows++;
                }
}

static void app_row(FILE *file, const struct cost_app *app, const struct cost_value *now, const struct cost_value *then)
{
        fputs("<tr><th scope=\"row\">", file);
        page_name(file, app->app, app->name);
        fprintf(file, "</th><td class=\"text\">%s</td>", _(answer_state(app->state)));
        value_cells(file, now);
        value_cells(file, then);
        verdict(file, now, then);
}

static void total_row(FILE *file, const struct report *report)
{
        struct cost_value now = { report->cost->total_j.value / report->percent_j,
                                  report->cost->total_j.low / report->percent_j,
                                  report->cost->total_j.high / report->percent_j };
        struct cost_value then = { report->other->total_j.value / report->percent_j,
                                   report->other->total_j.low / report->percent_j,
                                   report->other->total_j.high / report->percent_j };

        now = a_day(&now, report->cost->recorded_s);
        then = a_day(&then, report->other->recorded_s);
        fprintf(file, "<tr class=\"sum\"><th scope=\"row\">%s</th><td></td>", _("model total"));
        value_cells(file, &now);
        value_cells(file, &then);
        verdict(file, &now, &then);
}

static void span(FILE *file, const char *what, const struct cost *cost)
{
        char recorded[32];

        fprintf(file, "<b>%s</b>: ", what);
        page_time(file, cost->from_ns, false);
        fprintf(file, " %s ", _("to"));
        page_time(file, cost->to_ns, false);
        fprintf(file, _(", %s recorded. "), answer_print_duration(cost->recorded_s, recorded));
}

void report_compare(FILE *file, const struct report *report)
{
        if (!report->other)
                return;
        page_section(file, "compare", _("Two periods side by side"));
        fputs("<p>", file);
        span(file, _("Now"), report->cost);
        span(file, _("Then"), report->other);
        fputs("</p>\n", file);
        page_table(file, _("Percent of the battery for each day of recorded time"), report_compared_heads);
        report_compared(file, report, app_row);
        total_row(file, report);
        page_table_end(file);
        page_section_end(file);
}

/* One row with a value of both apps side by side, in one state. */
static void pair_row(FILE *file, const char *what, const struct cost_app *const apps[2],
                     const struct cost_value *(*get)(const struct cost_app *app), const char *unit)
{
        fprintf(file, "<tr><th scope=\"row\">%s</th>", what);
        for (size_t i = 0; i < 2; i++) {
                const struct cost_value none = { NAN, NAN, NAN }, *value = apps[i] ? get(apps[i]) : &none;
                double half = (value->high - value->low) / 2;

                if (!apps[i]) {
                        fprintf(file, "<td class=\"none\">%s</td><td></td>", _("not used"));
                        continue;
                }
                page_cell(file, value->value, isnan(half) ? fabs(value->value) / 100 : half, unit);
                page_bounds(file, value, unit);
        }
        fputs("</tr>\n", file);
}

static const struct cost_value *percent_of(const struct cost_app *app)
{
        return &app->percent;
}

static const struct cost_value *rate_of(const struct cost_app *app)
{
        return &app->percent_per_minute;
}

static void time_row(FILE *file, const char *what, const struct cost_app *const apps[2])
{
        char time[32];

        fprintf(file, "<tr><th scope=\"row\">%s</th>", what);
        for (size_t i = 0; i < 2; i++)
                fprintf(file, "<td>%s</td><td></td>",
                        apps[i] ? answer_print_duration(apps[i]->active_s, time) : _("none"));
        fputs("</tr>\n", file);
}

static void pair_of(FILE *file, const struct report *report, enum app_state state)
{
        const struct cost_app *const apps[2] = { find(report->cost, report->apps[0], state),
                                                 find(report->cost, report->apps[1], state) };
        bool front = state == STATE_FOREGROUND;

        if (!apps[0] && !apps[1])
                return;
        pair_row(file, front ? _("In the foreground") : _("In the background"), apps, percent_of, "%");
        pair_row(file, _("for each minute"), apps, rate_of, "%");
        time_row(file, _("time"), apps);
}

void report_compare_apps(FILE *file, const struct report *report)
{
        if (!report->apps[0])
                return;
        page_section(file, "compare-apps", _("Two apps side by side"));
        fprintf(file, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
                "<caption>%s</caption>\n<thead><tr><td></td>", _("Two apps side by side"),
                        _("What each took in this time"));
        for (size_t i = 0; i < 2; i++) {
                const struct cost_app *app = find(report->cost, report->apps[i], STATE_FOREGROUND);

                app = app ? app : find(report->cost, report->apps[i], STATE_BACKGROUND);
                fputs("<th scope=\"col\">", file);
                page_name(file, report->apps[i], app ? app->name : report->apps[i]);
                fprintf(file, "</th><th scope=\"col\">%s</th>", /* xgettext:no-c-format */ _("95 % interval"));
        }
        fputs("</tr></thead>\n<tbody>\n", file);
        pair_of(file, report, STATE_FOREGROUND);
        pair_of(file, report, STATE_BACKGROUND);
        page_table_end(file);
        page_section_end(file);
}
