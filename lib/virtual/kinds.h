/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Kinds of work (docs/physics.md): the part of an app's CPU power that no counter tells, and the counters that tell the
 * rest. What a kind costs is in power.c.
 */

#include "model/profile.h"
#include "source/sample.h"
#include "wander.h"

struct kinds {
        enum virtual_counters counters;
        double share;              /* part of the seconds in which the counters are read */
        double residual, variation, tau_s;
        uint64_t seed, run_seed;   /* the device's, and that of this run of it */
};

/* An app's own. */
struct app_kind {
        double residual;           /* standard normal */
        struct wander variation;
        struct rng reads;
        bool seen;                 /* the counters are read in this second */
        double *counted;           /* by policy and enum counted_event, since they were shown */
};

void kinds_init(struct kinds *kinds, const struct profile_virtual *physics, uint64_t stream, uint64_t seed);
/* Returns 0 or -ENOMEM. */
int kinds_add_app(const struct kinds *kinds, const char *id, size_t n_policies, struct app_kind *ret);
void kinds_clear_app(struct app_kind *app);
/* Whether anything changes from second to second. */
bool kinds_change(const struct kinds *kinds);
void kinds_next_second(const struct kinds *kinds, struct app_kind *app);
/* Present power of its CPU time over that of its kind; exactly 1 where the device has no such effect. */
double kinds_factor(const struct kinds *kinds, const struct app_kind *app);
/* Adds @cycles, with so many instructions and cache events in each. */
void kinds_count(const struct kinds *kinds, struct app_kind *app, size_t policy, double cycles, double instructions,
                 double misses);
/* Moves what was counted to @ret, in whole events. False: nothing was. */
bool kinds_take(const struct kinds *kinds, struct app_kind *app, size_t policy, struct process_counted *ret);
