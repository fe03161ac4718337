/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In Markdown: hours or days, sleeps, charges and battery health. */

#include <math.h>
#include <time.h>

#include "answer.h"
#include "markdown.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

/* Local hours for up to two days, else local days; slots that are longer stay as they are. */
static bool same_row(const struct timeline *timeline, int64_t one_ns, int64_t other_ns)
{
        time_t one = (time_t)(one_ns / (int64_t)NS_PER_S), other = (time_t)(other_ns / (int64_t)NS_PER_S);
        struct tm a, b;

        if (timeline->slot_s >= TIMELINE_DAY_S || !localtime_r(&one, &a) || !localtime_r(&other, &b))
                return false;
        return a.tm_yday == b.tm_yday && a.tm_year == b.tm_year &&
               (timeline->slot_s > TIMELINE_QUARTER_S || (a.tm_hour == b.tm_hour && a.tm_gmtoff == b.tm_gmtoff));
}

static void add_slot(const struct timeline *timeline, const struct timeline_slot *slot, struct timeline_slot *sum)
{
        sum->recorded_s += slot->recorded_s;
        sum->suspend_s += slot->suspend_s;
        sum->base_j += slot->base_j;
        sum->others_j += slot->others_j;
        for (size_t a = 0; a < timeline->n_apps; a++)
                sum->apps_j[a] += slot->apps_j[a];
}

static void time_row(FILE *file, const struct report *report, const struct timeline_slot *slot)
{
        const struct timeline *timeline = report->timeline;
        double total_j = slot->base_j + slot->others_j;
        size_t dearest = 0;
        char recorded[32];

        for (size_t a = 0; a < timeline->n_apps; a++) {
                total_j += slot->apps_j[a];
                dearest = slot->apps_j[a] > slot->apps_j[dearest] ? a : dearest;
        }
        markdown_row(file);
        markdown_time(file, slot->start_ns, timeline->slot_s > TIMELINE_QUARTER_S);
        markdown_word(file, answer_print_duration(slot->recorded_s, recorded));
        markdown_number(file, total_j / report->percent_j, 0.01, "%");
        markdown_number(file, slot->base_j / report->percent_j, 0.01, "%");
        if (timeline->n_apps && slot->apps_j[dearest] > 0) {
                markdown_name(file, timeline->apps[dearest].app, timeline->apps[dearest].name);
                markdown_number(file, slot->apps_j[dearest] / report->percent_j, 0.01, "%");
        } else {
                markdown_word(file, "");
                markdown_word(file, "");
        }
        markdown_row_end(file);
}

void markdown_times(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("From"), N_("Recorded"),        N_("Battery"),
                                             N_("Base"), "<" N_("Dearest app"), N_("Of it"),
                                             NULL };
        const struct timeline *timeline = report->timeline;

        fprintf(file, "## %s\n\n",
                timeline->slot_s == TIMELINE_QUARTER_S ? _("Hour by hour") :
                timeline->slot_s == TIMELINE_WEEK_S    ? _("Week by week") :
                                                         _("Day by day"));
        markdown_table(file, N_("Battery over time, by the model"), heads);
        for (size_t i = 0; i < timeline->n_slots;) {
                struct timeline_slot sum = { .start_ns = timeline->slots[i].start_ns };

                do
                        add_slot(timeline, &timeline->slots[i++], &sum);
                while (i < timeline->n_slots && same_row(timeline, sum.start_ns, timeline->slots[i].start_ns));
                if (sum.recorded_s > 0)
                        time_row(file, report, &sum);
        }
        markdown_table_end(file);
}

