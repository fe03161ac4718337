/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Long sleeps on battery, and what they cost. */

#include <math.h>

#include "answer.h"
#include "report.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

size_t report_sleep_sum(const struct timeline *timeline, double *seconds, double *energy_j)
{
        size_t n = 0;

        *seconds = *energy_j = 0;
        for (size_t i = 0; i < timeline->n_sleeps; i++) {
                if (isnan(timeline->sleeps[i].discharge_j))
                        continue;
                n++;
                *seconds += (double)timeline->sleeps[i].elapsed_ns / (double)NS_PER_S;
                *energy_j += timeline->sleeps[i].discharge_j;
        }
        return n;
}

static void total(FILE *file, const struct report *report)
{
        double seconds, energy_j;
        char time[32], percent[32], power[32];
        size_t n = report_sleep_sum(report->timeline, &seconds, &energy_j);

        if (n == 0 || seconds <= 0)
                return;
        fprintf(file,
                words_counted("<p>%zu sleep of half an hour or more on battery, %s together, took <b>"
                              "%s&nbsp;%%</b> of the battery: %s mW in the mean.</p>\n",
                              "<p>%zu sleeps of half an hour or more on battery, %s together, took <b>"
                              "%s&nbsp;%%</b> of the battery: %s mW in the mean.</p>\n",
                              n),
                n, answer_print_duration(seconds, time),
                answer_print_number(energy_j / report->percent_j, 0.1, percent),
                answer_print_number(1e3 * energy_j / seconds, 1, power));
}

static void row(FILE *file, const struct store_sleep *sleep, double percent_j)
{
        double elapsed_s = (double)sleep->elapsed_ns / (double)NS_PER_S;
        char time[32];

        fputs("<tr><th scope=\"row\">", file);
        page_time(file, sleep->end_ns - (int64_t)sleep->elapsed_ns, false);
        fprintf(file, "</th><td>%s</td>", answer_print_duration(elapsed_s, time));
        page_cell(file, sleep->discharge_j / percent_j, 0.01, "%");
        page_cell(file, 1e3 * sleep->discharge_j / elapsed_s, 0.1, "mW");
        fputs("</tr>\n", file);
}

void report_sleeps(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("From"), N_("Length"), N_("Battery"), N_("Power"), NULL };
        const struct timeline *timeline = report->timeline;

        page_section(file, "sleeps", _("Sleeps"));
        total(file, report);
        if (timeline->n_sleeps == 0)
                fprintf(file, "<p>%s</p>\n", _("No sleep of half an hour or more on battery is recorded in "
                                               "this time."));
        else
                {
                fprintf(file, "<details%s>\n<summary>", timeline->n_sleeps <= 10 ? " open" : "");
                fprintf(file, _("All %zu"), timeline->n_sleeps);
                fputs("</summary>\n", file);
        }
        if (timeline->n_sleeps) {
                page_table(file, _("Sleeps"), heads);
                for (size_t i = timeline->n_sleeps; i-- > 0;)
                        row(file, &timeline->sleeps[i], report->percent_j);
                page_table_end(file);
                fputs("</details>\n", file);
        }
        page_section_end(file);
}
