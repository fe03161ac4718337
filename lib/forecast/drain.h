/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The model's error, learnt from the energy that the battery gave lately: a regression of the measured energy on the
 * model's, whose prior is the model's own covariance, a factor common to all, and two factors for each app in the
 * foreground: one for what its kind of work always costs against the calibration's, and one that changes from session
 * to session or with an update. The size of such factors is not known; a few cases of sizes are solved, and each is
 * weighted by the likelihood that it gives the data.
 */

#include "history.h"

#define DRAIN_SPANS 64 /* the newest */
#define DRAIN_CASES 12

struct drain {
        size_t n, n_coefficients, n_apps;
        double *covariance_j2;  /* n x n_coefficients: covariance of a span's energy with a weight of one */
        double *model_j;        /* n */
        double *part_j;         /* n x n_apps: foreground energy of the apps that were asked for */
        double *recent_j;       /* the same, decayed by age in sessions, as the factor that changes does */
        struct drain_case {
                double probability;
                double common, always, changes; /* standard deviations of the factors, in parts */
                double *lower;      /* n x n: Cholesky factor of the covariance of the measured energies */
                double *solved;     /* n: inverse of that covariance times the energy that the model left unexplained */
        } cases[DRAIN_CASES];
};

/*
 * @apps: indices in @history, each once in each place of drain_add()'s @own_j. 0; -ENOMEM. Without data it adds
 * nothing.
 */
int drain_make(const struct history *history, const size_t *apps, size_t n_apps, struct drain *ret);
void drain_clear(struct drain *drain);

/**
 * drain_add() - how a future's energy differs from the model's
 * @vector:   weights of the future
 * @energy_j: its energy by the model
 * @own_j:    foreground part of that of each of drain_make()'s apps
 * @shift_j:  gets the amount to add to the energy
 * @variance_j2: gets the amount to add to its variance; may be negative
 */
void drain_add(const struct drain *drain, const struct model_vector *vector, double energy_j, const double *own_j,
               double *shift_j, double *variance_j2);
