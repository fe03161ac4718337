/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-percents.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "refit.h"
#include "util/util.h"

#define MOST 0.8    /* standard deviation of one percent's charge */
#define ROUNDS 7    /* halves of that */
#define AS_EXPECTED 1.0

/* The use between two steps is random: least squares of equal energies on it is too low by 1 + variance. */
static void set_energies(struct observation *rows, const double *steps, size_t n, double scatter)
{
        for (size_t i = 0; i < n; i++)
                if (steps[i] > 0)
                        rows[i].steps = steps[i] + scatter * scatter;
}

static int note(struct outcome *outcome, double scatter)
{
        char text[32];
        int err;

        if (!(scatter > 0))
                return 0;
        snprintf(text, sizeof(text), "%.3g", 100 * scatter);
        err = profile_set_extra(outcome->profile, "profile", "x-percent_scatter", text);
        if (!err)
                err = outcome_warn(
                        outcome,
                        "percents of the battery hold unequal charges, or programs differ so much: "
                        "rows of one percent scatter by %.0f %%",
                        100 * scatter);
        if (err)
                outcome_clear(outcome);
        return err;
}

static int try(const struct device *device, const struct regression_options *options,
               struct observation *rows, const double *steps, size_t n, struct outcome *ret, char *error,
               size_t error_size)
{
        int err;

        set_energies(rows, steps, n, options->noise.scatter);
        err = refit_of_device(device, options, rows, n, ret, error, error_size);
        set_energies(rows, steps, n, 0);
        return err;
}

int trace_percents_fit(const struct device *device, const struct regression_options *options,
                       struct observation *rows, size_t n, struct outcome *ret, char *error,
                       size_t error_size)
{
        _cleanup_free_ double *steps = calloc(n + 1, sizeof(*steps));
        struct regression_options own = *options;
        double low = 0, high = MOST;
        int err;

        if (!steps)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                steps[i] = rows[i].steps;
        err = try(device, &own, rows, steps, n, ret, error, error_size);
        if (err || !(ret->noise_scale > AS_EXPECTED))
                return err;
        for (unsigned round = 0; round < ROUNDS; round++) {
                outcome_clear(ret);
                own.noise.scatter = (low + high) / 2;
                err = try(device, &own, rows, steps, n, ret, error, error_size);
                if (err)
                        return err;
                if (ret->noise_scale > AS_EXPECTED)
                        low = own.noise.scatter;
                else
                        high = own.noise.scatter;
        }
        return note(ret, own.noise.scatter);
}
