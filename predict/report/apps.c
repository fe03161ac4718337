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
#include "util/words.h"

const char *const report_components[COMPONENT_COUNT] = {
        [COMPONENT_CPU] = N_("CPU"),       [COMPONENT_DISPLAY] = N_("Display"),
        [COMPONENT_DISK] = N_("Disk"),     [COMPONENT_WIFI] = N_("WiFi"),
        [COMPONENT_GPU] = N_("GPU"),       [COMPONENT_CELLULAR] = N_("Cellular"),
        [COMPONENT_GPS] = N_("GPS"),       [COMPONENT_AUDIO] = N_("Audio"),
        [COMPONENT_CAMERA] = N_("Camera"), [COMPONENT_UNSEEN] = N_("Unseen"),
        [COMPONENT_BASE] = N_("Idle"),
};

struct cost_value report_share(const struct report *report, const struct cost_value *percent)
{
        double part = report->percent_j / report->share_j;

        return (struct cost_value){ percent->value * part, percent->low * part, percent->high * part };
}

const char *report_share_words(const struct report *report)
{
        return report->share_j > report->percent_j ? _("full charges") :
                                                     /* xgettext:no-c-format */ _("% of a full charge");
}

double report_half(const struct cost_value *value)
{
        double width = (value->high - value->low) / 2;

        return isnan(width) ? fabs(value->value) / 10 : width;
}

static void figure(FILE *file, const char *what, double value, double resolution, const char *unit)
{
        char text[32], whole[32];

        if (isnan(value))
                fprintf(file, "<div><dt>%s</dt><dd>%s</dd></div>\n", what, _("unknown"));
        else
                fprintf(file,
                        "<div><dt>%s</dt><dd><data value=\"%s\">%s</data> <small>%s</small></dd></div>\n",
                        what, util_print_double(value, whole, sizeof(whole)),
                        answer_print_number(value, resolution, text), unit);
}

void report_summary(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        double total = cost->total_j.value / report->percent_j, days = cost->recorded_s / 86400;
        double suspended_s = 0;
        char recorded[32];

        for (size_t i = 0; i < report->timeline->n_slots; i++)
                suspended_s += report->timeline->slots[i].suspend_s;
        fputs("<dl class=\"figures\">\n", file);
        figure(file, _("The battery gave"), cost->measured_j.value / report->share_j, 1, report_share_words(report));
        figure(file, _("By the model"), cost->total_j.value / report->share_j, 1, report_share_words(report));
        if (days >= 2)
                figure(file, _("A day"), total / days, 1, _("% by the model"));
        else
                figure(file, _("An hour"), total / (cost->recorded_s / 3600), 1, _("% by the model"));
        fprintf(file, "<div><dt>%s</dt><dd><data value=\"%.0f\">%s</data></dd></div>\n", _("Recorded"),
                cost->recorded_s, answer_print_duration(cost->recorded_s, recorded));
        figure(file, _("Asleep"), cost->recorded_s > 0 ? 100 * suspended_s / cost->recorded_s : NAN, 10,
               /* xgettext:no-c-format */ _("% of the time"));
        fputs("</dl>\n", file);
}

/* The bar: the value, and its interval as a line on it. */
static void bar(FILE *file, const struct cost_value *percent, double most)
{
        double scale = most > 0 ? 100 / most : 0;

        fputs("<td class=\"bar minor\" aria-hidden=\"true\">", file);
        if (!isnan(percent->value))
                fprintf(file, "<svg width=\"100%%\" height=\"14\"><rect class=\"c1\" width=\"%.1f%%\" "
                              "height=\"14\"/>", percent->value * scale);
        if (!isnan(percent->value) && !isnan(percent->high))
                fprintf(file, "<line class=\"ci\" x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"7\" y2=\"7\"/>",
                        percent->low * scale, percent->high * scale);
        fputs(isnan(percent->value) ? "</td>" : "</svg></td>", file);
}

static void app_row(FILE *file, const struct report *report, const struct cost_app *app, double most)
{
        const struct cost_value used = report_share(report, &app->percent);
        char time[32];

        fprintf(file, "<tr><th scope=\"row\">");
        page_name(file, app->app, app->name);
        fprintf(file, "</th><td class=\"text\">%s</td>", _(answer_state(app->state)));
        page_cell(file, used.value, report_half(&used), report->share_unit);
        page_bounds(file, &used, report->share_unit);
        bar(file, &app->percent, most);
        page_cell(file, app->energy_j.value, report_half(&app->energy_j), "J");
        fprintf(file, "<td>%s</td></tr>\n", answer_print_duration(app->active_s, time));
}

