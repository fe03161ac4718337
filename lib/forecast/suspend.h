/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Power of this device while suspended, from recorded sleeps. A calibration cannot
 * measure it: it does not run while suspended.
 */

#include "model/profile.h"
#include "store/store.h"

struct suspend_power {
        size_t n;        /* sleeps */
        double seconds;  /* suspended in them */
        double power_mw;
        double error_mw; /* error for one future sleep: variance between sleeps, and error of the mean */
};

/* The pieces, for tests: from a list. -ENODATA: fewer than TUNING_SLEEPS, or no measurable energy. */
int suspend_measure_sleeps(const struct profile *profile, const struct store_sleep *sleeps, size_t n,
                           struct suspend_power *ret);
int suspend_measure(const struct profile *profile, struct store *store, struct suspend_power *ret);

/**
 * suspend_learn() - a copy of a profile with [suspend] from this device's sleeps
 *
 * Return: 0; -ENODATA: too few sleeps, use the profile itself; -ENOMEM; -errno of the
 * store.
 */
int suspend_learn(const struct profile *profile, struct store *store, struct profile **ret);

/* For past costs: with the error of the mean of that span's sleeps, not that of a future sleep. */
int suspend_learn_past(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
                       struct profile **ret);
