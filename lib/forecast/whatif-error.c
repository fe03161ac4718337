/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "whatif-private.h"

#include <math.h>

#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

static double square(double value)
{
        return value * value;
}

/* Covariance of a process with stationary increments at times a and b, from its variances. */
static double common_j2(double at_a_j2, double at_b_j2, double between_j2)
{
        return (at_a_j2 + at_b_j2 - between_j2) / 2;
}

static double mixed_j2(const struct whatif *whatif, double seconds)
{
        return square(mixed_sd_j(&whatif->future.mixed, seconds));
}

static double daemons_j2(const struct whatif *whatif, double seconds)
{
        return square(model_background_sd_j(whatif->history->profile, seconds));
}

/*
 * Variance of a * (energy until the end with the change) - b * (... without it), whose errors are common for the most
 * part; in the unit of a and b squared, per W^2. This is the part of use: both use the same in the same time, except
 * for what the change saves.
 */
static double use_s2(const struct question *question, const struct end *with, const struct end *without,
                     double a, double b)
{
        const struct whatif *whatif = question->whatif;
        double with_j2 = mixed_j2(whatif, with->seconds), without_j2 = mixed_j2(whatif, without->seconds);
        double kept_s = fmin(with->seconds, question->keep_s), kept_j2 = mixed_j2(whatif, kept_s);
        double gap_s = fabs(with->seconds - without->seconds);
        double sum = a * a * with_j2 + b * b * without_j2 -
                     2 * a * b * common_j2(with_j2, without_j2, mixed_j2(whatif, gap_s));
        double both = a * common_j2(with_j2, kept_j2, mixed_j2(whatif, with->seconds - kept_s)) -
                      b * common_j2(without_j2, kept_j2, mixed_j2(whatif, fabs(without->seconds - kept_s)));

        sum += a * a * question->saved.variance_part * kept_j2 - 2 * a * question->saved.common_part * both;
        sum += a * a * daemons_j2(whatif, with->seconds) + b * b * daemons_j2(whatif, without->seconds) -
               2 * a * b * common_j2(daemons_j2(whatif, with->seconds), daemons_j2(whatif, without->seconds),
                                     daemons_j2(whatif, gap_s));
        sum += square(question->saved.relit ? b * without->now_s : a * with->now_s - b * without->now_s) *
               square(whatif->future.mixed.now.session_sd_w); /* the brightness may go back */
        return fmax(sum, 0);
}

/* The model's part: by the coefficients' covariance and what the battery gave, for the same combination; no unit. */
static double model_s2(const struct question *question, const struct model_vector *vector,
                       const double *own_j, double seconds)
{
        const struct profile *profile = question->whatif->history->profile;
        double t2 = square(quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) /
                           quantile_normal(FORECAST_LEVEL));
        double energy_j = model_energy_mj(profile, vector) * 1e-3, shift_j = 0, drain_j2 = 0;
        const struct model_user user = { TUNING_OTHER_APPS, true, fabs(seconds) };
        double sum = t2 * model_variance_j2(profile, vector);

        if (question->drain.n == 0)
                return sum + t2 * square(model_misfit_sd_j(profile, &user, vector));
        drain_add(&question->drain, vector, energy_j, own_j, &shift_j, &drain_j2);
        return fmax(sum + drain_j2, 0);
}

/*
 * Variance of the saved energy beyond the coefficients' errors. With a measured drain, the part of apps in the
 * foreground is left out, as the drain shows what they draw.
 */
static double saved_j2(const struct question *question, const struct end *with)
{
        const struct profile *profile = question->whatif->history->profile;
        const struct saved *saved = &question->saved;
        double t2 = square(quantile_student_t(profile->degrees_of_freedom, FORECAST_LEVEL) /
                           quantile_normal(FORECAST_LEVEL));
        double front_j = saved->front_now_w * with->kept_now_s + saved->front_usual_w * with->kept_usual_s;
        double else_j = saved->else_now_w * with->kept_now_s + saved->else_usual_w * with->kept_usual_s;
        double spread_j = saved->spread_now_w * with->kept_now_s + saved->spread_usual_w * with->kept_usual_s;

        return t2 * (square(else_j) + (question->drain.n == 0 ? square(front_j) : 0)) + square(spread_j) / 3;
}

