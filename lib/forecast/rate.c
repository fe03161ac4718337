/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cholesky.h"
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

/* An app's power over its sessions, and the spread around it. Older sessions have less weight. */
struct sessions {
        double power_w, seconds;     /* mean power, and time; weighted */
        size_t n;
        double dof;                  /* degrees of freedom between sessions: their effective number less one */
        double between_w2;           /* sum of squares between sessions beyond what their blocks explain */
        double within_j2_per_s;      /* sum of squares of the blocks within sessions, as white noise */
        double within_dof;
        double weights, squares;     /* sum of the weights and of their squares */
};

struct piece {
        double seconds, energy_j;
        size_t session;
};

/* Lists the blocks of an app, ascending; returns the number of sessions. */
static size_t list_pieces(const struct history *history, size_t app, enum app_state state, struct piece *pieces,
                          size_t *n)
{
        int64_t last_ns = INT64_MIN;
        size_t n_sessions = 0;

        *n = 0;
        for (size_t i = 0; i < history->n_uses; i++) {
                const struct history_use *use = &history->uses[i];
                const struct history_block *block = &history->blocks[use->block];

                if (use->app != app || use->state != state || !(use->active_s > 0))
                        continue;
                n_sessions += last_ns == INT64_MIN || history_is_new_session(last_ns, block->start_ns);
                last_ns = block->end_ns;
                pieces[(*n)++] = (struct piece){ use->active_s, use->energy_mj * 1e-3, n_sessions - 1 };
        }
        return n_sessions;
}

/*
 * Finds the weights of the sessions, from the newest back, as history.c weighs its sums.
 */
static void weigh_sessions(const struct piece *sessions, size_t n, double *weights)
{
        double age = 0;

        for (size_t i = n; i-- > 0;) {
                if (i + 1 < n)
                        age += history_session_part(sessions[i].seconds);
                weights[i] = exp2(-age / TUNING_SESSION_HALF);
        }
}

/*
 * Pieces of white noise of N J^2/s and length a have the variance N/a, so sum a (p - mean)^2 is about (n - 1)
 * N, for blocks as for sessions; what sessions have beyond that is their own: n_sessions - 1 times the mean
 * length times s^2. Only observed noise is subtracted from them: the prior's would hide the differences between
 * sessions that are too short to show any. Weights are scaled so that they sum to the effective number of sessions.
 */
static void find_spread(const struct piece *pieces, size_t n_pieces, const struct piece *sessions,
                        const double *weights, struct sessions *ret)
{
        double scale = ret->weights / ret->squares, between = 0, blocks = 0, pieces_n = 0, length_s, seen;

        for (size_t i = 0; i < ret->n; i++) {
                double off_w = sessions[i].energy_j / sessions[i].seconds - ret->power_w;

                between += scale * weights[i] * sessions[i].seconds * off_w * off_w;
        }
        for (size_t i = 0; i < n_pieces; i++) {
                double weight = scale * weights[pieces[i].session];
                double off_w = pieces[i].energy_j / pieces[i].seconds - ret->power_w;

                blocks += weight * pieces[i].seconds * off_w * off_w;
                pieces_n += weight;
        }
        length_s = ret->seconds / ret->weights;
        ret->dof = scale * ret->weights - 1;
        ret->within_j2_per_s = fmax(blocks - between, 0);
        ret->within_dof = fmax(pieces_n - scale * ret->weights, 0);
        seen = ret->within_dof > 0 ? ret->within_j2_per_s / ret->within_dof : 0;
        ret->between_w2 = fmax(between - ret->dof * seen, 0) / length_s;
}

/* 0; -ENODATA: it was never seen in that state; -ENOMEM. */
static int sessions_of(const struct history *history, size_t app, enum app_state state, struct sessions *ret)
{
        size_t n_pieces, n;
        _cleanup_free_ struct piece *pieces = calloc(history->n_uses + 1, sizeof(*pieces));
        _cleanup_free_ struct piece *sessions = NULL;
        _cleanup_free_ double *weights = NULL;

        if (!pieces)
                return -ENOMEM;
        n = list_pieces(history, app, state, pieces, &n_pieces);
        *ret = (struct sessions){ .n = n };
        if (n == 0)
                return -ENODATA;
        sessions = calloc(n, sizeof(*sessions));
        weights = calloc(n, sizeof(*weights));
        if (!sessions || !weights)
                return -ENOMEM;
        for (size_t i = 0; i < n_pieces; i++) {
                sessions[pieces[i].session].seconds += pieces[i].seconds;
                sessions[pieces[i].session].energy_j += pieces[i].energy_j;
        }
        weigh_sessions(sessions, n, weights);
        for (size_t i = 0; i < n; i++) {
                ret->seconds += weights[i] * sessions[i].seconds;
                ret->power_w += weights[i] * sessions[i].energy_j;
                ret->weights += weights[i];
                ret->squares += weights[i] * weights[i];
        }
        ret->power_w /= ret->seconds;
        find_spread(pieces, n_pieces, sessions, weights, ret);
        return 0;
}

/* Spread between other apps' sessions, relative to their power: sums of squares, and degrees of freedom. */
static int pool_others(const struct history *history, size_t app, enum app_state state, double *squares, double *dof)
{
        *squares = *dof = 0;
        for (size_t i = 1; i < history->n_apps; i++) {
                struct sessions other;
                int err;

                if (i == app || state != STATE_FOREGROUND || !(history->apps[i].states[state].active_s > 0))
                        continue;
                err = sessions_of(history, i, state, &other);
                if (err == -ENOMEM)
                        return err;
                if (err || !(other.power_w > 0) || !(other.dof > 0))
                        continue;
                *squares += other.between_w2 / (other.power_w * other.power_w);
                *dof += other.dof;
        }
        return 0;
}

int rate_of_app(const struct history *history, size_t app, enum app_state state, struct rate *ret)
{
        const struct history_state *used = &history->apps[app].states[state];
        double noise, own, prior, between, squares = 0, dof = 0;
        struct sessions sessions;
        struct rate rate = { .seconds = used->active_s };
        int err = used->active_s > 0 ? sessions_of(history, app, state, &sessions) : -ENODATA;

        if (err == 0)
                err = pool_others(history, app, state, &squares, &dof);
        if (err == 0)
                err = scale_vector(&used->recent, 1 / used->recent_s, &rate.vector);
        if (err < 0)
                return err;
        rate.power_w = model_energy_mj(history->profile, &rate.vector) * 1e-3;
        noise = with_prior(sessions.within_j2_per_s, sessions.within_dof,
                           pow(TUNING_BLOCK_SD * rate.power_w, 2) * TUNING_BLOCK_S);
        own = fmax(TUNING_SESSION_SHARE * noise / TUNING_BLOCK_S, pow(TUNING_SESSION_SD * rate.power_w, 2));
        prior = (squares * rate.power_w * rate.power_w + TUNING_PRIOR_DOF * own) / (dof + TUNING_PRIOR_DOF);
        between = with_prior(sessions.between_w2, sessions.dof, prior);
        rate.n_sessions = sessions.n;
        rate.noise_j2_per_s = noise;
        rate.session_sd_w = sqrt(between);
        rate.mean_sd_w = sqrt(between * sessions.squares / (sessions.weights * sessions.weights) +
                              noise / sessions.seconds);
        rate.degrees_of_freedom = sessions.dof + TUNING_PRIOR_DOF;
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
        cholesky_make(r->matrix, n);
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
        cholesky_solve(r->matrix, r->columns, r->x);
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
