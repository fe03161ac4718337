/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "suspend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "util/quantile.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Energy and time of one sleep; NaN: unknown. The seconds that it was awake are subtracted at idle power.
 */
static double energy_j(const struct profile *profile, const struct store_sleep *sleep)
{
        ssize_t base = profile_find(profile, TERM_BASE, 0, 0, "");
        double awake_s = (double)(sleep->elapsed_ns - sleep->suspend_ns) * 1e-9;
        double all_j = sleep->discharge_j * profile_shown_part(profile);

        if (isnan(all_j))
                all_j = sleep->discharge_percent * J_PER_PERCENT(profile->energy_full_mwh);
        return base < 0 ? all_j : all_j - awake_s * profile->coefficients[base].value * 1e-3;
}

/* A gauge of whole percents may be wrong by one at each end of a sleep, even if all sleeps are equal. */
static double step_j(const struct profile *profile, const struct store_sleep *sleeps, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (fabs(sleeps[i].discharge_percent - round(sleeps[i].discharge_percent)) > 1e-6)
                        return 0;
        return J_PER_PERCENT(profile->energy_full_mwh);
}

/* Student's t of the number of sleeps, less the profile's own t, which is applied later. */
static double widening(const struct profile *profile, size_t n)
{
        double own = isnan(profile->degrees_of_freedom) ? quantile_normal(0.95) :
                                                          quantile_student_t(profile->degrees_of_freedom, 0.95);

        return fmax(quantile_student_t((double)n - 1, 0.95) / own, 1);
}

int suspend_measure_sleeps(const struct profile *profile, const struct store_sleep *sleeps, size_t n,
                           struct suspend_power *ret)
{
        double sum_j = 0, sum_s = 0, squares = 0, power_w, step, sd_j;
        size_t known = 0;

        for (size_t i = 0; i < n; i++) {
                double sleep_j = energy_j(profile, &sleeps[i]);

                if (!isfinite(sleep_j))
                        continue;
                sum_j += sleep_j;
                sum_s += (double)sleeps[i].suspend_ns * 1e-9;
                known++;
        }
        if (known < TUNING_SLEEPS || !(sum_j > 0) || !(sum_s > 0))
                return -ENODATA;
        power_w = sum_j / sum_s;
        for (size_t i = 0; i < n; i++) {
                double sleep_j = energy_j(profile, &sleeps[i]);

                if (isfinite(sleep_j))
                        squares += pow(sleep_j - power_w * (double)sleeps[i].suspend_ns * 1e-9, 2);
        }
        step = step_j(profile, sleeps, n);
        sd_j = sqrt(fmax(squares / (double)(known - 1), step * step / 6)); /* two ends, each uniform over a step */
        *ret = (struct suspend_power){
                .n = known,
                .seconds = sum_s,
                .power_mw = power_w * 1e3,
                .error_mw = widening(profile, known) * sd_j / (sum_s / (double)known) *
                            sqrt(1 + 1 / (double)known) * 1e3,
        };
        return 0;
}

struct list {
        struct store_sleep *sleeps;
        size_t n, capacity;
};

static int add_sleep(void *data, const struct store_sleep *sleep)
{
        struct list *list = data;

        if (util_grow(&list->sleeps, &list->capacity, list->n + 1, sizeof(*sleep)) < 0)
                return -ENOMEM;
        list->sleeps[list->n++] = *sleep;
        return 0;
}

int suspend_measure(const struct profile *profile, struct store *store, struct suspend_power *ret)
{
        struct list list = { 0 };
        int err = store_sleeps(store, INT64_MIN, INT64_MAX, add_sleep, &list);

        if (!err)
                err = suspend_measure_sleeps(profile, list.sleeps, list.n, ret);
        free(list.sleeps);
        return err;
}

static int copy_profile(const struct profile *profile, struct profile **ret)
{
        _cleanup_free_ char *text = NULL;
        int err = profile_print(profile, &text);

        return err ? err : profile_parse(text, strlen(text), "profile", NULL, ret);
}

/* In place of the profile's value, which may be another device's, or old. */
static int set_power(struct profile *profile, const struct suspend_power *power)
{
        ssize_t at = profile_find(profile, TERM_SUSPEND, 0, 0, "");
        const struct coefficient coefficient = { .term = TERM_SUSPEND, .value = power->power_mw,
                                                 .standard_error = power->error_mw };
        char n[24];
        int err = 0;

        if (at < 0) {
                err = profile_add(profile, &coefficient);
                at = profile_find(profile, TERM_SUSPEND, 0, 0, "");
        }
        if (err || at < 0)
                return err ? err : -EINVAL;
        profile->coefficients[at] = coefficient;
        for (size_t i = 0; i < profile->n_coefficients; i++)
                profile_set_covariance(profile, (size_t)at, i, 0);
        profile_set_covariance(profile, (size_t)at, (size_t)at, power->error_mw * power->error_mw);
        snprintf(n, sizeof(n), "%zu", power->n);
        return profile_set_extra(profile, "suspend", "x-sleeps", n);
}

static int learn(const struct profile *profile, const struct suspend_power *power, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *copy = NULL;
        int err = copy_profile(profile, &copy);

        if (!err)
                err = set_power(copy, power);
        if (err)
                return err;
        *ret = TAKE_PTR(copy);
        return 0;
}

int suspend_learn(const struct profile *profile, struct store *store, struct profile **ret)
{
        struct suspend_power power;
        int err = suspend_measure(profile, store, &power);

        return err ? err : learn(profile, &power, ret);
}

static int count_sleep(void *data, const struct store_sleep *sleep)
{
        (*(size_t *)data)++;
        return 0;
}

/* The mean of many sleeps varies less than one; the error of the mean remains. */
static double error_of_many(const struct suspend_power *power, size_t many)
{
        double mean = 1 / (double)power->n;

        return power->error_mw * sqrt((1 / (double)MAX(many, (size_t)1) + mean) / (1 + mean));
}

int suspend_learn_past(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
                       struct profile **ret)
{
        struct suspend_power power;
        size_t many = 0;
        int err = suspend_measure(profile, store, &power);

        if (!err)
                err = store_sleeps(store, from_ns, to_ns, count_sleep, &many);
        if (err)
                return err;
        power.error_mw = error_of_many(&power, many);
        return learn(profile, &power, ret);
}
