/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Conversion of a power profile of Android to one of joulecast. */

#include "power-profile.h"

#define CONVERT_CLUSTERS_MAX 8

struct convert_plan {
        const char *device;  /* name of the profile's device */
        const char *source;  /* name of Android's file, for messages */
        double battery_mwh;  /* energy of the full battery, in place of the file's; NaN: the file's */
        const struct log *log;
        unsigned cores[CONVERT_CLUSTERS_MAX]; /* number of cores in each cluster, in place of the file's */
        size_t n_cores; /* number of clusters in @cores; 0: the file's */
};

/*
 * convert_power_profile() - make the text of a profile (joulecast-profile(5)), with comments that name the source of
 * each number
 *
 * Currents become powers at the voltage that the file names, else at 3.7 V for WiFi and at 3.8 V. A component
 * whose currents are placeholders, contradict each other or are missing is left out, after a warning that says
 * why. The power of a radio at rest is assumed, with a standard error of as much, where the file does not have it.
 *
 * Return: 0, and free() @ret; -EINVAL after its sentence: the whole file is placeholders, or nothing of it is
 * usable; -ENOMEM.
 */
int convert_power_profile(const struct power_profile *from, const struct convert_plan *plan, char **ret);
