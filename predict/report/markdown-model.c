/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In Markdown: the power model, and how often past answers were right. */

#include <math.h>

#include "answer.h"
#include "markdown.h"
#include "util/quantile.h"
#include "util/util.h"
#include "util/words.h"

static void name_cell(FILE *file, const struct profile *profile, const struct coefficient *c)
{
        char key[PROFILE_KEY_MAX];

        fputs(" ", file);
        for (size_t i = 0; c->term >= TERM_APP_CPU && i < profile->n_apps; i++) {
                if (profile->apps[i].number != c->policy)
                        continue;
                markdown_text(file, profile->apps[i].id);
                fputs(" ", file);
                markdown_text(file, term_keys[c->term].key);
                fputs(" |", file);
                return;
        }
        markdown_text(file, profile_coefficient_key(c, key));
        fputs(" |", file);
}

static void row(FILE *file, const struct profile *profile, const struct coefficient *c, double t)
{
        const struct coefficient *measured = report_measured(profile, c);
        double half = t * c->standard_error;
        const struct cost_value interval = { c->value, c->value - half, c->value + half };
        char words[128];

        markdown_row(file);
        name_cell(file, profile, c);
        markdown_number(file, c->value, isnan(half) ? fabs(c->value) / 100 : half, "");
        markdown_word(file, *term_keys[c->term].unit ? term_keys[c->term].unit : _("part"));
        if (answer_print_unresolved(c, half, 1, words))
                markdown_word(file, words);
        else
                markdown_bounds(file, &interval, "");
        if (measured && measured->value != c->value)
                markdown_number(file, measured->value, fabs(measured->value) / 100, "");
        else
                markdown_word(file, "");
        markdown_word(file, *report_learnt_from(c, measured) ? _(report_learnt_from(c, measured)) : "");
        markdown_row_end(file);
}

static void coefficients(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("Coefficient"),
                                             N_("Value"),
                                             "<" N_("Unit"),
                                             N_("95 % interval"),
                                             N_("As calibrated"),
                                             "<" N_("Learnt from"),
                                             NULL };
        const struct profile *profile = report->profile;
        double t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL);

        fprintf(file, "## %s\n\n", _("Calibration"));
        fprintf(file, "%s ", _(report_validated_words(profile)));
        fprintf(file, _("Its numbers are of %s."), _(report_basis_words(profile)));
        fputs("\n\n", file);
        markdown_table(file, N_("Coefficients of the power model"), heads);
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term != TERM_CURVE) /* a wave of the gauge, only for fits */
                        row(file, profile, &profile->coefficients[i], t);
        markdown_table_end(file);
}

static void coverage(FILE *file, const struct report *report)
{
        static const char *const heads[] = { N_("Answer"),   N_("Tried"),           N_("Held"), N_("Share"),
                                             N_("Promised"), N_("Intervals since"), NULL };
        const struct profile_score *scores = report->profile->learned.score;
        bool any = false;

        fprintf(file, "## %s\n\n", _("Were past answers right?"));
        for (size_t k = 0; k < ANSWER_COUNT; k++)
                any = any || scores[k].scored > 0;
        if (!any) {
                fputs(_("Nothing was scored yet. `joulecast learn`, which the service runs once a day, "
                        "compares answers with the energy that the battery delivered later.\n\n"), file);
                return;
        }
        markdown_table(file, N_("Answers that were compared with the energy that the battery delivered later; old "
                                "ones count less"), heads);
        for (size_t k = 0; k < ANSWER_COUNT; k++) {
                if (!(scores[k].scored > 0))
                        continue;
                markdown_row(file);
                markdown_word(file, _(report_answers[k].name));
                markdown_number(file, scores[k].scored, 0.1, "");
                markdown_number(file, scores[k].held, 0.1, "");
                markdown_number(file, 100 * scores[k].held / scores[k].scored, 1, "%");
                markdown_number(file, report_answers[k].promised, 1, "%");
                markdown_number(file, scores[k].width, 0.01, _("times as wide"));
                markdown_row_end(file);
        }
        markdown_table_end(file);
}

void markdown_model(FILE *file, const struct report *report)
{
        coefficients(file, report);
        coverage(file, report);
}
