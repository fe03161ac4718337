/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The summary, and the cost by app and by component: the numbers of `joulecast cost`. */

#include <math.h>
#include <string.h>

#include "answer.h"
#include "model/component.h"
#include "report.h"
#include "util/html.h"
#include "util/units.h"
#include "util/util.h"

const char *const report_components[COMPONENT_COUNT] = {
        [COMPONENT_CPU] = "CPU", [COMPONENT_DISPLAY] = "Display", [COMPONENT_DISK] = "Disk", [COMPONENT_WIFI] = "WiFi",
        [COMPONENT_GPU] = "GPU", [COMPONENT_CELLULAR] = "Cellular", [COMPONENT_GPS] = "GPS", [COMPONENT_AUDIO] = "Audio",
        [COMPONENT_CAMERA] = "Camera", [COMPONENT_UNSEEN] = "Unseen", [COMPONENT_BASE] = "Idle",
};

double report_half(const struct cost_value *value)
{
        double width = (value->high - value->low) / 2;

        return isnan(width) ? fabs(value->value) / 50 : width;
}

static void figure(FILE *file, const char *what, double value, double resolution, const char *unit)
{
        char text[32], whole[32];

        if (isnan(value))
                fprintf(file, "<div><dt>%s</dt><dd>unknown</dd></div>\n", what);
        else
                fprintf(file, "<div><dt>%s</dt><dd><data value=\"%s\">%s</data> <small>%s</small></dd></div>\n", what,
                        util_print_double(value, whole, sizeof(whole)), answer_print_number(value, resolution, text), unit);
}

void report_summary(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        double total = cost->total_j.value / report->percent_j, days = cost->recorded_s / 86400;
        double suspended_s = 0;

        for (size_t i = 0; i < report->timeline->n_slots; i++)
                suspended_s += report->timeline->slots[i].suspend_s;
        fputs("<dl class=\"figures\">\n", file);
        figure(file, "The battery gave", cost->measured_percent, 0.1, "% of a full one");
        figure(file, "By the model", total, (cost->total_j.high - cost->total_j.low) / report->percent_j, "%");
        if (days >= 2)
                figure(file, "A day", total / days, 0.1, "% by the model");
        else
                figure(file, "An hour", total / (cost->recorded_s / 3600), 0.01, "% by the model");
        figure(file, "Recorded", cost->recorded_s / 3600, 0.1, "h");
        figure(file, "Asleep", cost->recorded_s > 0 ? 100 * suspended_s / cost->recorded_s : NAN, 1, "% of the time");
        fputs("</dl>\n", file);
}

/* The bar: the value, and its interval as a line on it. */
static void bar(FILE *file, const struct cost_value *percent, double most)
{
        double scale = most > 0 ? 100 / most : 0;

        fputs("<td class=\"bar\" aria-hidden=\"true\">", file);
        if (!isnan(percent->value))
                fprintf(file, "<svg width=\"100%%\" height=\"14\"><rect class=\"c1\" width=\"%.1f%%\" height=\"14\"/>", percent->value * scale);
        if (!isnan(percent->value) && !isnan(percent->high))
                fprintf(file, "<line class=\"ci\" x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"7\" y2=\"7\"/>", percent->low * scale, percent->high * scale);
        fputs(isnan(percent->value) ? "</td>" : "</svg></td>", file);
}

static void app_row(FILE *file, const struct cost_app *app, double most)
{
        char time[32];

        fprintf(file, "<tr><th scope=\"row\">");
        report_name(file, app->app, app->name);
        fprintf(file, "</th><td class=\"text\">%s</td>", answer_state(app->state));
        report_cell(file, app->percent.value, report_half(&app->percent), "%");
        report_bounds(file, &app->percent, "%");
        bar(file, &app->percent, most);
        report_cell(file, app->energy_j.value, report_half(&app->energy_j), "J");
        fprintf(file, "<td>%s</td></tr>\n", answer_print_duration(app->active_s, time));
}

