/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Core temperature: ambient + thermal_c_per_w * P, approached with thermal_tau_s. Leakage increases CPU and
 * idle power by a share per degree above 33 C, and decreases them below. Without leakage the temperature has
 * no effect.
 */

#include "model/profile.h"

struct thermal {
        double leakage_per_c;
        double c_per_w;
        double tau_s;
        double celsius;
        double keep_dt_s, keep; /* exp(-dt/tau) for the last step length */
};

void thermal_init(struct thermal *thermal, const struct profile_virtual *device);
double thermal_leakage(const struct thermal *thermal); /* the factor L */
void thermal_advance(struct thermal *thermal, double ambient_c, double power_w, double dt_s);

/* Steady power @leaky_w * L + @fixed_w at its own steady temperature in a room of @ambient_c. */
double thermal_steady_w(const struct thermal *thermal, double leaky_w, double fixed_w, double ambient_c);
