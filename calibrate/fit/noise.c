/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "noise.h"

#include <math.h>
#include <string.h>

/*
 * Relative variance of the mean over @seconds of a process with correlation exp(-t / tau). Source: Taylor,
 * Diffusion by Continuous Movements, 1921.
 */
static double mean_variance(double seconds, double tau_s)
{
        double r = seconds / tau_s;

        if (r < 1e-3)
                return 1 - r / 3; /* series expansion, as the expression below would lose all digits */
        return 2 / r * (1 + expm1(-r) / r);
}

/* Relative covariance of the means over two spans that are @gap_s apart, by the same integral over both. */
static double mean_covariance(double a_s, double b_s, double gap_s, double tau_s)
{
        return exp(-gap_s / tau_s) * expm1(-a_s / tau_s) * expm1(-b_s / tau_s) * tau_s * tau_s / (a_s * b_s);
}

static double square(double value)
{
        return value * value;
}

/*
 * Variance of the mean error of rounding to multiples of q, while the reading varies by @sd around an unknown
 * value. All rows of one mode have the same error. First harmonic of the quantizer's error (Widrow and
 * Kollar, Quantization Noise, 2008).
 */
static double rounding_variance(const struct noise *noise, double power)
{
        double q = noise->gauge_quantum_mw, sd = hypot(noise->gauge_error * power, noise->background_sd_mw / 4);

        return q > 0 ? q * q / (2 * M_PI * M_PI) * exp(-square(2 * M_PI * sd / q)) : 0;
}

/* The delay of a step is uniform over one refresh, so its variance is this part of (refresh x power)^2. */
#define UNIFORM_VARIANCE (1.0 / 12)

static double own_variance(const struct noise *noise, bool charge, double power, double updates)
{
        if (charge)
                return (square(noise->level_error) + square(noise->scatter) + square(noise->model_error)) *
                       square(power);
        return (square(noise->gauge_error * power) + square(noise->gauge_quantum_mw) * UNIFORM_VARIANCE) /
                       updates +
               square(noise->model_error * power) + rounding_variance(noise, power);
}

/* A loop is an unusual program: this part of its CPU power is in no counter, and is the same in each of its rows. */
#define KERNEL_SD 0.07

/* @a_mw, @b_mw: their powers above the least of all rows. */
static double kernel_covariance(const struct row *a, const struct row *b, double a_mw, double b_mw)
{
        bool same = a->kernel && b->kernel && strcmp(a->observation->mode, b->observation->mode) == 0;

        return same ? square(KERNEL_SD) * a_mw * b_mw : 0;
}

static bool same_state(const struct row *a, const struct row *b)
{
        return !a->charge && !b->charge && strcmp(a->observation->mode, b->observation->mode) == 0;
}

static double delay_variance(double refresh_s, double power, double seconds)
{
        return UNIFORM_VARIANCE * square(refresh_s * power / seconds);
}

double noise_expected(const struct noise *noise, bool charge, double power_mw, double before_mw,
                      double seconds, double refresh_s, double updates)
{
        double variance = square(noise->background_sd_mw) * mean_variance(seconds, noise->background_tau_s) +
                          own_variance(noise, charge, power_mw, updates);

        if (charge)
                variance += delay_variance(refresh_s, power_mw, seconds) +
                            delay_variance(refresh_s, before_mw, seconds);
        return variance;
}

/*
 * Beside one percent's at the model's power: several percents are right on average. The charge that a percent
 * holds has the error, and its inverse is the observed power: relative to that the errors have a bound.
 */
static double scatter_more(const struct noise *noise, const struct row *row, double power)
{
        return square(noise->scatter) * (square(row->power_mw) / row->observation->steps - square(power));
}

/* Power of the row before, whose late step belongs to this one, too. */
static double power_before(const struct rows *rows, size_t i, const double *power)
{
        return rows->list[i].follows && i > 0 ? power[i - 1] : power[i];
}

/* Without the part of an unusual program. */
static double row_variance(const struct noise *noise, const struct rows *rows, size_t i, const double *power)
{
        const struct row *row = &rows->list[i];
        double variance = noise_expected(noise, row->charge, power[i], power_before(rows, i, power), row->seconds,
                                         row->refresh_s, row->updates);

        if (row->charge && row->observation->steps > 0)
                variance += scatter_more(noise, row, power[i]);
        if (row->lag_mw != 0) /* both readings are rounded */
                variance += 2 * UNIFORM_VARIANCE * square(rows->lag * noise->gauge_quantum_mw / row->updates);
        return variance;
}

static double hum_variance(const struct noise *noise)
{
        return noise->background_hum * square(noise->background_sd_mw);
}

