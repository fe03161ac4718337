/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/quantile.h"
#include "util/tuning.h"
#include "util/util.h"

void rate_clear(struct rate *rate)
{
        model_vector_clear(&rate->vector);
}

/*
 * The error of the mean and the deviation of a session are common to the whole span; noise averages out. All of it
 * is widened by Student's t against the normal, because few sessions give a poor estimate of their variance.
 */
double rate_sd_j(const struct rate *rate, double seconds)
{
        double widen = quantile_student_t(fmax(rate->degrees_of_freedom, 1), 0.9) / quantile_normal(0.9);
        double common_w2 = rate->session_sd_w * rate->session_sd_w + rate->mean_sd_w * rate->mean_sd_w;

        return widen * sqrt(seconds * seconds * common_w2 + rate->noise_j2_per_s * seconds);
}

static int scale_vector(const struct model_vector *from, double factor, struct model_vector *ret)
{
        *ret = (struct model_vector){ 0 };
        return model_vector_add_scaled(ret, from, factor);
}

/* A variance with its degrees of freedom, combined with the prior. */
static double with_prior(double sum_of_squares, double dof, double prior)
{
        return (sum_of_squares + TUNING_PRIOR_DOF * prior) / (fmax(dof, 0) + TUNING_PRIOR_DOF);
}

struct spread {
        double weighted_squares; /* sum of active_s * (power - mean)^2 over pieces */
        size_t n;
};

static void spread_add(struct spread *spread, double active_s, double energy_j, double mean_w)
{
        double deviation_w;

        if (!(active_s > 0))
                return;
        deviation_w = energy_j / active_s - mean_w;
        spread->weighted_squares += active_s * deviation_w * deviation_w;
        spread->n++;
}

/*
 * Pieces of white noise of N J^2/s and length a have the variance N/a, so sum a (p - mean)^2 is about (n - 1)
 * N, for blocks as for sessions; what sessions have beyond that is their own: n_sessions - 1 times the mean
 * length times s^2. Only observed noise is subtracted from them: the prior's would hide the differences between
 * sessions that are too short to show any.
 */
int rate_of_app(const struct history *history, size_t app, enum app_state state, struct rate *ret)
{
        const struct history_state *sum = &history->apps[app].states[state];
        struct spread blocks = { 0 }, sessions = { 0 };
        double session_s = 0, session_j = 0, length_s, within, within_dof, noise, seen, between;
        int64_t last_ns = INT64_MIN;
        struct rate rate = { .seconds = sum->active_s };
        int err;

        if (!(sum->active_s > 0))
                return -ENODATA;
        err = scale_vector(&sum->sum, 1 / sum->active_s, &rate.vector);
        if (err < 0)
                return err;
        rate.power_w = model_energy_mj(history->profile, &rate.vector) * 1e-3;
        for (size_t i = 0; i < history->n_uses; i++) {
                const struct history_use *use = &history->uses[i];
                const struct history_block *block = &history->blocks[use->block];

                if (use->app != app || use->state != state)
                        continue;
                if (last_ns != INT64_MIN &&
                    block->start_ns > last_ns + (int64_t)(TUNING_SESSION_GAP_S * 1e9)) {
                        spread_add(&sessions, session_s, session_j, rate.power_w);
                        session_s = session_j = 0;
                }
                last_ns = block->end_ns;
                session_s += use->active_s;
                session_j += use->energy_mj * 1e-3;
                spread_add(&blocks, use->active_s, use->energy_mj * 1e-3, rate.power_w);
        }
        spread_add(&sessions, session_s, session_j, rate.power_w);
        length_s = rate.seconds / fmax((double)sessions.n, 1);
        within = fmax(blocks.weighted_squares - sessions.weighted_squares, 0);
        within_dof = (double)blocks.n - (double)sessions.n;
        noise = with_prior(within, within_dof, pow(TUNING_BLOCK_SD * rate.power_w, 2) * TUNING_BLOCK_S);
        seen = within_dof > 0 ? within / within_dof : 0;
        between = with_prior(
                fmax(sessions.weighted_squares - ((double)sessions.n - 1) * seen, 0) / length_s,
                (double)sessions.n - 1,
                fmax(TUNING_SESSION_SHARE * noise / TUNING_BLOCK_S,
                     pow(TUNING_SESSION_SD * rate.power_w, 2)));
        rate.n_sessions = sessions.n;
        rate.noise_j2_per_s = noise;
        rate.session_sd_w = sqrt(between);
        rate.mean_sd_w = sqrt(between / fmax((double)sessions.n, 1) + noise / rate.seconds);
        rate.degrees_of_freedom = (double)sessions.n - 1 + TUNING_PRIOR_DOF;
        *ret = rate;
        return 0;
}

