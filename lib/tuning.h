/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Our choices: numbers that no kernel document and no user decides. Each with
 * unit, reason and how it was found.
 */

/*
 * Daemons that no counter shows, as a fallback where the profile does not say what its device's are (x-background_*
 * of [base]): mW of standard deviation and s of correlation. From the simulation study behind the design: a
 * log-normal of mean 12 mW, and rare spikes.
 */
#define TUNING_BACKGROUND_SD_MW 14.0
#define TUNING_BACKGROUND_TAU_S 300.0
