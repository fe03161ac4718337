/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * `joulecast profile import`: a power_profile.xml of Android becomes a profile, in the file @output or, with NULL, on standard
 * output. @battery_mwh: in place of its capacity, or NaN. An exit code.
 */
int import_power_profile(const char *path, const char *output, double battery_mwh);