int rate_of_base(const struct history *history, struct rate *awake)
{
        struct rate rate = { .seconds = history->awake_s, .degrees_of_freedom = INFINITY };
        int err;

        if (!(history->awake_s > 0))
                return -ENODATA;
        err = scale_vector(&history->base, 1 / history->awake_s, &rate.vector);
        if (err < 0)
                return err;
        rate.power_w = model_energy_mj(history->profile, &rate.vector) * 1e-3;
        *awake = rate;
        return 0;
}

/* Seconds of each block by the app that had the screen: a column for each of the apps, then other apps, then none. */
static double *screen_shares(const struct history *history, const size_t *apps, size_t n_apps)
{
        size_t columns = n_apps + 2;
        double *shares = calloc(history->n_blocks * columns + 1, sizeof(*shares));

        if (!shares)
                return NULL;
        for (size_t b = 0; b < history->n_blocks; b++) {
                const struct history_block *block = &history->blocks[b];
                double foreground_s = fmin(block->foreground_s, block->awake_s);

                shares[b * columns + n_apps] = foreground_s;
                shares[b * columns + n_apps + 1] = block->awake_s - foreground_s;
        }
        for (size_t i = 0; i < history->n_uses; i++) {
                const struct history_use *use = &history->uses[i];
                double *row = shares + use->block * columns;

                for (size_t a = 0; a < n_apps; a++) {
                        if (use->app != apps[a] || use->state != STATE_FOREGROUND)
                                continue;
                        row[a] += fmin(use->active_s, row[n_apps]);
                        row[n_apps] -= fmin(use->active_s, row[n_apps]);
                        break;
                }
        }
        return shares;
}

/* In place: the lower triangle L of a matrix = L L'. It is positive definite by its prior. */
static void cholesky(double *matrix, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j <= i; j++) {
                        double sum = matrix[i * n + j];

                        for (size_t k = 0; k < j; k++)
                                sum -= matrix[i * n + k] * matrix[j * n + k];
                        matrix[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / matrix[j * n + j];
                }
        }
}

static void solve(const double *lower, size_t n, double *x)
{
        for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < i; k++)
                        x[i] -= lower[i * n + k] * x[k];
                x[i] /= lower[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
                for (size_t k = i + 1; k < n; k++)
                        x[i] -= lower[k * n + i] * x[k];
                x[i] /= lower[i * n + i];
        }
}

struct regression {
        const struct history *history;
        const double *shares;
        size_t columns;
        double *matrix, *x; /* columns squared; columns */
        double awake_s;
};

/* Normal equations, each block weighted by 1/length, as noise is white; plus the prior. */
static void make_matrix(struct regression *r)
{
        size_t n = r->columns;

        for (size_t i = 0; i < n; i++)
                r->matrix[i * n + i] = TUNING_BACKGROUND_PRIOR_S;
        for (size_t b = 0; b < r->history->n_blocks; b++) {
                const double *row = r->shares + b * n;
                double awake_s = r->history->blocks[b].awake_s;

                if (!(awake_s > 0))
                        continue;
                for (size_t i = 0; i < n; i++) {
                        for (size_t j = 0; j <= i && row[i] != 0; j++)
                                r->matrix[i * n + j] += row[i] * row[j] / awake_s;
                }
        }
        cholesky(r->matrix, n);
}

