/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A battery on the charger: when is it full, or at its charge limit, and does the charger give enough? */

#include "forecast.h"

/*
 * @percent_j: energy of one percent of charge
 * @ret: where the battery does not charge, its times are NaN
 */
void charging_of(const struct history *history, const struct forecast_battery *battery, double percent_j,
                 struct budget_charging *ret);
