/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Conversion between percent of charge and joules. A percent of a full battery
 * holds a fifth more energy than one of an empty battery, because the voltage
 * falls. So the voltage at the present charge counts, and its usual fall from there.
 */

#include "history.h"

struct charge {
        double percent;        /* expected value */
        double percent_sd;     /* the firmware rounds down, and gauges are not linear */
        double percent_j;      /* energy of one percent at the present charge, at rest */
        double energy_sd;      /* relative standard deviation of the energy */
        bool falls;            /* the voltage falls with the charge; else percent is of energy */
        double sag_per_w;      /* part of the voltage, and so of the energy, that each W of load takes */
};

/*
 * @history: the battery at the last polls; and the profile, for the energy of a full battery that does not show it, and
 *           for the error of the full charge that it shows
 * @shown:   the battery; NULL: not known
 * @load_w:  the load while it was read
 * @percent: charge that the user gave; NaN: as the battery shows
 *
 * 0; -ENODEV: both are unknown.
 */
int charge_of(const struct history *history, const struct battery *shown, double load_w, double percent,
              struct charge *ret);

/* Energy from the present charge down to @keep_percent; negative where that is above. */
double charge_energy_j(const struct charge *charge, double keep_percent);
