/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Coefficients from printed tables: a usage table, and costs in percent of the battery, rounded. */

#include "cost-table.h"
#include "fit/outcome.h"

/*
 * The coefficients that reproduce the costs, monotone in frequency; rows without a partner are left out. The
 * paper calls itself "Power Profiler" in one table and "SApp" in the other.
 */
int tables_fit(const struct usage_table *usage, const struct cost_table *costs, double energy_full_mwh,
               struct outcome *ret, char *error, size_t error_size);
