/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* When it was charged, and what a full charge is against its design. */

#include <math.h>

#include "answer.h"
#include "report.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define POINTS_MAX 200

double report_full(const struct report *report, const struct store_charge *charge)
{
        return report->design_is_charge ? charge->charge_full_uah : charge->energy_full_uwh;
}

static void draw_health(FILE *file, const struct report *report, size_t first, size_t n)
{
        const struct timeline *timeline = report->timeline;
        double scale = 1e-3, design = report->design * scale, most = isnan(design) ? 0 : design;
        struct plot plot = { file, timeline->charges[first].start_ns,       timeline->to_ns, 0, 0,
                             150,  report->design_is_charge ? "mAh" : "mWh" };
        size_t step = n / POINTS_MAX + 1;
        bool begun = false;

        for (size_t i = first; i < timeline->n_charges; i++)
                most = fmax(most, report_full(report, &timeline->charges[i]) * scale);
        plot.top = plot_nice(most);
        plot_begin(&plot, "health", _("Full charge over time"),
                   _("What the battery holds when full, at each change of power; dashed: its design."));
        if (!isnan(design)) {
                fprintf(file, "<path class=\"design\" d=\"M0 %.1fH1000\"><title>", plot_y(&plot, design));
                fprintf(file, _("design: %.0f %s"), design, plot.unit);
                fputs("</title></path>\n", file);
        }
        fputs("<path class=\"level\" d=\"", file);
        for (size_t i = first; i < timeline->n_charges; i++) {
                double full = report_full(report, &timeline->charges[i]) * scale;

                if (isnan(full) || ((i - first) % step && i + 1 < timeline->n_charges))
                        continue;
                fprintf(file, "%s%.1f %.1f", begun ? "L" : "M", plot_x(&plot, timeline->charges[i].start_ns),
                        plot_y(&plot, full));
                begun = true;
        }
        fputs("\"/>\n", file);
        plot_end(&plot);
}

size_t report_known_charges(const struct report *report, size_t *first, size_t *last)
{
        const struct timeline *timeline = report->timeline;
        size_t n = 0;

        *first = timeline->n_charges;
        *last = 0;
        for (size_t i = timeline->n_charges; i-- > 0;) {
                if (isnan(report_full(report, &timeline->charges[i])))
                        continue;
                *last = n == 0 ? i : *last;
                *first = i;
                n++;
        }
        return n;
}

static void health(FILE *file, const struct report *report)
{
        const struct timeline *timeline = report->timeline;
        const char *unit = report->design_is_charge ? "mAh" : "mWh";
        size_t first, last, n = report_known_charges(report, &first, &last);

        fprintf(file, "<h3>%s</h3>\n", _("Health: a full charge over time"));
        if (n == 0) {
                fprintf(file, "<p>%s</p>\n", _("The battery has not shown its full charge, or was not charged yet."));
                return;
        }
        if (isnan(report->design))
                fprintf(file, _("<p>It holds <b>%.0f&nbsp;%s</b> when full; its design is not known.</p>\n"),
                        report_full(report, &timeline->charges[last]) * 1e-3, unit);
        else
                fprintf(file,
                        _("<p>It holds <b>%.0f&nbsp;%s</b> when full, <b>%.0f&nbsp;%%</b> of its "
                          "design of %.0f %s.</p>\n"),
                        report_full(report, &timeline->charges[last]) * 1e-3, unit,
                        100 * report_full(report, &timeline->charges[last]) / report->design,
                        report->design * 1e-3, unit);
        if (n > 1)
                draw_health(file, report, first, n);
}

const char *report_power_state(enum store_power_state state)
{
        static const char *const states[] = { N_("on battery"), N_("charging"), N_("full") };

        return states[state];
}

void report_charge_end(const struct timeline *timeline, size_t at, int64_t *end_ns, double *end_percent)
{
        bool newest = at + 1 == timeline->n_charges;

        *end_ns = newest ? timeline->to_ns : timeline->charges[at + 1].start_ns;
        *end_percent = !newest ? timeline->charges[at + 1].level_percent :
                       timeline->n_levels ? timeline->levels[timeline->n_levels - 1].percent : NAN;
}

static void charge_row(FILE *file, const struct report *report, size_t at)
{
        const struct store_charge *charge = &report->timeline->charges[at];
        int64_t end_ns;
        double end_percent;
        char length[32];

        report_charge_end(report->timeline, at, &end_ns, &end_percent);
        fputs("<tr><th scope=\"row\">", file);
        page_time(file, charge->start_ns, false);
        fprintf(file, "</th><td class=\"text\">%s</td><td>%s</td>", _(report_power_state(charge->state)),
                answer_print_duration((double)(end_ns - charge->start_ns) / (double)NS_PER_S, length));
        page_cell(file, charge->level_percent, 10, "%");
        page_cell(file, end_percent, 10, "%");
        page_cell(file, report_full(report, charge) * 1e-3, 10, report->design_is_charge ? "mAh" : "mWh");
        fputs("</tr>\n", file);
}

static void charges(FILE *file, const struct report *report)
{
        static const char *const heads[] = {
                N_("From"),       "<" N_("State"),   N_("Length"), N_("Level then"),
                N_("At its end"), N_("Full charge"), NULL
        };
        const struct timeline *timeline = report->timeline;
        size_t n = 0, rows = 0, times = 0;

        for (size_t i = 0; i < timeline->n_charges; i++) {
                n += timeline->charges[i].start_ns >= timeline->from_ns;
                times += timeline->charges[i].start_ns >= timeline->from_ns &&
                         timeline->charges[i].state == STORE_CHARGING;
        }
        if (n == 0) {
                fprintf(file, "<p>%s</p>\n", _("No change between charger and battery is recorded in this time."));
                return;
        }
        fprintf(file, "<h3>%s</h3>\n<p>", _("Charges"));
        fprintf(file, words_counted("Charged <b>%zu</b> time in this time.",
                                    "Charged <b>%zu</b> times in this time.", times), times);
        fprintf(file, "</p>\n<details%s>\n<summary>%s</summary>\n", n <= 12 ? " open" : "", _("All changes of power"));
        page_table(file, _("Charging, full, and on battery; the newest first"), heads);
        for (size_t i = timeline->n_charges;
             i-- > 0 && rows < REPORT_ROWS_MAX && timeline->charges[i].start_ns >= timeline->from_ns; rows++)
                charge_row(file, report, i);
        page_table_end(file);
        fputs("</details>\n", file);
        if (n > rows)
                fprintf(file, words_counted("<p class=\"note\">%zu older row is left out; joulecast report "
                                            "--json has it.</p>\n",
                                    "<p class=\"note\">%zu older rows are left out; joulecast report --json "
                                    "has them.</p>\n", n - rows),
                        n - rows);
}

void report_battery(FILE *file, const struct report *report)
{
        page_section(file, "battery", _("Charging and battery health"));
        health(file, report);
        charges(file, report);
        page_section_end(file);
}
