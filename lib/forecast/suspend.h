/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What this device draws while it is suspended, from the sleeps that the store
 * remembers. A calibration cannot measure that: it would sleep through the night.
 */

#include "model/profile.h"
#include "store/store.h"

struct suspend_power {
        size_t n;        /* sleeps that it comes from */
        double seconds;  /* suspended in them */
        double power_mw;
        double error_mw; /* of one sleep to come: how sleeps differ, and how well their mean is known */
};

/* The pieces, for tests: from a list. -ENODATA: fewer than TUNING_SLEEPS, or they drew nothing that shows. */
int suspend_measure_sleeps(const struct profile *profile, const struct store_sleep *sleeps, size_t n,
                           struct suspend_power *ret);
int suspend_measure(const struct profile *profile, struct store *store, struct suspend_power *ret);

/**
 * suspend_learn() - a copy of a profile with [suspend] as this device's sleeps have it
 *
 * Return: 0; -ENODATA: there are too few sleeps, and the profile is as good as it was; -ENOMEM; -errno of the
 * store.
 */
int suspend_learn(const struct profile *profile, struct store *store, struct profile **ret);

/* The same for what is past: as uncertain as the mean of the sleeps of that span, and not as one to come. */
int suspend_learn_past(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
                       struct profile **ret);
