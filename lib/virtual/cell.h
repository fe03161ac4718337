/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The battery itself: charge, open-circuit voltage and inner resistance. A load
 * of P watts draws I = P/V at V = OCV(s) - I*R, and the charge s falls by I/Q.
 * Without a voltage curve there is a constant voltage, so percent is energy.
 */

#include "model/profile.h"

struct cell {
        const struct voltage_point *voltage; /* owned by the device; ascending */
        size_t n_voltage;
        size_t at;           /* index of the last used piece of the curve */
        double resistance_ohm;
        double full_j;       /* energy_full: Q_full times the mean open-circuit voltage */
        double full_c;       /* Q_full in coulombs; without a curve that of 1 V, so that it cancels out */
        double charge;       /* the true state of charge, 0..1 */
};

void cell_init(struct cell *cell, const struct profile *truth, const struct voltage_point *voltage,
               double charge);
/*
 * Voltage at the terminals under @power_w; half the open-circuit voltage if the battery cannot deliver that
 * power.
 */
double cell_voltage(struct cell *cell, double power_w);
/* Takes @energy_j at @voltage; negative energy charges the battery. Returns false if it is empty then. */
bool cell_drain(struct cell *cell, double voltage, double energy_j);
