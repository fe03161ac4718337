/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Before everyday use taught anything, the model's intervals are wide: power that no counter shows is unknown. The
 * battery tells the sum of the energies. Errors of the model and of the battery are taken as jointly normal, so the
 * conditional distribution given that sum has narrower intervals of the total and of its parts. Values stay.
 */
#include "cost-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantile.h"
#include "util/units.h"
#include "util/util.h"

/* Standard deviations: of each percent of a gauge that was tested, and of the scale of a gauge that was not. */
#define TESTED_SD 0.05
#define UNTESTED_SD 0.10

/* A level that steps by less than this part of a percent counts charge. */
#define COUNTS 0.5

/* Standard deviation of the energy that the battery gave, without the steps at both ends and the curve. It contains
 * the gauge's percents, and its scale unless this gauge measured the profile. */
static double scatter_sd_j(const struct profile *profile, double measured_j, double step_j)
{
        double percent_j = J_PER_PERCENT(profile->energy_full_mwh), sd = TESTED_SD;
        double scale_j = profile_joule_error(profile) > 0 ? 0 : UNTESTED_SD * measured_j;
        const char *found = profile_extra(profile, "profile", "x-percent_scatter");

        if (step_j < COUNTS * percent_j)
                return scale_j;
        if (!found && (strcmp(profile->method, "percent") != 0 || profile_validated(profile) != 1))
                return UNTESTED_SD * measured_j;
        if (found && util_parse_double(found, &sd) == 0)
                sd = fmax(sd / 100, TESTED_SD);
        return hypot(scale_j, sd * sqrt(measured_j * percent_j));
}

/* Makes an energy's interval conditional on the sum, by its covariance with the total's error. */
static void narrow(struct cost_value *value, double with_j2, double variance_j2, double off_j)
{
        double half = value->high - value->value, part = with_j2 / variance_j2, given, middle;

        if (!isfinite(half) || !isfinite(part))
                return;
        given = sqrt(fmax(half * half - with_j2 * part, 0));
        middle = value->value + part * off_j;
        value->low = fmin(fmax(middle - given, 0), value->value);
        value->high = fmax(middle + given, value->value);
}

static struct cost_value scaled(const struct cost_value *value, double unit)
{
        return (struct cost_value){ value->value / unit, value->low / unit, value->high / unit };
}

static double dot(const double *a, const double *b, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += a[i] * b[i];
        return sum;
}

/* Covariance with the total. */
static double with_total_j2(const struct profile *profile, const struct cost_part *part, const double *row,
                            double misfit_j)
{
        double sum_j2 = model_misfit_sum_j2(profile, 0, part->misfit_j * part->misfit_j) +
                        part->misfit_j * misfit_j * model_misfit_sum_j2(profile, 1, 0);

        return dot(part->vector.weight, row, part->vector.n) + sum_j2 + part->within_j * part->within_j;
}

int cost_given(const struct profile *profile, const struct cost_sum *sum, double step_j, struct cost *cost)
{
        double t = quantile_student_t(profile->degrees_of_freedom, COST_LEVEL), percent_j, off_j, error_j;
        double model_j = cost->total_j.high - cost->total_j.value;
        double measured_j = cost->measured_j.high - cost->measured_j.value;
        double both_j = cost->unexplained_j.high - cost->unexplained_j.value;
        _cleanup_free_ double *row = calloc(sum->vector.n + 1, sizeof(*row));

        if (!row)
                return -ENOMEM;
        if (profile->learned.spans > 0 || !isfinite(model_j) || !isfinite(cost->unexplained_j.value))
                return 0;
        if (isnan(cost->base_j) || sum->vector.unpriced)
                return 0; /* the battery gave energy that no part of the model can explain */
        if (!(fabs(cost->unexplained_j.value) <= both_j))
                return 0; /* they contradict each other: admit_unexplained() */
        percent_j = J_PER_PERCENT(profile->energy_full_mwh);
        off_j = cost->unexplained_j.value;
        error_j = hypot(measured_j, quantile_normal(COST_LEVEL) *
                                            scatter_sd_j(profile, cost->measured_j.value, step_j));
        model_covariance_j2(profile, &sum->vector, row);
        for (size_t i = 0; i < cost->n_apps; i++) {
                struct cost_app *app = &cost->apps[i];
                double with_j2;

                if (isnan(app->energy_j.high))
                        continue;
                with_j2 = t * t * with_total_j2(profile, &sum->parts[i], row, sum->misfit_j);
                narrow(&app->energy_j, with_j2, model_j * model_j + error_j * error_j, off_j);
                app->percent = scaled(&app->energy_j, percent_j);
                if (!isnan(app->percent_per_minute.value))
                        app->percent_per_minute = scaled(&app->energy_j, percent_j * app->active_s / 60);
        }
        narrow(&cost->total_j, model_j * model_j, model_j * model_j + error_j * error_j, off_j);
        return 0;
}
