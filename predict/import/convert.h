/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A power profile of Android as one of joulecast. */

#include "power-profile.h"

struct convert_plan {
        const char *device;  /* the profile's */
        const char *source;  /* what its comments call the file */
        double battery_mwh;  /* in place of the file's; NaN */
        const struct log *log;
};

/*
 * convert_power_profile() - the text of a profile (joulecast-profile(5)), with comments that name the source of each number
 *
 * Currents become powers at the voltage that the file names, else at 3.7 V for WiFi and at 3.8 V. A component whose currents are
 * placeholders, contradict each other or are missing is left out, after a warning that says why.
 *
 * Return: 0, and free() @ret; -EINVAL after its sentence: the whole file is placeholders, or nothing of it is usable; -ENOMEM.
 */
int convert_power_profile(const struct power_profile *from, const struct convert_plan *plan, char **ret);
