/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast/cholesky.h"
#include "util/units.h"
#include "util/util.h"

#define POLICIES_MAX 64

/* Columns before those of the policies. */
enum {
        COLUMN_ONE,
        COLUMN_BRIGHTNESS,
        COLUMN_GPU,
        COLUMN_BYTES,
        COLUMNS
};

/* Added to the diagonal of the scaled columns' matrix, so that columns that depend on each other can be solved. */
#define DEPENDENT 1e-9

struct system {
        uint32_t policies[POLICIES_MAX];
        size_t n_policies;
        size_t p;         /* columns */
        double *scale;    /* p: root of the sum of squares; 0: left out */
        double *lower;    /* p x p, for the scaled columns */
        double *value;    /* p, for the scaled columns */
        double mean_mw;
        double seconds, joules;
};

static size_t policy_column(struct system *system, uint32_t policy)
{
        size_t i = 0;

        while (i < system->n_policies && system->policies[i] != policy)
                i++;
        if (i == system->n_policies && i < POLICIES_MAX)
                system->policies[system->n_policies++] = policy;
        return COLUMNS + MIN(i, (size_t)POLICIES_MAX - 1);
}

/* Fills the regressors of a span; @x has COLUMNS + POLICIES_MAX elements, all per second. */
static int fill(struct system *system, const struct measured_span *span, double *x)
{
        struct usage usage = { 0 };
        int err = measured_sum(span, &usage);

        memset(x, 0, (COLUMNS + POLICIES_MAX) * sizeof(*x));
        x[COLUMN_ONE] = 1;
        for (size_t i = 0; i < usage.screen.n; i++) {
                double level = usage.screen.list[i].brightness == BRIGHTNESS_UNKNOWN ?
                                       1 :
                                       usage.screen.list[i].brightness;

                x[COLUMN_BRIGHTNESS] += (double)usage.screen.list[i].on_ns / NS_PER_S / span->elapsed_s * level;
        }
        x[COLUMN_GPU] = (double)usage.gpu_busy_ns / NS_PER_S / span->elapsed_s;
        x[COLUMN_BYTES] = ((double)usage.wifi_rx_bytes + (double)usage.wifi_tx_bytes + (double)usage.other_rx_bytes +
                           (double)usage.other_tx_bytes) / BYTES_PER_MB / span->elapsed_s;
        for (size_t i = 0; i < usage.cpu.n; i++)
                x[policy_column(system, usage.cpu.list[i].policy)] += (double)usage.cpu.list[i].busy_ns /
                                                                      NS_PER_S / span->elapsed_s *
                                                                      fmax(usage.cpu.list[i].khz, 1) / 1e6;
        usage_clear(&usage);
        return err;
}

static void system_clear(struct system *system)
{
        free(system->scale);
        free(system->lower);
        free(system->value);
}

/* Scales the columns of @gram, makes dependent columns harmless, and solves. */
static void solve(struct system *system, double *gram, double *moment)
{
        size_t p = system->p;

        for (size_t a = 0; a < p; a++)
                system->scale[a] = sqrt(gram[a * p + a]);
        for (size_t a = 0; a < p; a++) {
                double own = system->scale[a];

                for (size_t b = 0; b < p; b++) {
                        double other = system->scale[b];

                        system->lower[a * p + b] = own > 0 && other > 0 ? gram[a * p + b] / own / other : 0;
                }
                system->lower[a * p + a] = 1 + DEPENDENT;
                system->value[a] = own > 0 ? moment[a] / own : 0;
        }
        cholesky_make(system->lower, p);
        cholesky_solve(system->lower, p, system->value);
}

static int fit(struct system *system, const struct measured_trace *on)
{
        size_t most = COLUMNS + POLICIES_MAX;
        _cleanup_free_ double *x = calloc(most, sizeof(*x)), *gram = calloc(most * most, sizeof(*gram));
        _cleanup_free_ double *moment = calloc(most, sizeof(*moment));
        int err = 0;

        system->p = most;
        system->scale = calloc(most, sizeof(*system->scale));
        system->lower = calloc(most * most, sizeof(*system->lower));
        system->value = calloc(most, sizeof(*system->value));
        if (!x || !gram || !moment || !system->scale || !system->lower || !system->value)
                return -ENOMEM;
        for (size_t i = 0; !err && i < on->n; i++) {
                const struct measured_span *span = &on->spans[i];

                err = fill(system, span, x);
                for (size_t a = 0; a < most; a++) {
                        moment[a] += x[a] * span->energy_j / span->elapsed_s;
                        for (size_t b = 0; b < most; b++)
                                gram[a * most + b] += x[a] * x[b];
                }
                system->seconds += span->elapsed_s;
                system->joules += span->energy_j;
                system->mean_mw += (span->energy_j / span->elapsed_s - system->mean_mw) / (double)(i + 1);
        }
        if (!err)
                solve(system, gram, moment);
        return err;
}

/* x' of a span times the value; and how much of that is the span itself (its leverage). */
static double predict(const struct system *system, const double *x, double *scaled, double *leverage)
{
        double sum = 0;

        for (size_t a = 0; a < system->p; a++)
                scaled[a] = system->scale[a] > 0 ? x[a] / system->scale[a] : 0;
        for (size_t a = 0; a < system->p; a++)
                sum += scaled[a] * system->value[a];
        *leverage = 0;
        for (size_t a = 0; a < system->p; a++) { /* L z = x; z'z */
                double z = scaled[a];

                for (size_t b = 0; b < a; b++)
                        z -= system->lower[a * system->p + b] * scaled[b];
                scaled[a] = z / system->lower[a * system->p + a];
                *leverage += scaled[a] * scaled[a];
        }
        return sum;
}

/* Without itself a row of leverage h is off by residual / (1 - h). */
#define LEVERAGE_MOST 0.999999

int baseline_make(const struct measured_trace *trace, const struct measured_trace *on, struct baseline *list)
{
        double x[COLUMNS + POLICIES_MAX], scaled[COLUMNS + POLICIES_MAX];
        struct system system = { 0 };
        int err = fit(&system, on ? on : trace);
        double n = (double)(on ? on->n : trace->n);

        for (size_t i = 0; !err && i < trace->n; i++) {
                const struct measured_span *span = &trace->spans[i];
                double power = span->energy_j / span->elapsed_s, leverage, value;

                err = fill(&system, span, x);
                if (err)
                        break;
                value = predict(&system, x, scaled, &leverage);
                list[i].constant_j = (on ? system.mean_mw : (system.mean_mw * n - power) / (n - 1)) * span->elapsed_s;
                if (!on)
                        value = leverage < LEVERAGE_MOST ? power - (power - value) / (1 - leverage) : NAN;
                list[i].least_squares_j = value * span->elapsed_s;
                if (n < 2)
                        list[i] = (struct baseline){ on ? list[i].constant_j : NAN, NAN };
        }
        system_clear(&system);
        return err;
}
