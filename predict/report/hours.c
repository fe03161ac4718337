/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Hour by hour: a row for each day, a column for each hour of it; and a table of the slots of the curve. */

#include <math.h>
#include <time.h>

#include "report.h"
#include "util/html.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

static int hour_of(int64_t time_ns, int *day)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -1;
        *day = tm.tm_yday;
        return tm.tm_hour;
}

/* The shade is the number, not instead of it. */
static void hour_cell(FILE *file, int hour, double percent, double most)
{
        char whole[32];

        if (isnan(percent))
                fprintf(file, "<td class=\"none\" data-head=\"%d\"></td>", hour);
        else
                fprintf(file, "<td data-head=\"%d\" style=\"--heat:%.0f%%\"><data value=\"%s\">%.*f</data></td>", hour,
                        most > 0 ? 60 * percent / most : 0,
                        util_print_double(percent, whole, sizeof(whole)), percent < 9.95 ? 1 : 0, percent);
}

static void day_row(FILE *file, const struct report *report, int64_t start_ns, const double percent[24], double most)
{
        fputs("<tr><th scope=\"row\">", file);
        page_time(file, start_ns, true);
        fputs("</th>", file);
        for (int h = 0; h < 24; h++)
                hour_cell(file, h, percent[h], most);
        fputs("</tr>\n", file);
}

static void heat(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("Day"), "0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",
                                             "8",       "9",  "10", "11", "12", "13", "14", "15", "16",
                                             "17",      "18", "19", "20", "21", "22", "23", NULL };
        const struct timeline *timeline = report->timeline;
        double percent[24], most = 0;
        int day = -1, at = -1;
        int64_t start_ns = 0;

        for (size_t i = 0; i < timeline->n_hours; i++)
                most = fmax(most, timeline->hours[i].energy_j / report->percent_j);
        page_table(file, _("Percent of the battery in each hour, by the model"), heads);
        for (size_t i = 0; i < timeline->n_hours; i++) {
                const struct timeline_hour *hour = &timeline->hours[i];
                int h = hour_of(hour->start_ns, &at);

                if (h < 0)
                        continue;
                if (at != day && day >= 0)
                        day_row(file, report, start_ns, percent, most);
                if (at != day) {
                        start_ns = hour->start_ns;
                        for (int k = 0; k < 24; k++)
                                percent[k] = NAN;
                }
                day = at;
                if (hour->recorded_s > 0) /* one hour of the day comes twice in autumn */
                        percent[h] = (isnan(percent[h]) ? 0 : percent[h]) + hour->energy_j / report->percent_j;
        }
        if (day >= 0)
                day_row(file, report, start_ns, percent, most);
        page_table_end(file);
}

static void slots(FILE *file, const struct report *report)
{
        const struct timeline *timeline = report->timeline;
        static const char *const heads[] = { N_("From"),  N_("Battery"), N_("Base"), "<" N_("Dearest app"),
                                             N_("Of it"), NULL };
        bool days = timeline->slot_s >= TIMELINE_DAY_S;

        fputs("<details>\n<summary>", file);
        fprintf(file,
                words_counted("The same as a table: %zu row", "The same as a table: %zu rows",
                              timeline->n_slots),
                timeline->n_slots);
        fputs("</summary>\n", file);
        page_table(file, _("Battery over time, by the model"), heads);
        for (size_t i = 0; i < timeline->n_slots; i++) {
                const struct timeline_slot *slot = &timeline->slots[i];
                double total_j = slot->base_j + slot->others_j, most_j = 0;
                size_t dearest = 0;

                for (size_t a = 0; a < timeline->n_apps; a++) {
                        total_j += slot->apps_j[a];
                        dearest = slot->apps_j[a] > slot->apps_j[dearest] ? a : dearest;
                        most_j = fmax(most_j, slot->apps_j[a]);
                }
                fputs("<tr><th scope=\"row\">", file);
                page_time(file, slot->start_ns, days);
                fputs("</th>", file);
                page_cell(file, total_j / report->percent_j, 0.01, "%");
                page_cell(file, slot->base_j / report->percent_j, 0.01, "%");
                fputs("<td class=\"text\">", file);
                if (most_j > 0)
                        page_name(file, timeline->apps[dearest].app, timeline->apps[dearest].name);
                fputs("</td>", file);
                page_cell(file, most_j / report->percent_j, 0.01, "%");
                fputs("</tr>\n", file);
        }
        page_table_end(file);
        fputs("</details>\n", file);
}

void report_hours(FILE *file, const struct report *report)
{
        bool any = false;

        page_section(file, "hours", _("Hour by hour"));
        for (size_t i = 0; i < report->timeline->n_hours; i++)
                any = any || report->timeline->hours[i].recorded_s > 0;
        if (any)
                heat(file, report);
        else
                fprintf(file, "<p>%s</p>\n", _("Hours of this time are no longer kept, only days."));
        slots(file, report);
        page_section_end(file);
}
