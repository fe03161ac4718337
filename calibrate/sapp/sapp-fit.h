/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "fit/refit.h"

/*
 * SApp's equations 1 to 4 for runs of `--plan sapp`, with the median of three iterations; returns as
 * refit_regression().
 */
int sapp_fit(const struct observation_run *run, const struct observation *observations, size_t n,
             struct outcome *ret, char *error, size_t error_size);
