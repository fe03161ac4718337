/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "outcome.h"

/*
 * Fits rows by percents (refit_of_device()), which may hold unequal charges: as unequal as makes the rows
 * scatter as expected.
 */
int trace_percents_fit(const struct device *device, const struct regression_options *options,
                       struct observation *rows, size_t n, struct outcome *ret, char *error,
                       size_t error_size);
