/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the battery really gave lately says how wrong the model is: a regression of what was measured on what the
 * model says, whose prior is the model's own covariance, a factor common to all, and two for each app in the
 * foreground: what its kind of work always costs against the calibration's, and what changes from session to session
 * or with an update. How large such factors are is not known; each case of a few sizes is solved, and weighs as likely
 * as it makes the data.
 */

#include "history.h"

#define DRAIN_SPANS 64 /* the newest */
#define DRAIN_CASES 12

struct drain {
        size_t n, n_coefficients, n_apps;
        double *covariance_j2;  /* n x n_coefficients: of a span's energy with a weight of one */
        double *model_j;        /* n */
        double *part_j;         /* n x n_apps: of the apps that were asked for, in the foreground */
        double *recent_j;       /* the same, less what a factor that changes has forgotten since */
        struct drain_case {
                double probability;
                double common, always, changes; /* standard deviations of the factors, in parts */
                double *lower;      /* n x n: Cholesky of the covariance of what was measured */
                double *solved;     /* n: its inverse times what the model left unexplained */
        } cases[DRAIN_CASES];
};

/*
 * @apps: indices in @history, each once in each place of drain_add()'s @own_j. 0; -ENOMEM. Without data it adds
 * nothing.
 */
int drain_make(const struct history *history, const size_t *apps, size_t n_apps, struct drain *ret);
void drain_clear(struct drain *drain);

/**
 * drain_add() - what a future's energy is beside the model's
 * @vector:   of the future
 * @energy_j: by the model
 * @own_j:    thereof of each of drain_make()'s apps, in the foreground
 * @shift_j:  gets what to add to the energy
 * @variance_j2: gets what to add to its variance; may be negative
 */
void drain_add(const struct drain *drain, const struct model_vector *vector, double energy_j, const double *own_j,
               double *shift_j, double *variance_j2);
