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

const struct coefficient *report_measured(const struct profile *profile, const struct coefficient *c)
{
        ssize_t at = !profile->measured ? -1 : profile_find(profile->measured, c->term, c->policy, c->point, c->disk);

        return at < 0 ? NULL : &profile->measured->coefficients[at];
}

const char *report_learnt_from(const struct coefficient *c, const struct coefficient *measured)
{
        return c->term >= TERM_APP_CPU ? "everyday use" : !measured ? "" :
               measured->value != c->value ? "calibration, then everyday use" : "calibration";
}

static void name_cell(FILE *file, const struct profile *profile, const struct coefficient *c)
{
        char key[PROFILE_KEY_MAX];

        fputs("<tr><th scope=\"row\">", file);
        for (size_t i = 0; c->term >= TERM_APP_CPU && i < profile->n_apps; i++) {
                if (profile->apps[i].number != c->policy)
                        continue;
                report_name(file, profile->apps[i].id, profile->apps[i].id);
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

        name_cell(file, profile, c);
        report_cell(file, c->value, isnan(half) ? fabs(c->value) / 100 : half, "");
        fprintf(file, "<td class=\"text\">%s</td>", *term_keys[c->term].unit ? term_keys[c->term].unit : "part");
        report_bounds(file, &interval, "");
        if (measured && measured->value != c->value)
                report_cell(file, measured->value, fabs(measured->value) / 100, "");
        else
                fputs("<td></td>", file);
        fprintf(file, "<td class=\"text\">%s</td></tr>\n", report_learnt_from(c, measured));
}

const char *report_validated_words(const struct profile *profile)
{
        return profile_validated(profile) > 0  ? "It predicted states that were not fitted." :
               profile_validated(profile) == 0 ? "It did not predict states that were not fitted; intervals are wider for it." :
                                                 "Whether it predicts other states was not tried.";
}

const char *report_basis_words(const struct profile *profile)
{
        const char *basis = profile_basis(profile);

        return strcmp(basis, "calibrated") == 0 ? "this very device" : strcmp(basis, "shipped") == 0 ? "such devices" :
               "a usual device of this class; joulecast calibrate makes them this one's";
}

static void sentence(FILE *file, const struct profile *profile)
{
        fputs("<p>The model is ", file);
        fputs(profile->measured ? "a calibration, corrected by everyday use" : "as it was calibrated, or shipped", file);
        if (*profile->device) {
                fputs(": <bdi>", file);
                html_text(file, profile->device);
                fputs("</bdi>", file);
        }
        if (*profile->created) {
                fputs(", of ", file);
                html_text(file, profile->created);
        }
        fprintf(file, ". %s%s%s</p>\n", profile_validated(profile) == 0 ? "<b>" : "", report_validated_words(profile),
                profile_validated(profile) == 0 ? "</b>" : "");
        fprintf(file, "<p>Its numbers are of %s.</p>\n", report_basis_words(profile));
}

void report_calibration(FILE *file, const struct report *report)
{
        static const char *const heads[] = { "Coefficient", "Value", "<Unit", "95 % interval", "As calibrated", "<Learnt from", NULL };
        const struct profile *profile = report->profile;
        double t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL);

        report_section(file, "calibration", "Calibration");
        sentence(file, profile);
        fprintf(file, "<details>\n<summary>All %zu coefficients</summary>\n", profile->n_coefficients);
        report_table(file, "Coefficients of the power model", heads);
        for (size_t i = 0; i < profile->n_coefficients; i++)
                if (profile->coefficients[i].term != TERM_CURVE) /* of the gauge, for a fit */
                        row(file, profile, &profile->coefficients[i], t);
        report_table_end(file);
        fputs("</details>\n", file);
        report_section_end(file);
}
