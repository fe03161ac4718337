/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cell.h"

#include <math.h>

#include "util/units.h"

void cell_init(struct cell *cell, const struct profile *truth, const struct voltage_point *voltage,
               double charge)
{
        double mean_v = truth->virtual_device.n_voltage > 0 ? profile_mean_voltage_mv(truth) / 1e3 : 1;

        *cell = (struct cell){
                .voltage = voltage,
                .n_voltage = truth->virtual_device.n_voltage,
                .resistance_ohm = truth->virtual_device.resistance_mohm / 1e3,
                .full_j = truth->energy_full_mwh * J_PER_MWH,
                .charge = charge,
        };
        cell->full_c = cell->full_j / mean_v;
}

/*
 * Piecewise linear and constant outside. The charge moves slowly, so the present piece is nearly always the
 * last one used.
 */
static double open_circuit(struct cell *cell)
{
        const struct voltage_point *points = cell->voltage;
        double percent = 100 * cell->charge, share;

        if (percent <= points[0].percent)
                return points[0].voltage_mv / 1e3;
        if (percent >= points[cell->n_voltage - 1].percent)
                return points[cell->n_voltage - 1].voltage_mv / 1e3;
        while (points[cell->at].percent > percent)
                cell->at--;
        while (points[cell->at + 1].percent < percent)
                cell->at++;
        points += cell->at;
        share = (percent - points[0].percent) / (points[1].percent - points[0].percent);
        return (points[0].voltage_mv + share * (points[1].voltage_mv - points[0].voltage_mv)) / 1e3;
}

/* V = OCV - (P/V)*R, solved for the upper V. */
double cell_voltage(struct cell *cell, double power_w)
{
        double ocv;

        if (cell->n_voltage == 0)
                return 1;
        ocv = open_circuit(cell);
        return (ocv + sqrt(fmax(0, ocv * ocv - 4 * cell->resistance_ohm * power_w))) / 2;
}

bool cell_drain(struct cell *cell, double voltage, double energy_j)
{
        cell->charge = fmin(1, cell->charge - energy_j / (voltage * cell->full_c));
        if (cell->charge > 0)
                return true;
        cell->charge = 0;
        return false;
}
