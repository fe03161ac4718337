/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Conversion between percent of charge and joules. A percent of a full battery
 * holds a fifth more energy than one of an empty battery, because the voltage
 * falls. So the voltage at the present charge counts, and its usual fall from there.
 */

#include "model/profile.h"
#include "source/sample.h"

struct charge {
        double percent;        /* expected value */
        double percent_sd;     /* the firmware rounds down, and gauges are not linear */
        double percent_j;      /* one percent at the present charge */
        double energy_sd;      /* of the energy, relative */
        bool falls;            /* the voltage falls with the charge; else percent is of energy */
};

/* Percent that a battery shows, and the step it is rounded down to; NaN: none. */
double charge_shown(const struct battery *battery, double *step);

/*
 * @profile: its full battery, where the battery does not show it, and how true what it shows is
 * @shown:   the battery; NULL: not known
 * @percent:  the user's; NaN: as the battery shows
 *
 * 0; -ENODEV: both are unknown.
 */
int charge_of(const struct profile *profile, const struct battery *shown, double percent, struct charge *ret);

/* Energy from the present charge down to @keep_percent; negative where that is above. */
double charge_energy_j(const struct charge *charge, double keep_percent);
