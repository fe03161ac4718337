/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spread.h"

#include <math.h>

#include "fit/regression.h"
#include "percents.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Most delay of the level's refresh, in addition to the polls'; and standard deviation of the size of a step, relative
 * to one percent of charge. Both are the calibration's values (fit/regression.c), found on virtual devices.
 */
#define REFRESH_S 10.0
#define STEP_ERROR 0.007

/* An observation of this age counts half: apps are updated, batteries age. */
#define HALF_LIFE_S (30 * 86400.0)

size_t spread_stretch(const struct design *design, size_t first)
{
        size_t n = 1;

        while (first + n < design->n && design->rows[first + n].stretch == design->rows[first].stretch)
                n++;
        return n;
}

static double square(double value)
{
        return value * value;
}

static double power_w(const struct design_row *row)
{
        return (row->model_j > 0 ? row->model_j : row->energy_j) / row->seconds;
}

/* Variance of the energy at a step between two rows, or at an end (@other: NULL); 0 with a meter. */
static double step_j2(const struct design_row *row, double late_s, const struct design_row *other)
{
        double power = other ? (power_w(row) + power_w(other)) / 2 : power_w(row);
        double percent_j = row->everyday->percent > 0 ? row->energy_j / row->everyday->percent : 0;

        if (row->everyday->metered)
                return 0;
        return square(power) * (square(late_s) + square(REFRESH_S)) / 12 + square(STEP_ERROR * percent_j);
}

/*
 * Covariance of the integrals over two spans, @gap_s apart, of a process with autocorrelation exp(-t / tau) and
 * variance 1: Taylor 1921.
 */
static double shared_s2(double a_s, double b_s, double gap_s, double tau_s)
{
        return exp(-gap_s / tau_s) * expm1(-a_s / tau_s) * expm1(-b_s / tau_s) * tau_s * tau_s;
}

static double own_s2(double seconds, double tau_s)
{
        return 2 * tau_s * (seconds + tau_s * expm1(-seconds / tau_s));
}

/* Covariance of two rows by the variation of apps, which lasts from row to row. */
static double within_shared_j2(const struct design *design, size_t a, size_t b, double gap_s)
{
        const struct scatter *scatter = &design->scatter;
        const struct design_row *row = &design->rows[a], *other = &design->rows[b];
        double sum = 0;

        for (size_t i = row->first_use; i < design->n_uses && design->uses[i].row == a; i++)
                for (size_t k = other->first_use; k < design->n_uses && design->uses[k].row == b; k++)
                        if (design->uses[i].app && design->uses[i].app == design->uses[k].app)
                                sum += design->uses[i].energy_j * design->uses[k].energy_j;
        if (sum > 0 || sum < 0)
                sum *= square(scatter->within) * shared_s2(row->seconds, other->seconds, gap_s, scatter->tau_s) /
                       (row->seconds * other->seconds);
        return sum;
}

static double age(const struct design *design, const struct design_row *row)
{
        double seconds = (double)(design->rows[design->n - 1].everyday->end_ns - row->everyday->end_ns) / NS_PER_S;

        return exp2(fmin(fmax(seconds, 0) / HALF_LIFE_S / 2, 20));
}

void spread_covariance(const struct design *design, size_t first, size_t n, bool within, gsl_matrix *covariance)
{
        const struct noise *noise = &regression_options_default.noise;
        double background_j2 = square(design->scatter.background_w);
        double longest_s = 5 * fmax(noise->background_tau_s, within ? design->scatter.tau_s : 0);

        gsl_matrix_set_zero(covariance);
        for (size_t a = 0; a < n; a++) {
                const struct design_row *row = &design->rows[first + a], *before = a > 0 ? row - 1 : NULL;
                double start_j2 = step_j2(row, row->late_before_s, before);
                double gap_s = 0;

                *gsl_matrix_ptr(covariance, a, a) += start_j2 + square(noise->model_error * row->model_j) +
                                                     row->extra_j2 + (within ? row->within_j2 : 0) +
                                                     background_j2 * own_s2(row->seconds, noise->background_tau_s);
                if (a > 0) {
                        *gsl_matrix_ptr(covariance, a - 1, a - 1) += start_j2;
                        *gsl_matrix_ptr(covariance, a, a - 1) -= start_j2;
                }
                if (a + 1 == n)
                        *gsl_matrix_ptr(covariance, a, a) += step_j2(row, row->late_s, NULL);
                *gsl_matrix_ptr(covariance, a, a) += percents_variance_j2(design, row);
                for (size_t b = a; b-- > 0 && gap_s < longest_s;) {
                        if (within)
                                *gsl_matrix_ptr(covariance, a, b) +=
                                        within_shared_j2(design, first + a, first + b, gap_s);
                        *gsl_matrix_ptr(covariance, a, b) +=
                                noise->background_hum * background_j2 *
                                shared_s2(row->seconds, design->rows[first + b].seconds, gap_s,
                                          noise->background_tau_s);
                        gap_s += design->rows[first + b].seconds;
                }
        }
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b <= a; b++) {
                        double value = gsl_matrix_get(covariance, a, b) * age(design, &design->rows[first + a]) *
                                       age(design, &design->rows[first + b]);

                        gsl_matrix_set(covariance, a, b, value);
                        gsl_matrix_set(covariance, b, a, value);
                }
}
