/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <math.h>

#define LEAKAGE_REFERENCE_C 33.0
/* limit against a runaway, as leakage times thermal resistance may exceed 1 in a hostile file */
#define TOO_HOT_C 150.0

void thermal_init(struct thermal *thermal, const struct profile_virtual *device)
{
        *thermal = (struct thermal){
                .leakage_per_c = device->leakage_percent_per_c / 100,
                .c_per_w = device->thermal_c_per_w,
                .tau_s = device->thermal_tau_s,
        };
}

static double leakage_at(const struct thermal *thermal, double celsius)
{
        return fmax(0, 1 + thermal->leakage_per_c * (celsius - LEAKAGE_REFERENCE_C));
}

double thermal_leakage(const struct thermal *thermal)
{
        return leakage_at(thermal, thermal->celsius);
}

void thermal_advance(struct thermal *thermal, double ambient_c, double power_w, double dt_s)
{
        double target_c = fmin(ambient_c + thermal->c_per_w * power_w, TOO_HOT_C);

        if (dt_s != thermal->keep_dt_s) {
                thermal->keep = thermal->tau_s > 0 ? exp(-dt_s / thermal->tau_s) : 0;
                thermal->keep_dt_s = dt_s;
        }
        thermal->celsius = target_c + (thermal->celsius - target_c) * thermal->keep;
}

/* P = a*(1 + l*(ambient + r*P - 33)) + b, solved for P. */
double thermal_steady_w(const struct thermal *thermal, double leaky_w, double fixed_w, double ambient_c)
{
        double feedback = thermal->leakage_per_c * thermal->c_per_w * leaky_w;
        double hottest_w = leaky_w * leakage_at(thermal, TOO_HOT_C) + fixed_w;

        if (feedback >= 1)
                return hottest_w;
        return fmin(hottest_w, (leaky_w * leakage_at(thermal, ambient_c) + fixed_w) / (1 - feedback));
}
