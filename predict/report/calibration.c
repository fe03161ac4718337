/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The power model: each coefficient with its interval, and what everyday use made of it. */

#include <math.h>
#include <string.h>

#include "answer.h"
#include "model/component.h"
#include "report.h"
#include "util/html.h"
#include "util/quantile.h"
#include "util/util.h"
#include "util/words.h"

const struct coefficient *report_measured(const struct profile *profile, const struct coefficient *c)
{
        ssize_t at = !profile->measured ? -1 : profile_find(profile->measured, c->term, c->policy, c->point, c->disk);

        return at < 0 ? NULL : &profile->measured->coefficients[at];
}

const char *report_learnt_from(const struct coefficient *c, const struct coefficient *measured)
{
        return c->term >= TERM_APP_CPU ? N_("everyday use") : !measured ? "" :
               measured->value != c->value ? N_("calibration, then everyday use") : N_("calibration");
}

static void name_cell(FILE *file, const struct profile *profile, const struct coefficient *c)
{
        char key[PROFILE_KEY_MAX];

        fputs("<tr><th scope=\"row\">", file);
        page_component_key(file, term_keys[c->term].component);
        for (size_t i = 0; c->term >= TERM_APP_CPU && i < profile->n_apps; i++) {
                if (profile->apps[i].number != c->policy)
                        continue;
                page_name(file, profile->apps[i].id, profile->apps[i].id);
                fprintf(file, " <code>%s</code></th>", term_keys[c->term].key);
                return;
        }
        fputs("<code>", file);
        html_text(file, profile_coefficient_key(c, key));
        fputs("</code></th>", file);
}

static void row(FILE *file, const struct profile *profile, const struct coefficient *c, double t)
{
        const struct coefficient *measured = report_measured(profile, c);
        double half = t * c->standard_error;
        const struct cost_value interval = { c->value, c->value - half, c->value + half };
        char words[128];

        name_cell(file, profile, c);
        page_cell(file, c->value, isnan(half) ? fabs(c->value) / 100 : half, "");
        fprintf(file, "<td class=\"text\">%s</td>", *term_keys[c->term].unit ? term_keys[c->term].unit : _("part"));
        if (answer_print_unresolved(c, half, 1, words))
                fprintf(file, "<td class=\"text\">%s</td>", words);
        else
                page_bounds(file, &interval, "");
        if (measured && measured->value != c->value)
                page_cell(file, measured->value, fabs(measured->value) / 100, "");
        else
                fputs("<td></td>", file);
        fprintf(file, "<td class=\"text\">%s</td></tr>\n",
                *report_learnt_from(c, measured) ? _(report_learnt_from(c, measured)) : "");
}

const char *report_validated_words(const struct profile *profile)
{
        return profile_validated(profile) > 0  ? N_("It predicted states that were not fitted.") :
               profile_validated(profile) == 0 ? N_("It did not predict states that were not fitted; "
                                                    "intervals are wider for it.") :
                                                 N_("Its prediction of other states was not tested.");
}

const char *report_basis_words(const struct profile *profile)
{
        const char *basis = profile_basis(profile);

        return strcmp(basis, "calibrated") == 0 ?
                       N_("this very device") :
               strcmp(basis, "shipped") == 0 ?
                       N_("such devices") :
                       N_("a usual device of this class; joulecast calibrate makes them this one's");
}

static void sentence(FILE *file, const struct profile *profile)
{
        bool failed = profile_validated(profile) == 0;

        fprintf(file, "<p>%s", profile->measured ? _("The model is a calibration, corrected by everyday use.") :
                                                   _("The model is as it was calibrated, or shipped."));
        if (*profile->device) {
                fprintf(file, " %s <bdi>", _("Device:"));
                html_text(file, profile->device);
                fputs("</bdi>.", file);
        }
        if (*profile->created) {
                fprintf(file, " %s ", _("Made:"));
                html_text(file, profile->created);
                fputc('.', file);
        }
        fprintf(file, " %s%s%s</p>\n<p>", failed ? "<b>" : "", _(report_validated_words(profile)),
                failed ? "</b>" : "");
        fprintf(file, _("Its numbers are of %s."), _(report_basis_words(profile)));
        fputs("</p>\n", file);
}

void report_calibration(FILE *file, const struct report *report)
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

        page_section(file, "calibration", _("Calibration"));
        sentence(file, profile);
        fputs("<details>\n<summary>", file);
        fprintf(file, _("All %zu coefficients"), profile->n_coefficients);
        fputs("</summary>\n", file);
        page_table(file, _("Coefficients of the power model"), heads);
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term != TERM_CURVE) /* a wave of the gauge, only for fits */
                        row(file, profile, &profile->coefficients[i], t);
        page_table_end(file);
        fputs("</details>\n", file);
        page_section_end(file);
}
