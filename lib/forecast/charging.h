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

/* Does only the supply say that the battery does not discharge, while the battery says Discharging or Unknown? */
static inline bool charging_is_doubtful(const struct battery *battery)
{
        return (battery->status == BATTERY_NOT_CHARGING || battery->status == BATTERY_FULL) &&
               (battery->said == BATTERY_DISCHARGING || battery->said == BATTERY_UNKNOWN);
}

/*
 * Finds out whether a supply stays online although it was unplugged, by the polls of the last hours before @now_ns. If
 * so, sets @battery to discharging. All code that shows or asks whether the device is plugged in must call this.
 * Returns 1 if so; 0: no, or not clear; or a negative errno, and @battery stays.
 */
int charging_correct(struct store *store, const struct profile *profile, int64_t now_ns, struct battery *battery);
