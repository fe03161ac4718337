/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Makes an outcome from a run's observations. */

#include "observation/observation.h"
#include "outcome.h"

/*
 * 0; -EINVAL and -ENODATA with a sentence in @error: the observations cannot be fitted; -EDOM; -ENOMEM.
 */
int refit_regression(const struct observation_run *run, const struct observation *observations, size_t n,
                     struct outcome *ret, char *error, size_t error_size);

/*
 * Describes the run's device; end with columns_device_clear(). If the run does not have the full energy, it
 * is estimated from the charge.
 */
int refit_device(const struct observation_run *run, const struct observation *observations, size_t n,
                 struct device *ret, char *error, size_t error_size);

/*
 * The fit of rows of a device that is known by itself, without radios that are fitted by packets. As
 * refit_regression().
 */
int refit_of_device(const struct device *device, const struct regression_options *options,
                    const struct observation *observations,
                    size_t n, struct outcome *ret, char *error, size_t error_size);
