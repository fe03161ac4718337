/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Percent of charge and joules: how much energy is in what a battery shows.
 * A percent at the top holds a fifth more than one at the bottom, as the
 * voltage falls; so the voltage of today's charge converts, and how a battery's
 * voltage usually falls from there.
 */

#include "source/sample.h"

struct charge {
        double percent;        /* mean of what it may be */
        double percent_sd;     /* floored by the firmware, and bent by the gauge */
        double percent_j;      /* one percent at today's charge */
        double energy_sd;      /* of the energy, in parts */
        bool falls;            /* the voltage falls with the charge; else percent is of energy */
};

/*
 * @full_mwh: of the profile, where the battery does not show it
 * @shown:    the battery; NULL: not known
 * @percent:  what the user says the charge is; NaN: what the battery shows
 *
 * 0; -ENODEV: neither says.
 */
int charge_of(double full_mwh, const struct battery *shown, double percent, struct charge *ret);

/* Energy from today's charge down to @keep_percent; negative where that is above. */
double charge_energy_j(const struct charge *charge, double keep_percent);
