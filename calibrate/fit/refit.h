/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* From a run's observations to an outcome. */

#include "observation/observation.h"
#include "outcome.h"

/*
 * 0; -EINVAL and -ENODATA with a sentence in @error: the observations cannot be fitted; -EDOM; -ENOMEM.
 */
int refit_regression(const struct observation_run *run, const struct observation *observations, size_t n,
                     struct outcome *ret, char *error, size_t error_size);

/* The run's device, to columns_device_clear(); if the run does not have the full energy, it is estimated from the charge. */
int refit_device(const struct observation_run *run, const struct observation *observations, size_t n,
                 struct device *ret, char *error, size_t error_size);
