/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Learns how much, and for how long, an app's power varies, and the background: by marginal likelihood on a grid. */

#include <errno.h>
#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "posterior-private.h"
#include "util/util.h"

/* Grids of the scatter's values (tau in s, others relative to their prior), and the SDs of the priors' logarithms. */
static const double within_grid[] = { 0.07, 0.13, 0.25, 0.4, 0.6, 0.85, 1.2, 1.8, 2.7, 4 };
static const double tau_grid_s[] = { 2, 5, 15, 60, 240, 1000 };
static const double background_grid[] = { 0.25, 0.5, 1, 2, 4, 8 };
#define WITHIN_SD 0.8
#define TAU_SD 1.2
#define BACKGROUND_SD 0.7
#define WITHIN_MOST 0.6

/* Logarithm of the marginal likelihood of the rows with the present scatter and no other scale, but for a constant. */
static int scatter_evidence(struct work *work, double *ret)
{
        double own, known, scale = work->posterior->scale;
        int err;

        design_vary(work->design);
        err = posterior_whiten(work);
        if (err)
                return err;
        work->posterior->scale = 1;
        posterior_gram(work);
        work->posterior->scale = scale;
        if (gsl_linalg_cholesky_decomp1(work->gram))
                return -EDOM;
        gsl_blas_ddot(work->y, work->y, &own);
        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, work->gram, work->moment);
        gsl_blas_ddot(work->moment, work->moment, &known);
        *ret = known - own - work->log_determinant;
        for (size_t j = 0; j < work->design->q; j++)
                *ret -= 2 * log(gsl_matrix_get(work->gram, j, j));
        *ret /= 2;
        return 0;
}

/* Weights of @n choices by their logarithms. */
static void weigh(double *log_weight, size_t n)
{
        double most = -INFINITY, sum = 0;

        for (size_t i = 0; i < n; i++)
                most = fmax(most, log_weight[i]);
        for (size_t i = 0; i < n; i++)
                sum += log_weight[i] = exp(log_weight[i] - most);
        for (size_t i = 0; i < n; i++)
                log_weight[i] /= sum;
}

/* Root of the mean square of a value on a grid around @unit, by the rows and a log-normal prior. */
static int learn_size(struct work *work, double *value, const double *sizes, size_t n, double unit, double prior_sd)
{
        double weight[16], squares = 0;
        int err = 0;

        for (size_t i = 0; !err && i < n; i++) {
                *value = sizes[i] * unit;
                err = scatter_evidence(work, &weight[i]);
                weight[i] -= pow(log(sizes[i]) / prior_sd, 2) / 2;
        }
        if (err)
                return err;
        weigh(weight, n);
        for (size_t i = 0; i < n; i++)
                squares += weight[i] * pow(sizes[i] * unit, 2);
        *value = sqrt(squares);
        return 0;
}

/* Mean time that an app was in a row, by its energy squared. */
static double usual_seconds(const struct design *design)
{
        double sum = 0, squares = 0;

        for (size_t u = 0; u < design->n_uses; u++) {
                sum += pow(design->uses[u].energy_j, 2) * design->uses[u].seconds;
                squares += pow(design->uses[u].energy_j, 2);
        }
        return squares > 0 ? sum / squares : 0;
}

/* Rows mostly show the variation over their own length, so that is kept constant while the time constant is learnt. */
static int learn_tau(struct work *work, double usual_s)
{
        struct scatter *scatter = &work->design->scatter;
        double seconds = usual_seconds(work->design), mean = 0, weight[ARRAY_SIZE(tau_grid_s)];
        double level2 = pow(scatter->within, 2) * model_averaged(seconds, scatter->tau_s);
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(tau_grid_s); i++) {
                scatter->tau_s = tau_grid_s[i];
                scatter->within = fmin(sqrt(level2 / model_averaged(seconds, scatter->tau_s)), WITHIN_MOST);
                err = scatter_evidence(work, &weight[i]);
                weight[i] -= pow(log(tau_grid_s[i] / usual_s) / TAU_SD, 2) / 2;
        }
        if (err)
                return err;
        weigh(weight, ARRAY_SIZE(tau_grid_s));
        for (size_t i = 0; i < ARRAY_SIZE(tau_grid_s); i++)
                mean += weight[i] * log(tau_grid_s[i]);
        scatter->tau_s = exp(mean);
        scatter->within = fmin(sqrt(level2 / model_averaged(seconds, scatter->tau_s)), WITHIN_MOST);
        return 0;
}

/* @usual: the prior. */
int posterior_learn_scatter(struct work *work, const struct scatter *usual)
{
        struct scatter *scatter = &work->design->scatter;
        int err = learn_size(work, &scatter->within, within_grid, ARRAY_SIZE(within_grid), usual->within, WITHIN_SD);

        if (!err)
                err = learn_tau(work, usual->tau_s);
        if (!err && usual->background_w > 0)
                err = learn_size(work, &scatter->background_w, background_grid, ARRAY_SIZE(background_grid),
                                 usual->background_w, BACKGROUND_SD);
        design_vary(work->design);
        return err ? err : posterior_whiten(work);
}