static void whole_row(FILE *file, const struct report *report, const char *name, double energy_j,
                      const struct cost_value *interval_j)
{
        const struct cost_value used = { interval_j->value / report->share_j, interval_j->low / report->share_j,
                                         interval_j->high / report->share_j };

        fprintf(file, "<tr class=\"sum\"><th scope=\"row\">%s</th><td></td>", name);
        page_cell(file, energy_j / report->share_j, isnan(used.low) ? 0.1 : report_half(&used), report->share_unit);
        if (isnan(used.low))
                fputs("<td></td>", file);
        else
                page_bounds(file, &used, report->share_unit);
        fputs("<td class=\"minor\"></td>", file);
        page_cell(file, energy_j, isnan(interval_j->low) ? fabs(energy_j) / 100 : report_half(interval_j), "J");
        fputs("<td></td></tr>\n", file);
}

static void by_app(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("App"), "<" N_("State"), N_("Battery"), N_("95 % interval"),
                                             "<",       N_("Energy"),    N_("Time"),    NULL };
        const struct cost *cost = report->cost;
        const struct cost_value none = { NAN, NAN, NAN };
        double most = 0;

        for (size_t i = 0; i < cost->n_apps; i++)
                most = fmax(most, isnan(cost->apps[i].percent.high) ? cost->apps[i].percent.value :
                                                                      cost->apps[i].percent.high);
        page_table(file, _("Cost by app, in the foreground and in the background"), heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++)
                app_row(file, report, &cost->apps[i], most);
        whole_row(file, report, _("base"), cost->base_j, &none);
        whole_row(file, report, _("model total"), cost->total_j.value, &cost->total_j);
        whole_row(file, report, _("unattributed"), cost->unexplained_j.value, &cost->unexplained_j);
        whole_row(file, report, _("battery"), cost->measured_j.value, &cost->measured_j);
        page_table_end(file);
        if (cost->n_apps > REPORT_ROWS_MAX)
                fprintf(file, words_counted("<p class=\"note\">%zu more row is left out; joulecast cost has "
                                            "them all.</p>\n",
                                    "<p class=\"note\">%zu more rows are left out; joulecast cost has them all.</p>\n",
                                    cost->n_apps - REPORT_ROWS_MAX), cost->n_apps - REPORT_ROWS_MAX);
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
        const char *heads[COMPONENT_COUNT + 4] = { N_("App"), "<" N_("State"), "<" N_("By component") };
        size_t shown[COMPONENT_COUNT], n = report_shown_components(cost, shown);
        double most_j = 0;

        for (size_t c = 0; c < n; c++)
                heads[c + 3] = report_components[shown[c]];
        for (size_t i = 0; i < cost->n_apps; i++)
                most_j = fmax(most_j, cost->apps[i].energy_j.value);
        page_table(file, _("Cost by component, J"), heads);
        for (size_t i = 0; i < MIN(cost->n_apps, (size_t)REPORT_ROWS_MAX); i++) {
                const struct cost_app *app = &cost->apps[i];

                fputs("<tr><th scope=\"row\">", file);
                page_name(file, app->app, app->name);
                fprintf(file, "</th><td class=\"text\">%s</td>", _(answer_state(app->state)));
                page_component_bar(file, app->component_j, most_j > 0 ? 100 / most_j : 0);
                for (size_t c = 0; c < n; c++)
                        page_cell(file, app->component_j[shown[c]], fabs(app->component_j[shown[c]]) / 100, "");
                fputs("</tr>\n", file);
        }
        page_table_end(file);
        fprintf(file, "<ul class=\"legend\" aria-label=\"%s\">", _("Colours of components"));
        for (size_t c = 0; c < n; c++) {
                fputs("<li>", file);
                page_component_key(file, shown[c]);
                fprintf(file, "%s</li>", _(report_components[shown[c]]));
        }
        fputs("</ul>\n", file);
}

void report_apps(FILE *file, const struct report *report)
{
        const struct cost *cost = report->cost;
        char part[128];

        page_section(file, "apps", _("Cost by app and component"));
        by_app(file, report);
        if (isnan(cost->unexplained_j.value))
                fprintf(file, "<p class=\"note\">%s</p>\n",
                        _("Unattributed energy is unknown, as the device was not on battery all the time."));
        if (cost->n_not_measured) {
                fprintf(file, "<p class=\"note\">%s ", _("Not measured, and in no sum:"));
                for (size_t i = 0; i < cost->n_not_measured; i++) {
                        fputs(i ? ", " : "", file);
                        html_text(file, answer_part(cost->not_measured[i], part, sizeof(part)));
                }
                fputs(".</p>\n", file);
        }
        by_component(file, report);
        page_section_end(file);
}
