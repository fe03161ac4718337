/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How often past answers were right, as `joulecast learn` found it. */

#include <math.h>

#include "report.h"
#include "util/util.h"
#include "util/words.h"

const struct report_answer report_answers[ANSWER_COUNT] = { { N_("cost"), 95 },
                                                            { N_("predict"), 90 },
                                                            { N_("budget"), 95 } };

void report_coverage(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("Answer"),   N_("Tried"),           N_("Held"), N_("Share"),
                                             N_("Promised"), N_("Intervals since"), NULL };
        const struct profile_score *scores = report->profile->learned.score;
        bool any = false;

        page_section(file, "coverage", _("Were past answers right?"));
        for (size_t k = 0; k < ANSWER_COUNT; k++)
                any = any || scores[k].scored > 0;
        if (!any) {
                fprintf(file, "<p>%s</p>\n", _("Nothing was scored yet. <code>joulecast learn</code>, which the "
                                               "service runs once a day, compares answers with the energy that the "
                                               "battery delivered later."));
                page_section_end(file);
                return;
        }
        page_table(file, _("Answers that were compared with the energy that the battery delivered later; old ones "
                           "count less"), heads);
        for (size_t k = 0; k < ANSWER_COUNT; k++) {
                if (!(scores[k].scored > 0))
                        continue;
                fprintf(file, "<tr><th scope=\"row\">%s</th>", _(report_answers[k].name));
                page_cell(file, scores[k].scored, 0.1, "");
                page_cell(file, scores[k].held, 0.1, "");
                page_cell(file, 100 * scores[k].held / scores[k].scored, 1, "%");
                fprintf(file, "<td>%d&nbsp;%%</td>", report_answers[k].promised);
                page_cell(file, scores[k].width, 0.01, _("times as wide"));
                fputs("</tr>\n", file);
        }
        page_table_end(file);
        page_section_end(file);
}