static void whole_row(FILE *file, const char *name, double energy_j, const struct cost_value *interval_j, double percent_j)
{
        const struct cost_value percent = { interval_j->value / percent_j, interval_j->low / percent_j, interval_j->high / percent_j };

        fprintf(file, "<tr class=\"sum\"><th scope=\"row\">%s</th><td></td>", name);
        report_cell(file, energy_j / percent_j, isnan(percent.low) ? 0.1 : report_half(&percent), "%");
        if (isnan(percent.low))
                fputs("<td></td>", file);
        else
                report_bounds(file, &percent, "%");
        fputs("<td></td>", file);
        report_cell(file, energy_j, isnan(interval_j->low) ? fabs(energy_j) / 100 : report_half(interval_j), "J");
        fputs("<td></td></tr>\n", file);
}

static void by_app(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "App", "<State", "Battery", "95 % interval", "<", "Energy", "Time", NULL };
        const struct cost *cost = report->cost;
        const struct cost_value none = { NAN, NAN, NAN };
        double most = 0;

        for (size_t i = 0; i < cost->n_apps; i++)
                most = fmax(most, isnan(cost->apps[i].percent.high) ? cost->apps[i].percent.value : cost->apps[i].percent.high);
        report_table(file, "Cost by app, in the foreground and in the background", heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++)
                app_row(file, &cost->apps[i], most);
        whole_row(file, "base", cost->base_j, &none, report->percent_j);
        whole_row(file, "model total", cost->total_j.value, &cost->total_j, report->percent_j);
        whole_row(file, "unattributed", cost->unexplained_j.value, &cost->unexplained_j, report->percent_j);
        whole_row(file, "battery", cost->measured_j.value, &cost->measured_j, report->percent_j);
        report_table_end(file);
        if (cost->n_apps > REPORT_ROWS_MAX)
                fprintf(file, "<p class=\"note\">%zu more rows are left out; joulecast cost has them all.</p>\n", cost->n_apps - REPORT_ROWS_MAX);
}

size_t report_shown_components(const struct cost *cost, size_t shown[COMPONENT_COUNT])
{
        size_t n = 0;

        for (size_t c = 0; c < COMPONENT_BASE; c++)
                for (size_t i = 0; i < cost->n_apps; i++)
                        if (cost->apps[i].component_j[c] > 0 || cost->apps[i].component_j[c] < 0) {
                                shown[n++] = c;
                                break;
                        }
        return n;
}

static void by_component(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        const char *heads[COMPONENT_COUNT + 3] = { "App", "<State" };
        size_t shown[COMPONENT_COUNT], n = report_shown_components(cost, shown);

        for (size_t c = 0; c < n; c++)
                heads[c + 2] = report_components[shown[c]];
        report_table(file, "Cost by component, J", heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++) {
                const struct cost_app *app = &cost->apps[i];

                fputs("<tr><th scope=\"row\">", file);
                report_name(file, app->app, app->name);
                fprintf(file, "</th><td class=\"text\">%s</td>", answer_state(app->state));
                for (size_t c = 0; c < n; c++)
                        report_cell(file, app->component_j[shown[c]], fabs(app->component_j[shown[c]]) / 100, "");
                fputs("</tr>\n", file);
        }
        report_table_end(file);
}

void report_apps(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;

        report_section(file, "apps", "Cost by app and component");
        by_app(file, report);
        if (isnan(cost->unexplained_j.value))
                fputs("<p class=\"note\">Unattributed energy is unknown, as the device was not on battery all the time.</p>\n", file);
        if (cost->n_not_measured) {
                fputs("<p class=\"note\">Not measured, and in no sum: ", file);
                for (size_t i = 0; i < cost->n_not_measured; i++) {
                        fputs(i ? ", " : "", file);
                        html_text(file, cost->not_measured[i]);
                }
                fputs(".</p>\n", file);
        }
        by_component(file, report);
        report_section_end(file);
}
