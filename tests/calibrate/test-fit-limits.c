/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows that contradict each other validate nothing, replace nothing, and in the end make no profile. */

#include <gsl/gsl_errno.h>

#include "fit-fixture.h"
#include "fit/worse.h"

static double normal(uint64_t *state)
{
        double u[2];

        for (unsigned i = 0; i < 2; i++) {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                u[i] = (double)((*state >> 11) + 1) * 0x1p-53;
        }
        return sqrt(-2 * log(u[0])) * cos(2 * M_PI * u[1]);
}

/* Rows whose errors are @times those of the noise model. */
static void fit_scattered(double times, struct outcome *ret)
{
        struct noise noise = regression_options_default.noise;
        struct observation_run run = run_of("gauge");
        struct observation list[4 * ARRAY_SIZE(loads)];
        uint64_t state = 88172645463325252u;
        char error[128] = "";

        noise.background_sd_mw = noise.background_part * BASE;
        for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                double mw = power(&loads[i % ARRAY_SIZE(loads)]);

                observe(&loads[i % ARRAY_SIZE(loads)], i, &list[i]);
                list[i].power_mw = fmax(mw + times * sqrt(noise_expected(&noise, false, mw, mw, 20, 0, 5)) *
                                                        normal(&state),
                                        1);
        }
        check_int(refit_regression(&run, list, ARRAY_SIZE(list), ret, error, sizeof(error)), 0);
        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                observation_clear(&list[i]);
}

static void test_noise(void)
{
        struct outcome fine, doubtful, useless;
        char why[128] = "";

        fit_scattered(1, &fine);
        check(fine.noise_scale < 1.5);
        check_int(fine.validation, VALIDATION_NONE); /* nothing was held back */
        check_text(fine.refused, "");
        check(isnan(fine.profile->misfit_percent));
        check(!worse_than(fine.profile, fine.profile, why, sizeof(why)));

        fit_scattered(2.3, &doubtful);
        check(doubtful.noise_scale > 1.5 && doubtful.noise_scale < 3);
        check_int(doubtful.validation, VALIDATION_FAILED);
        check_int(profile_validated(doubtful.profile), 0);
        check_near(doubtful.profile->misfit_percent, 10 * doubtful.noise_scale, 0.06);
        check_text(doubtful.refused, "");
        check(worse_than(doubtful.profile, fine.profile, why, sizeof(why)));
        check(strstr(why, "times as much as expected") != NULL);
        check(worse_than(doubtful.profile, doubtful.profile, why, sizeof(why)));

        fit_scattered(5, &useless);
        check(useless.noise_scale > 3);
        check(strstr(useless.refused, "there is no profile") != NULL);
        outcome_clear(&fine);
        outcome_clear(&doubtful);
        outcome_clear(&useless);
}

/* Both conditions have to be met; the error by the mixtures is kept if it is larger. */
static void test_mean(void)
{
        static const struct {
                double mean, sd;
                bool as_used, fails;
        } cases[] = {
                { 0.019, 0.001, false, false },  { 0.021, 0.0069, false, true },
                { -0.021, 0.0069, false, true }, { -0.05, 0.02, false, false },
                { 0.05, 0.001, true, false },    { 0.5, INFINITY, false, false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct regression fit = { .mean_residual = cases[i].mean,
                                          .mean_sd = cases[i].sd,
                                          .as_used = cases[i].as_used };
                struct outcome outcome;
                char why[128] = "";

                fit_scattered(1, &outcome);
                check(!profile_extra(outcome.profile, "fit", "x-mean_residual_percent"));
                check_int(profile_set_extra(outcome.profile, "fit", "x-noise", "2.1"), 0); /* by --only, from before */
                outcome.profile->misfit_percent = 33;
                outcome.validation = VALIDATION_PASSED;
                check_int(outcome_limits(&outcome, &fit), 0);
                check_int(outcome.validation, cases[i].fails ? VALIDATION_FAILED : VALIDATION_PASSED);
                check_near(outcome.profile->misfit_percent, 33, 0);
                check_int(worse_than(outcome.profile, outcome.profile, why, sizeof(why)), cases[i].fails);
                outcome_clear(&outcome);
        }
}

int main(void)
{
        gsl_set_error_handler_off();
        test_noise();
        test_mean();
        return check_result();
}
