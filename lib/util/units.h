/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Units inside: uW, uJ, uWh, uAh, ns, bytes,
 * as integers with the unit in the name; doubles begin in the fit.
 */

#include <stdint.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)
#define UJ_PER_J 1e6
#define BYTES_PER_MB 1e6 /* bytes of a MB in mJ/MB, as in the profile */

/* 1 mWh is 3.6 J; so one percent of a battery of E mWh is 0.036 * E joules. */
#define J_PER_MWH 3.6
#define J_PER_PERCENT(energy_full_mwh) (0.036 * (energy_full_mwh))

/* uAh times uV is 1e-12 AhV; one AhV is 3600 J, or 3.6e9 uJ. */
#define UJ_PER_UAH_UV 3.6e-3
