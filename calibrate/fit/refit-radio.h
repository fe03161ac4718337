/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "columns.h"
#include "observation/observation.h"

/*
 * Fits radios to the run's modes with packets, and returns a profile with nothing else, and their relative
 * standard errors. NULL: packets were not counted, or prices per byte and burst explain the modes as well.
 * Returns 0, or as refit_regression().
 */
int refit_radio(const struct device *device, const struct observation *observations, size_t n, struct profile **ret,
                double error_ret[AIR_COUNT], char *error, size_t error_size);