void noise_covariance(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                      const double *power, const double *extra, gsl_matrix *covariance)
{
        double hum = hum_variance(noise), least = INFINITY;

        for (size_t a = 0; a < n; a++)
                least = fmin(least, power[index[a]]);
        for (size_t a = 0; a < n; a++) {
                const struct row *row = &rows->list[index[a]];
                bool touches = row->follows && index[a] > 0;
                double before = power_before(rows, index[a], power);
                double variance = row_variance(noise, rows, index[a], power) +
                                  kernel_covariance(row, row, power[index[a]] - least, power[index[a]] - least);

                gsl_matrix_set(covariance, a, a, variance + (extra ? extra[a] : 0));
                for (size_t b = 0; b < a; b++) {
                        const struct row *other = &rows->list[index[b]];
                        double gap = fmax(row->start_s - other->start_s - other->seconds, 0), shared;

                        shared = hum *
                                 mean_covariance(row->seconds, other->seconds, gap, noise->background_tau_s);
                        if (touches && row->charge && index[b] + 1 == index[a])
                                shared -= UNIFORM_VARIANCE *
                                          square(fmin(row->refresh_s, other->refresh_s) * before) /
                                          (row->seconds * other->seconds);
                        if (same_state(row, other)) /* the geometric mean: more would be no covariance */
                                shared += sqrt(rounding_variance(noise, power[index[a]]) *
                                               rounding_variance(noise, power[index[b]]));
                        shared += kernel_covariance(row, other, power[index[a]] - least, power[index[b]] - least);
                        gsl_matrix_set(covariance, a, b, shared);
                        gsl_matrix_set(covariance, b, a, shared);
                }
        }
}

/* Spans that touch may overlap by the rounding of their times. */
#define TOUCH_S 1e-6

/* A part of the variance that changes no result. */
#define NOTHING 1e-12

/* Are background activity and the rounding of a mode all that the rows share? */
static bool is_chain(const struct rows *rows, const size_t *index, size_t n)
{
        for (size_t a = 0; a < n; a++) {
                const struct row *row = &rows->list[index[a]], *before = a > 0 ? &rows->list[index[a - 1]] : NULL;

                if (row->charge || row->kernel ||
                    (before && row->start_s < before->start_s + before->seconds - TOUCH_S))
                        return false;
        }
        return true;
}

/* Standard deviations of the rounding error by row and mode. The number of modes; -1: too many. */
static ssize_t round_modes(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                           const double *power, gsl_matrix *rounding)
{
        const char *modes[NOISE_MODES_MAX];
        size_t n_modes = 0;

        gsl_matrix_set_zero(rounding);
        for (size_t a = 0; a < n; a++) {
                const char *mode = rows->list[index[a]].observation->mode;
                double variance = rounding_variance(noise, power[index[a]]);
                size_t m = 0;

                if (variance <= NOTHING * row_variance(noise, rows, index[a], power))
                        continue;
                while (m < n_modes && strcmp(modes[m], mode) != 0)
                        m++;
                if (m == NOISE_MODES_MAX)
                        return -1;
                if (m == n_modes)
                        modes[n_modes++] = mode;
                gsl_matrix_set(rounding, a, m, sqrt(variance));
        }
        return (ssize_t)n_modes;
}

/* The recursion of a Kalman filter whose state is the background at the end of a row. */
ssize_t noise_chain_make(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                         const double *power, const double *extra, struct noise_link *chain, gsl_matrix *rounding)
{
        double sd = sqrt(hum_variance(noise)), tau_s = noise->background_tau_s, state = 0, rest = 0;
        ssize_t n_modes = is_chain(rows, index, n) ? round_modes(noise, rows, index, n, power, rounding) : -1;

        for (size_t a = 0; a < n && n_modes >= 0; a++) {
                const struct row *row = &rows->list[index[a]], *before = a > 0 ? &rows->list[index[a - 1]] : row;
                double gap_s = a > 0 ? fmax(row->start_s - before->start_s - before->seconds, 0) : 0;
                double own = sd * -expm1(-row->seconds / tau_s) * tau_s / row->seconds;
                struct noise_link *link = &chain[a];

                link->read = own * exp(-gap_s / tau_s);
                link->carry = exp(-(gap_s + row->seconds) / tau_s);
                link->variance = row_variance(noise, rows, index[a], power) + (extra ? extra[a] : 0) -
                                 square(link->read) * state;
                for (ssize_t m = 0; m < n_modes; m++)
                        link->variance -= square(gsl_matrix_get(rounding, a, (size_t)m));
                link->gain = (own - link->carry * state * link->read) / link->variance;
                state = square(link->carry) * state + square(link->gain) * link->variance;
        }
        for (size_t a = n; a-- > 0 && n_modes >= 0;) {
                struct noise_link *link = &chain[a];

                link->diagonal = 1 / link->variance + square(link->gain) * rest;
                rest = square(link->read) / link->variance + square(link->carry - link->gain * link->read) * rest;
        }
        return n_modes;
}

void noise_chain_solve(const struct noise_link *chain, size_t n, double *x, size_t stride)
{
        double state = 0;

        for (size_t a = 0; a < n; a++) {
                double error = x[a * stride] - chain[a].read * state;

                state = chain[a].carry * state + chain[a].gain * error;
                x[a * stride] = error / chain[a].variance;
        }
        state = 0;
        for (size_t a = n; a-- > 0;) {
                x[a * stride] -= chain[a].gain * state;
                state = chain[a].carry * state + chain[a].read * x[a * stride];
        }
}

double noise_chain_variance(const struct noise_link *chain, size_t n, const double *x)
{
        double state = 0, sum = 0;

        for (size_t a = n; a-- > 0;) {
                sum += chain[a].variance * square(x[a] + chain[a].gain * state);
                state = chain[a].carry * state + chain[a].read * x[a];
        }
        return sum;
}
