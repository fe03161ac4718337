/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "columns.h"
#include "observation/observation.h"

/*
 * The radios that the run's states with packets show, as a profile with nothing else, and their relative standard errors.
 * NULL: packets were not counted, or prices of bytes and bursts explain the states as well. 0; as refit_regression().
 */
int refit_radio(const struct device *device, const struct observation *observations, size_t n, struct profile **ret,
                double error_ret[AIR_COUNT], char *error, size_t error_size);
