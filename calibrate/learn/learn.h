/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Everyday use says what a calibration could not: the coefficients once more, what each app draws that no counter shows,
 * how far the battery's full charge is off, and since when something is different.
 */

#include "overlay.h"
#include "store/store.h"

struct learn_change {
        char app[APP_ID_MAX]; /* "": a component as a whole */
        enum component component;
        bool measured_since;  /* by a calibration of that component */
        int64_t time_ns;      /* realtime */
        double percent;       /* so much more (or less) of its energy since then */
        double percent_se;
};

struct learning {
        struct profile *profile;  /* what was learnt over what was measured */
        bool taken;               /* false: it predicts the days that were held out worse than the profile before */
        double better;            /* logarithm of how much likelier it makes the held-out days; NaN: too few days */
        size_t n_spans, n_stretches, n_held_out;
        double days;              /* from the first to the last */
        /* Of the profile before: answers that were compared, and those that held; n_likely: budgets that lasted for `likely`. */
        size_t n_scored[ANSWER_COUNT], n_held[ANSWER_COUNT], n_likely;
        struct learn_change changes[DESIGN_CHANGES_MAX];
        size_t n_changes;
};

/* @store: what was recorded. 0; -ENODATA: no everyday observation; -EDOM: they cannot be solved; -ENOMEM; of the store. */
int learn(const struct profile *before, const struct everyday *list, size_t n, struct store *store, struct learning *ret);
void learn_clear(struct learning *learning);
