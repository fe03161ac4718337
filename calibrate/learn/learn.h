/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Learning from everyday use, beyond a calibration: better coefficients, the power of each app that no counter shows,
 * the error of the battery's full charge, and the times at which something changed.
 */

#include "posterior.h"
#include "store/store.h"

/* Makes a profile of the learnt values on top of the measured ones. */

/* How far the full charge that the battery shows is above the true one: a part, and its standard error. */
struct full_charge {
        double error, standard_error; /* relative; NaN: unknown */
};

/* Estimates the error of the full charge, from the energies by percentage and by power sensor of the same use. */
void overlay_full_charge(const struct profile *profile, const struct everyday *list, size_t n, struct full_charge *ret);

int overlay_make(const struct profile *before, const struct design *design, const struct posterior *posterior,
                 const struct full_charge *full, struct profile **ret);

struct learn_change {
        char app[APP_ID_MAX]; /* "": a component as a whole */
        enum component component;
        bool measured_since;  /* by a calibration of that component */
        int64_t time_ns;      /* realtime */
        double percent;       /* change of its energy since then, +- */
        double percent_se;
        double low, high;     /* 95 % CI */
};

struct learning {
        struct profile *profile;  /* the learnt values on top of the measured ones */
        bool taken;               /* false: it predicts the held-out days worse than the profile before */
        double better;            /* log likelihood ratio to the profile before, held-out days; NaN: too few days */
        size_t n_spans, n_stretches, n_held_out;
        double days;              /* from the first to the last */
        /*
         * Answers of the profile before: how many were compared, and how many held; n_likely: budgets that
         * lasted for `likely`.
         */
        size_t n_scored[ANSWER_COUNT], n_held[ANSWER_COUNT], n_likely;
        struct learn_change changes[DESIGN_CHANGES_MAX];
        size_t n_changes;
};

/*
 * @store: the recorded usage; NULL: none. 0; -ENODATA: no everyday observation; -EDOM: the equations cannot be
 * solved; -ENOMEM; an error of the store.
 */
int learn(const struct profile *before, const struct everyday *list, size_t n, struct store *store,
          struct learning *ret);
void learn_clear(struct learning *learning);