static void sleeps(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("From"), N_("Length"), N_("Battery"), N_("Power"), NULL };
        const struct timeline *timeline = report->timeline;
        char time[32], percent[32], power[32];
        double seconds, energy_j;
        size_t n = report_sleep_sum(timeline, &seconds, &energy_j);

        fprintf(file, "## %s\n\n", _("Sleeps"));
        if (n && seconds > 0)
                fprintf(file,
                        words_counted("%zu sleep of half an hour or more on battery, %s together, took "
                                      "%s %% of the battery: %s mW in the mean.",
                                      "%zu sleeps of half an hour or more on battery, %s together, "
                                      "took %s %% of the battery: %s mW in the mean.",
                                      n),
                        n, answer_print_duration(seconds, time),
                        answer_print_number(energy_j / report->percent_j, 0.1, percent),
                        answer_print_number(1e3 * energy_j / seconds, 1, power));
        fputs(n && seconds > 0 ? "\n\n" : "", file);
        if (timeline->n_sleeps == 0) {
                fputs(_("No sleep of half an hour or more on battery is recorded in this time.\n\n"), file);
                return;
        }
        markdown_table(file, N_("Sleeps"), heads);
        for (size_t i = timeline->n_sleeps; i-- > 0 && timeline->n_sleeps - i <= REPORT_ROWS_MAX;) {
                const struct store_sleep *sleep = &timeline->sleeps[i];
                double elapsed_s = (double)sleep->elapsed_ns / (double)NS_PER_S;

                markdown_row(file);
                markdown_time(file, sleep->end_ns - (int64_t)sleep->elapsed_ns, false);
                markdown_word(file, answer_print_duration(elapsed_s, time));
                markdown_number(file, sleep->discharge_j / report->percent_j, 0.01, "%");
                markdown_number(file, 1e3 * sleep->discharge_j / elapsed_s, 0.1, "mW");
                markdown_row_end(file);
        }
        markdown_table_end(file);
}

static void health(FILE *file, const struct report *report)
{
        const char *unit = report->design_is_charge ? "mAh" : "mWh";
        size_t first, last, n = report_known_charges(report, &first, &last);
        double full = n ? report_full(report, &report->timeline->charges[last]) : NAN;

        if (n == 0)
                fputs(_("The battery has not shown its full charge, or was not charged yet.\n\n"), file);
        else if (isnan(report->design))
                fprintf(file, _("It holds %.0f %s when full; its design is not known.\n\n"), full * 1e-3, unit);
        else
                fprintf(file, _("It holds %.0f %s when full, %.0f %% of its design of %.0f %s.\n\n"),
                        full * 1e-3, unit, 100 * full / report->design, report->design * 1e-3, unit);
}

static void charges(FILE *file, const struct report *report)
{
        static const char *const heads[] = {
                N_("From"),       "<" N_("State"),   N_("Length"), N_("Level then"),
                N_("At its end"), N_("Full charge"), NULL
        };
        const struct timeline *timeline = report->timeline;
        size_t rows = 0;

        if (timeline->n_charges == 0 || timeline->charges[timeline->n_charges - 1].start_ns < timeline->from_ns) {
                fputs(_("No change between charger and battery is recorded in this time.\n\n"), file);
                return;
        }
        markdown_table(file, N_("Charging, full, and on battery; the newest first"), heads);
        for (size_t i = timeline->n_charges;
             i-- > 0 && rows < REPORT_ROWS_MAX && timeline->charges[i].start_ns >= timeline->from_ns;
             rows++) {
                const struct store_charge *charge = &timeline->charges[i];
                double end_percent;
                char length[32];
                int64_t end_ns;

                report_charge_end(timeline, i, &end_ns, &end_percent);
                markdown_row(file);
                markdown_time(file, charge->start_ns, false);
                markdown_word(file, _(report_power_state(charge->state)));
                markdown_word(file,
                              answer_print_duration((double)(end_ns - charge->start_ns) / (double)NS_PER_S,
                                                    length));
                markdown_number(file, charge->level_percent, 10, "%");
                markdown_number(file, end_percent, 10, "%");
                markdown_number(file, report_full(report, charge) * 1e-3, 1, report->design_is_charge ? "mAh" : "mWh");
                markdown_row_end(file);
        }
        markdown_table_end(file);
}

void markdown_battery(FILE *file, const struct report *report)
{
        sleeps(file, report);
        fprintf(file, "## %s\n\n", _("Charging and battery health"));
        health(file, report);
        charges(file, report);
}
