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

/* Standard deviation of the error that all rows of the mode share. @mw: the row's power above the least of all rows. */
static double program_sd(const struct noise *noise, const struct row *row, double mw)
{
        if (row->kernel)
                return KERNEL_SD * mw;
        return row->observation->usage.counted.n > 0 ? noise->program_error * mw : 0;
}

static bool same_mode(const struct row *a, const struct row *b)
{
        return strcmp(a->observation->mode, b->observation->mode) == 0;
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

static double least_power(const size_t *index, size_t n, const double *power)
{
        double least = INFINITY;

        for (size_t a = 0; a < n; a++)
                least = fmin(least, power[index[a]]);
        return least;
}

/* Without that of program_sd(). */
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
        double hum = hum_variance(noise), least = least_power(index, n, power);

        for (size_t a = 0; a < n; a++) {
                const struct row *row = &rows->list[index[a]];
                bool touches = row->follows && index[a] > 0;
                double before = power_before(rows, index[a], power);
                double program = program_sd(noise, row, power[index[a]] - least);
                double variance = row_variance(noise, rows, index[a], power) + square(program);

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
                        if (same_mode(row, other))
                                shared += program * program_sd(noise, other, power[index[b]] - least);
                        if (same_mode(row, other) && !row->charge && !other->charge)
                                shared += sqrt(rounding_variance(noise, power[index[a]]) *
                                               rounding_variance(noise, power[index[b]])); /* more is no covariance */
                        gsl_matrix_set(covariance, a, b, shared);
                        gsl_matrix_set(covariance, b, a, shared);
                }
        }
}

/* Spans that touch may overlap by the rounding of their times. */
#define TOUCH_S 1e-6

/* A part of the variance that changes no result. */
#define NOTHING 1e-12

static bool is_chain(const struct rows *rows, const size_t *index, size_t n)
{
        for (size_t a = 0; a < n; a++) {
                const struct row *row = &rows->list[index[a]], *before = a > 0 ? &rows->list[index[a - 1]] : NULL;

                if (row->charge || (before && row->start_s < before->start_s + before->seconds - TOUCH_S))
                        return false;
        }
        return true;
}

/* A column for each error of each mode. */
struct mode_errors {
        gsl_matrix *shared;
        struct {
                const char *mode;
                bool rounding; /* else of the program */
        } columns[NOISE_SHARED_MAX];
        size_t n;
};

/* False: there are too many. */
static bool set_error(struct mode_errors *errors, size_t a, const char *mode, bool rounding, double sd)
{
        size_t c = 0;

        while (c < errors->n && (errors->columns[c].rounding != rounding || strcmp(errors->columns[c].mode, mode) != 0))
                c++;
        if (c == NOISE_SHARED_MAX)
                return false;
        if (c == errors->n) {
                errors->columns[errors->n].mode = mode;
                errors->columns[errors->n++].rounding = rounding;
        }
        gsl_matrix_set(errors->shared, a, c, sd);
        return true;
}

/* Errors that rows of a mode share, and in @variance what else each row has. The number of columns; -1: too many. */
static ssize_t share_errors(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                            const double *power, struct noise_link *chain, gsl_matrix *shared)
{
        struct mode_errors errors = { .shared = shared };
        double least = least_power(index, n, power);

        gsl_matrix_set_zero(shared);
        for (size_t a = 0; a < n; a++) {
                const struct row *row = &rows->list[index[a]];
                const char *mode = row->observation->mode;
                double rounding = rounding_variance(noise, power[index[a]]);
                double program = program_sd(noise, row, power[index[a]] - least);
                double variance = row_variance(noise, rows, index[a], power);

                chain[a].variance = variance - rounding;
                if (rounding <= NOTHING * variance)
                        chain[a].variance = variance;
                else if (!set_error(&errors, a, mode, true, sqrt(rounding)))
                        return -1;
                if (square(program) > NOTHING * variance && !set_error(&errors, a, mode, false, program))
                        return -1;
        }
        return (ssize_t)errors.n;
}

/* The recursion of a Kalman filter whose state is the background at the end of a row. */
ssize_t noise_chain_make(const struct noise *noise, const struct rows *rows, const size_t *index, size_t n,
                         const double *power, const double *extra, struct noise_link *chain, gsl_matrix *shared)
{
        double sd = sqrt(hum_variance(noise)), tau_s = noise->background_tau_s, state = 0, rest = 0;
        ssize_t n_shared = is_chain(rows, index, n) ? share_errors(noise, rows, index, n, power, chain, shared) : -1;

        for (size_t a = 0; a < n && n_shared >= 0; a++) {
                const struct row *row = &rows->list[index[a]], *before = a > 0 ? &rows->list[index[a - 1]] : row;
                double gap_s = a > 0 ? fmax(row->start_s - before->start_s - before->seconds, 0) : 0;
                double own = sd * -expm1(-row->seconds / tau_s) * tau_s / row->seconds;
                struct noise_link *link = &chain[a];

                link->read = own * exp(-gap_s / tau_s);
                link->carry = exp(-(gap_s + row->seconds) / tau_s);
                link->variance += (extra ? extra[a] : 0) - square(link->read) * state;
                if (!(link->variance > 0))
                        return -1;
                link->gain = (own - link->carry * state * link->read) / link->variance;
                state = square(link->carry) * state + square(link->gain) * link->variance;
        }
        for (size_t a = n; a-- > 0 && n_shared >= 0;) {
                struct noise_link *link = &chain[a];

                link->diagonal = 1 / link->variance + square(link->gain) * rest;
                rest = square(link->read) / link->variance + square(link->carry - link->gain * link->read) * rest;
        }
        return n_shared;
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
