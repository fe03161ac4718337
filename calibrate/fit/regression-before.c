/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * With --only, the earlier calibration is the prior of everything that is not measured again. Kept
 * coefficients are not estimated: their values and covariance stay. New coefficients get the additional error
 * that follows from the kept ones, and the covariance with them (Schmidt-Kalman filter: Schmidt, Application
 * of state-space methods to navigation problems, 1966).
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>

#include "regression-private.h"
#include "util/util.h"

/* Relative change of the base since then, through other services or another release: standard deviation. */
#define BASE_DRIFT 0.1
/*
 * A gauge's error curve differs in the part of its range that is used this time; the same value as in learn.
 */
#define CURVE_DRIFT 0.006
/* A lower bound, so that the covariance can be inverted. */
#define LEAST 1e-4

struct known {
        size_t *column;  /* columns of the regression */
        size_t *at;      /* indices in the earlier profile */
        size_t n;
};

static void known_clear(struct known *known)
{
        free(known->column);
        free(known->at);
}

static void know(struct known *known, const struct profile *before, const struct coefficient *coefficient,
                 size_t column)
{
        ssize_t at = profile_find(before, coefficient->term, coefficient->policy, coefficient->point, "");

        if (at < 0)
                return;
        known->column[known->n] = column;
        known->at[known->n++] = (size_t)at;
}

/*
 * Columns that the earlier profile has and that are not measured again, the base, and the waves of the gauge.
 */
static int find_known(const struct work *work, struct known *ret)
{
        const struct columns *columns = work->columns;
        struct known known = { .column = calloc(work->q, sizeof(*known.column)),
                               .at = calloc(work->q, sizeof(*known.at)) };

        if (!known.column || !known.at) {
                known_clear(&known);
                return -ENOMEM;
        }
        for (size_t j = 0; j < columns->n; j++)
                if (columns->kept[j] || columns->list[j].term == TERM_BASE)
                        know(&known, columns->device.before, &columns->list[j], j);
        for (size_t j = work->fit->p; j < work->q; j++) {
                struct coefficient wave = { .term = TERM_CURVE, .point = (uint32_t)(j - work->fit->p) + 1 };

                know(&known, columns->device.before, &wave, j);
        }
        *ret = known;
        return 0;
}

/*
 * Without the errors of a current sensor: this run uses the same sensor, and they are added at the end
 * (outcome.c).
 */
static double covariance_of(const struct work *work, size_t i, size_t j)
{
        const struct profile *before = work->columns->device.before;
        const struct coefficient *a = &before->coefficients[i], *b = &before->coefficients[j];
        double value = profile_covariance(before, i, j);

        if (work->fit->z > 0)
                return value;
        value -= GAUGE_GAIN * GAUGE_GAIN * a->value * b->value;
        return a->term == TERM_BASE && i == j ? value - GAUGE_OFFSET_MW * GAUGE_OFFSET_MW : value;
}

/* Standard deviation of the change since then, of coefficients that are not kept. */
static double drift(const struct coefficient *coefficient)
{
        if (coefficient->term == TERM_CURVE)
                return CURVE_DRIFT;
        return coefficient->term == TERM_BASE ? BASE_DRIFT * coefficient->value : 0;
}

int regression_before_make(struct work *work)
{
        const struct profile *before = work->columns->device.before;
        size_t base = work->columns->term[TERM_BASE];
        _cleanup_matrix_ gsl_matrix *covariance = NULL, *information = NULL;
        _cleanup_(known_clear) struct known known = { 0 };
        int err;

        if (!before)
                return 0;
        err = find_known(work, &known);
        if (err)
                return err;
        covariance = gsl_matrix_alloc(known.n, known.n);
        information = gsl_matrix_alloc(known.n, known.n);
        work->before = gsl_matrix_calloc(work->q, work->q);
        work->before_value = gsl_vector_calloc(work->q);
        work->before_moment = gsl_vector_calloc(work->q);
        if (!covariance || !information || !work->before || !work->before_value || !work->before_moment)
                return -ENOMEM;
        for (size_t a = 0; a < known.n; a++) {
                const struct coefficient *coefficient = &before->coefficients[known.at[a]];

                for (size_t b = 0; b < known.n; b++)
                        gsl_matrix_set(covariance, a, b, covariance_of(work, known.at[a], known.at[b]));
                *gsl_matrix_ptr(covariance, a, a) += LEAST * LEAST + pow(drift(coefficient), 2);
                gsl_vector_set(work->before_value, known.column[a], coefficient->value);
        }
        /* Rows show the base without the rare tasks that it includes (regression_recentre()). */
        *gsl_vector_ptr(work->before_value, base) -= RARE_PART * work->fit->noise.background_sd_mw;
        err = algebra_invert(covariance, information);
        if (err)
                return err;
        for (size_t a = 0; a < known.n; a++)
                for (size_t b = 0; b < known.n; b++)
                        gsl_matrix_set(work->before, known.column[a], known.column[b],
                                       gsl_matrix_get(information, a, b));
        gsl_blas_dgemv(CblasNoTrans, 1, work->before, work->before_value, 0, work->before_moment);
        return 0;
}

void regression_before_keep(struct work *work)
{
        const struct columns *columns = work->columns;
        const struct profile *before = columns->device.before;

        for (size_t i = 0; before && i < columns->n; i++) {
                const struct coefficient *a = &columns->list[i];
                size_t at = (size_t)profile_find(before, a->term, a->policy, a->point, "");

                if (!columns->kept[i])
                        continue;
                gsl_vector_set(work->fit->value, i, before->coefficients[at].value);
                for (size_t j = 0; j < columns->n; j++) {
                        const struct coefficient *b = &columns->list[j];

                        if (columns->kept[j])
                                gsl_matrix_set(work->fit->covariance, i, j,
                                               covariance_of(work, at, (size_t)profile_find(before, b->term, b->policy,
                                                                                            b->point, "")));
                }
        }
}