/* Standard deviation in seconds: @a and @b are 1 / W at both ends; @b = 0: for the end with the change alone. */
static int find_sd(const struct question *question, const struct end *with, const struct end *without,
                   double a, double b, double *ret)
{
        const struct whatif *whatif = question->whatif;
        _cleanup_(model_vector_clear) struct model_vector vector = { 0 };
        double own[ACTORS_MAX], sum;
        int err = model_vector_add_scaled(&vector, &with->sum.vector, a * (1 + TUNING_WARM));

        if (err == 0)
                err = model_vector_add_scaled(&vector, &without->sum.vector, -b * (1 + TUNING_WARM));
        if (err < 0)
                return err;
        for (size_t i = 0; i < ACTORS_MAX; i++)
                own[i] = a * with->sum.own_j[i] - b * without->sum.own_j[i];
        sum = model_s2(question, &vector, own, a * with->seconds - b * without->seconds) +
              a * a * saved_j2(question, with) + use_s2(question, with, without, a, b) +
              square((a - b) * whatif->available_sd_j);
        *ret = sqrt(sum);
        return 0;
}

/* Half of the interval if the ends lie @gap_s apart instead of the likely @likely_s. @ab: 1 / W^2. */
static double half_s(const struct question *question, double likely_s, double gap_s, double sd_s, double ab)
{
        const struct whatif *whatif = question->whatif;
        double more_j2 = mixed_j2(whatif, gap_s) - mixed_j2(whatif, likely_s) + daemons_j2(whatif, gap_s) -
                         daemons_j2(whatif, likely_s);

        return profile_width(whatif->history->profile, ANSWER_BUDGET) * quantile_normal(FORECAST_LEVEL) *
               sqrt(fmax(sd_s * sd_s + ab * more_j2, 0));
}

/*
 * How far apart both ends may be. Between them the device may do nothing, and then the saved energy lasts far longer
 * than at the mean power: the farther apart the ends, the more uncertain is the energy used between them.
 */
static double farthest_s(const struct question *question, double likely_s, double sd_s, double ab)
{
        double low = likely_s, high = likely_s + half_s(question, likely_s, likely_s, sd_s, ab);

        while (high - likely_s < half_s(question, likely_s, high, sd_s, ab) && high < 60 * MINUTES_MAX) {
                low = high;
                high = likely_s + 1.5 * (high - likely_s);
        }
        for (int i = 0; i < 40; i++) {
                double at = (low + high) / 2;

                *(at - likely_s < half_s(question, likely_s, at, sd_s, ab) ? &low : &high) = at;
        }
        return high;
}

static struct cost_value minutes_of(const struct whatif *whatif, double seconds, double sd_s)
{
        double half = profile_width(whatif->history->profile, ANSWER_BUDGET) * quantile_normal(FORECAST_LEVEL) * sd_s;

        return (struct cost_value){ seconds / 60, (seconds - half) / 60, (seconds + half) / 60 };
}

int whatif_gained(const struct question *question, const struct end *with, const struct end *without,
                  struct cost_value *ret)
{
        double seconds = with->seconds - without->seconds, sd_s, far;
        int err = find_sd(question, with, without, 1 / with->power_w, 1 / without->power_w, &sd_s);

        if (err < 0)
                return err;
        far = farthest_s(question, fabs(seconds), sd_s, 1 / (with->power_w * without->power_w)) / 60;
        *ret = minutes_of(question->whatif, seconds, sd_s);
        *(seconds < 0 ? &ret->low : &ret->high) = seconds < 0 ? -far : far;
        return 0;
}

int whatif_least_left_j(const struct question *question, double seconds, double *ret)
{
        const struct whatif *whatif = question->whatif;
        _cleanup_(whatif_end_clear) struct end with = { 0 };
        double left_j, sd_j, z = quantile_normal(FORECAST_LEVEL) * profile_width(whatif->history->profile,
                                                                                 ANSWER_BUDGET);
        int err = whatif_left_at(question, true, seconds, &with, &left_j);

        if (err == 0)
                err = find_sd(question, &with, &with, 1, 0, &sd_j);
        if (err == 0)
                *ret = left_j - z * sd_j;
        return err;
}

int whatif_changed(const struct question *question, const struct end *with, const struct end *without,
                   struct cost_value *ret)
{
        double sd_s;
        int err = find_sd(question, with, without, 1 / with->power_w, 0, &sd_s);

        if (err < 0)
                return err;
        *ret = minutes_of(question->whatif, with->seconds, sd_s);
        ret->low = fmax(ret->low, 0);
        return 0;
}
