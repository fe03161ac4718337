/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Checks whether the rows of a calibration are sound. Held-back mixtures do not prove this: if a gauge smooths, they
 * are smoothed, too. docs/calibration.md has the noise of usual gauges.
 */

#include <errno.h>
#include <math.h>

#include "outcome.h"

/* Noise relative to the expected: above NOISE_MOST the profile is doubted, above NOISE_REFUSED none is made. */
#define NOISE_MOST 1.5
#define NOISE_REFUSED 3.0
/* The profile is doubted if the rows' common relative error is above this and above this number of its SDs. */
#define MEAN_MOST 0.02
#define MEAN_SDS 3.0
/* Misfit in percent of the power above the base, by the noise. */
#define MISFIT_PERCENT_OF_NOISE 10.0

/* @key gets @value in the profile, so that it replaces no other (worse.c). */
static int doubt(struct outcome *outcome, const char *key, double value)
{
        double misfit = fmax(round(10 * MISFIT_PERCENT_OF_NOISE * outcome->noise_scale) / 10, 0);
        struct profile *profile = outcome->profile;
        char text[32];
        int err;

        snprintf(text, sizeof(text), "%.3g", value);
        outcome->validation = VALIDATION_FAILED;
        profile->misfit_percent =
                fmin(isnan(profile->misfit_percent) ? misfit : fmax(profile->misfit_percent, misfit), 100);
        err = profile_set_extra(profile, "fit", key, text);
        return err ? err : profile_set_extra(profile, "profile", "x-validated", "false");
}

int outcome_limits(struct outcome *outcome, const struct regression *fit)
{
        double noise = outcome->noise_scale;
        int err = 0;

        /* With --only these are of the observations before. */
        profile_drop_extra(outcome->profile, "fit", "x-noise");
        profile_drop_extra(outcome->profile, "fit", "x-mean_residual_percent");
        if (fit->as_used)
                return 0; /* foreign rows hold other kinds of work */
        if (noise > NOISE_REFUSED)
                snprintf(
                        outcome->refused, sizeof(outcome->refused),
                        "the observations scatter %.1f times as much as expected, so this gauge does not "
                        "show what the "
                        "model takes it for, and there is no profile; calibrate by another method (--method)",
                        noise);
        if (noise > NOISE_MOST) {
                snprintf(outcome->doubt, sizeof(outcome->doubt),
                         "the observations scatter %.2f times as much as expected", noise);
                err = doubt(outcome, "x-noise", noise);
        }
        if (!err && fabs(fit->mean_residual) > MEAN_MOST &&
            fabs(fit->mean_residual) > MEAN_SDS * fit->mean_sd) {
                snprintf(outcome->doubt, sizeof(outcome->doubt),
                         "all observations together are off by %+.1f %%", 100 * fit->mean_residual);
                err = doubt(outcome, "x-mean_residual_percent", 100 * fit->mean_residual);
        }
        return err;
}
