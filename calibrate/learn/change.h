/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Finds the time from which an app, a component, or everything needs more or less than before. */

#include "posterior.h"

#define CHANGE_CANDIDATES 5

struct candidate {
        double chi2;
        size_t app;    /* SIZE_MAX: all apps, in `part` */
        unsigned part;
        size_t stretch;
};

/*
 * Lists the apps and parts that may have changed, each with the time that explains the rows best, the likeliest first.
 * @ret_n: 0 if nothing changed. 0; -ENOMEM.
 */
int change_find(const struct design *design, const struct posterior *posterior, struct candidate ret[CHANGE_CANDIDATES],
                size_t *ret_n);

/*
 * A change is reported if its whole 95 % interval is beyond this part, if the app or component was used in at least
 * this number of stretches before and after it ...
 */
#define CHANGE_LEAST 0.08
#define CHANGE_STRETCHES 3
/* ... and if its log likelihood exceeds that of any other cause, and of no change, by this. */
#define CHANGE_LEAD 3.0

/* Bytes over WiFi and WiFi as a whole are reported as one. */
bool change_is_same(size_t app_a, unsigned part_a, size_t app_b, unsigned part_b);

/*
 * Sets the value of a change, its standard error (by the posterior and by leaving out each stretch in turn), and the
 * numbers of stretches before and after it. 0; -EDOM; -ENOMEM.
 */
int change_read(const struct design *design, const struct posterior *posterior, size_t number,
                struct design_change *change);