/* One coefficient's weight per second, by column, into x. */
static void solve_weight(struct regression *r, size_t coefficient)
{
        const struct history *history = r->history;
        double mean = history->background.weight[coefficient] / r->awake_s;

        for (size_t i = 0; i < r->columns; i++)
                r->x[i] = TUNING_BACKGROUND_PRIOR_S * mean;
        for (size_t b = 0; b < history->n_blocks; b++) {
                const struct history_block *block = &history->blocks[b];
                const double *row = r->shares + b * r->columns;

                if (!(block->awake_s > 0) || block->background[coefficient] == 0)
                        continue;
                for (size_t i = 0; i < r->columns; i++)
                        r->x[i] += row[i] * block->background[coefficient] / block->awake_s;
        }
        solve(r->matrix, r->columns, r->x);
}

/* Residuals of the blocks from the sum of their kinds, as white noise: J^2/s. */
static double residual_noise(const struct regression *r, const struct rate *rates)
{
        const struct history *history = r->history;
        double sum = 0, mean_w = 0;
        size_t n = 0;

        for (size_t b = 0; b < history->n_blocks; b++) {
                const struct history_block *block = &history->blocks[b];
                double error_j = 0;

                if (!(block->awake_s > 0))
                        continue;
                for (size_t c = 0; c < history->profile->n_coefficients; c++)
                        error_j += block->background[c] * history->profile->coefficients[c].value * 1e-3;
                mean_w += error_j / r->awake_s;
                for (size_t i = 0; i < r->columns; i++)
                        error_j -= r->shares[b * r->columns + i] * rates[i].power_w;
                sum += error_j * error_j / block->awake_s;
                n++;
        }
        return with_prior(sum, (double)n - (double)r->columns,
                          pow(TUNING_BLOCK_SD * mean_w, 2) * TUNING_BLOCK_S);
}

static int fill_rates(struct regression *r, struct rate *ret)
{
        const struct history *history = r->history;
        double noise;

        make_matrix(r);
        for (size_t i = 0; i < r->columns; i++) {
                int err = scale_vector(&history->background, 0, &ret[i].vector);

                if (err < 0)
                        return err;
        }
        for (size_t c = 0; c < history->profile->n_coefficients; c++) {
                if (history->background.weight[c] == 0)
                        continue;
                solve_weight(r, c);
                for (size_t i = 0; i < r->columns; i++)
                        ret[i].vector.weight[c] = fmax(r->x[i], 0);
        }
        for (size_t i = 0; i < r->columns; i++)
                ret[i].power_w = model_energy_mj(history->profile, &ret[i].vector) * 1e-3;
        noise = residual_noise(r, ret);
        for (size_t i = 0; i < r->columns; i++) {
                double seconds = r->matrix[i * r->columns + i] * r->matrix[i * r->columns + i];

                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        ret[i].vector.component_spread_mj[c] =
                                history->background.component_spread_mj[c] / r->awake_s;
                ret[i].vector.unpriced = history->background.unpriced; /* without a weight, kinds cannot differ in it */
                ret[i].noise_j2_per_s = noise;
                ret[i].session_sd_w = TUNING_SESSION_SD * ret[i].power_w;
                ret[i].mean_sd_w = sqrt(noise / seconds);
                ret[i].degrees_of_freedom = (double)history->n_blocks + TUNING_PRIOR_DOF;
                ret[i].seconds = seconds;
        }
        return 0;
}

int rate_of_background(const struct history *history, const size_t *apps, size_t n_apps, struct rate *ret)
{
        size_t columns = n_apps + 2;
        _cleanup_free_ double *shares = screen_shares(history, apps, n_apps);
        _cleanup_free_ double *matrix = calloc(columns * columns, sizeof(*matrix));
        _cleanup_free_ double *x = calloc(columns, sizeof(*x));
        struct regression regression = { history, shares, columns, matrix, x, history->awake_s };
        int err;

        if (!shares || !matrix || !x)
                return -ENOMEM;
        if (!(history->awake_s > 0))
                return -ENODATA;
        memset(ret, 0, columns * sizeof(*ret));
        err = fill_rates(&regression, ret);
        if (err < 0) {
                for (size_t i = 0; i < columns; i++)
                        rate_clear(&ret[i]);
        }
        return err;
}
