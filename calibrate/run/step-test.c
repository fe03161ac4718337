/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "step-test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/*
 * Error of a reading, relative to it; and power of daemons, relative to the power at rest, with its time constant.
 */
#define READING_ERROR 0.01
#define DAEMONS 0.125
#define DAEMONS_TAU_S 300.0
#define RISE_S 0.5           /* time that the load needs to rise */
#define INSTANT_S 0.25
#define UNSHOWN 0.02         /* part of a step that is not shown yet, from which on the gauge is settled */
#define SEEN_BEFORE_S 300.0  /* time before the first reading that a smoother may remember */
/*
 * The gauge has another kernel if none of these forms fits better than this, and if its times of rising and falling
 * differ by this factor.
 */
#define OTHER_CHI2 2.5
#define OTHER_FACTOR 1.3
#define EDGE_READINGS_MIN 6
#define LONGEST_S 150.0
#define ABOUT_AN_UPDATE 1.1  /* a mean over at most this number of periods is the mean since the last update */
#define LEAST_STEP 0.05      /* least step, relative to the power at rest, of a gauge that follows the load */

const char *const gauge_kind_words[GAUGE_KINDS] = { "", "plain", "instant", "exponential", "mean", "other" };

enum gauge_kind step_test_kind(const char *word)
{
        for (enum gauge_kind kind = 0; kind < GAUGE_KINDS; kind++)
                if (strcmp(word, gauge_kind_words[kind]) == 0)
                        return kind;
        return GAUGE_UNTESTED;
}

struct gauge_kernel step_test_kernel(const char *word, double seconds, double delay_s)
{
        enum gauge_kind kind = step_test_kind(word);

        if (kind == GAUGE_UNTESTED || !(seconds >= 0) || !(delay_s >= 0))
                return (struct gauge_kernel){ 0 };
        return (struct gauge_kernel){ .kind = kind, .seconds = seconds, .delay_s = delay_s };
}

/* One hypothesis, and its distance from the readings (chi2). */
struct guess {
        enum gauge_kind kind;
        double seconds, delay_s, chi2, base_mw, load_mw;
};

struct work {
        const struct step_test *test;
        size_t first, n, n_edges; /* the readings and edges that are looked at */
        double *root;             /* n x n: lower Cholesky factor of the readings' covariance */
        double *y, *one, *r;      /* n: white */
        double one_one, one_y, y_y;
};

static void work_clear(struct work *work)
{
        free(work->root);
        free(work->y);
        free(work->one);
        free(work->r);
}

/* Integral of the load up to @s. */
static double load_until(const struct work *work, double s)
{
        double sum = 0, before = 0;

        for (size_t e = 0; e < work->n_edges; e++) {
                double x = s - work->test->edges[e].s;

                if (x > 0)
                        sum += (work->test->edges[e].share - before) *
                               (x < RISE_S ? x * x / (2 * RISE_S) : x - RISE_S / 2);
                before = work->test->edges[e].share;
        }
        return sum;
}

static double load_mean(const struct work *work, double from_s, double to_s)
{
        return (load_until(work, to_s) - load_until(work, from_s)) / fmax(to_s - from_s, 1e-9);
}

/*
 * The smoother goes over all updates, also those between two readings that were kept and those before the
 * first.
 */
static void smooth(const struct work *work, double tau_s, double delay_s, double *to)
{
        double period = work->test->period_s, keep = exp(-period / tau_s);
        double began = work->test->readings[work->first].s - delay_s, value, at;

        at = began -
             period * ceil((began - fmax(work->test->edges[0].s, began - SEEN_BEFORE_S)) / period + 1);
        value = load_mean(work, at - period, at);
        for (size_t i = 0; i < work->n; i++) {
                double until = work->test->readings[work->first + i].s - delay_s;

                for (; at + period / 2 < until; at += period)
                        value = keep * value + (1 - keep) * load_mean(work, at, at + period);
                to[i] = value;
        }
}

static void response(const struct work *work, const struct guess *guess, double *to)
{
        double span = guess->kind == GAUGE_POINT  ? INSTANT_S
                      : guess->kind == GAUGE_MEAN ? guess->seconds
                                                  : work->test->period_s;

        if (guess->kind == GAUGE_EXPONENTIAL) {
                smooth(work, guess->seconds, guess->delay_s, to);
                return;
        }
        for (size_t i = 0; i < work->n; i++) {
                double s = work->test->readings[work->first + i].s - guess->delay_s;

                to[i] = load_mean(work, s - span, s);
        }
}

static void whiten(const struct work *work, double *x)
{
        for (size_t i = 0; i < work->n; i++) {
                for (size_t j = 0; j < i; j++)
                        x[i] -= work->root[i * work->n + j] * x[j];
                x[i] /= work->root[i * work->n + i];
        }
}

static double dot(const struct work *work, const double *a, const double *b)
{
        double sum = 0;

        for (size_t i = 0; i < work->n; i++)
                sum += a[i] * b[i];
        return sum;
}

/* Level and step by least squares. */
static void score(const struct work *work, struct guess *guess)
{
        double rr, ro, ry, det;

        response(work, guess, work->r);
        whiten(work, work->r);
        rr = dot(work, work->r, work->r);
        ro = dot(work, work->r, work->one);
        ry = dot(work, work->r, work->y);
        det = work->one_one * rr - ro * ro;
        guess->base_mw = work->one_y / work->one_one;
        guess->load_mw = 0;
        if (det > 1e-9 * work->one_one * fmax(rr, 1e-9)) {
                guess->base_mw = (rr * work->one_y - ro * ry) / det;
                guess->load_mw = (work->one_one * ry - ro * work->one_y) / det;
        }
        guess->chi2 = work->y_y - guess->base_mw * work->one_y - guess->load_mw * ry;
}

static void try(const struct work *work, struct guess guess, struct guess *best)
{
        score(work, &guess);
        if (guess.chi2 < best->chi2)
                *best = guess;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double power_at_rest(const struct work *work, double *scratch)
{
        for (size_t i = 0; i < work->n; i++)
                scratch[i] = work->test->readings[work->first + i].mw;
        qsort(scratch, work->n, sizeof(*scratch), by_value);
        return fmax(scratch[work->n / 20], 1);
}

static void factorise(struct work *work, double rest_mw)
{
        const struct step_test *test = work->test;
        size_t n = work->n;

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++) {
                        double s =
                                fabs(test->readings[work->first + i].s - test->readings[work->first + j].s);
                        double value = pow(DAEMONS * rest_mw, 2) * exp(-s / DAEMONS_TAU_S);

                        if (i == j)
                                value += pow(READING_ERROR * fmax(test->readings[work->first + i].mw, 1), 2) +
                                         pow(test->quantum_mw, 2) / 12 + 1e-6;
                        for (size_t k = 0; k < j; k++)
                                value -= work->root[i * n + k] * work->root[j * n + k];
                        work->root[i * n + j] =
                                i == j ? sqrt(fmax(value, 1e-9)) : value / work->root[j * n + j];
                }
}

static int work_make(struct work *work)
{
        size_t n = work->n;

        work->root = calloc(n * n, sizeof(double));
        work->y = calloc(n, sizeof(double));
        work->one = calloc(n, sizeof(double));
        work->r = calloc(n, sizeof(double));
        if (!work->root || !work->y || !work->one || !work->r)
                return -ENOMEM;
        factorise(work, power_at_rest(work, work->r));
        for (size_t i = 0; i < n; i++) {
                work->y[i] = work->test->readings[work->first + i].mw;
                work->one[i] = 1;
        }
        whiten(work, work->y);
        whiten(work, work->one);
        work->one_one = dot(work, work->one, work->one);
        work->one_y = dot(work, work->one, work->y);
        work->y_y = dot(work, work->y, work->y);
        return 0;
}

/* A grid first, then smaller and smaller steps around the best. */
static struct guess best_of(const struct work *work, enum gauge_kind kind)
{
        double period = work->test->period_s, factor = 1.25, step = period / 4;
        bool free = kind == GAUGE_EXPONENTIAL || kind == GAUGE_MEAN;
        double low = kind == GAUGE_MEAN ? 1.2 * period : 0.35 * period, high = fmax(LONGEST_S, 5 * period);
        struct guess best = { .kind = kind, .chi2 = INFINITY };

        for (unsigned i = 0; i < (free ? 12 : 1); i++)
                for (unsigned d = 0; d < 4; d++)
                        try(work,
                            (struct guess){ .kind = kind,
                                            .seconds = free ? low * pow(high / low, i / 11.0) : 0,
                                            .delay_s = d * period / 2 },
                            &best);
        for (unsigned round = 0; round < (free ? 4 : 3); round++) {
                struct guess around = best;

                for (int i = free ? -2 : 0; i <= (free ? 2 : 0); i++)
                        for (int d = -1; d <= 1; d++)
                                try(work,
                                    (struct guess){ .kind = kind,
                                                    .seconds = around.seconds * pow(factor, i / 2.0),
                                                    .delay_s = fmax(0, around.delay_s + d * step) },
                                    &best);
                factor = sqrt(factor);
                step /= 2;
        }
        return best;
}

/* By the Bayesian information criterion (Schwarz 1978), with the best fit's noise. */
static struct guess decide(const struct work *work, double *chi2)
{
        struct guess guesses[] = { best_of(work, GAUGE_PLAIN), best_of(work, GAUGE_POINT),
                                   best_of(work, GAUGE_EXPONENTIAL), best_of(work, GAUGE_MEAN) };
        const double parameters[] = { 1, 1, 2, 2 };
        double least = INFINITY, scale, bic = INFINITY, dof = fmax((double)work->n - 4, 1);
        size_t best = 0;

        for (size_t i = 0; i < ARRAY_SIZE(guesses); i++)
                least = fmin(least, guesses[i].chi2);
        scale = fmax(1, least / dof);
        for (size_t i = 0; i < ARRAY_SIZE(guesses); i++) {
                double this = guesses[i].chi2 / scale + parameters[i] * log((double)work->n);

                if (this < bic) {
                        bic = this;
                        best = i;
                }
        }
        *chi2 = guesses[best].chi2 / dof;
        return guesses[best];
}

static int judge_part(const struct step_test *test, size_t first, size_t n, size_t n_edges, struct guess *ret,
                      double *chi2)
{
        struct work work = { .test = test, .first = first, .n = n, .n_edges = n_edges };
        int err = work_make(&work);

        if (!err)
                *ret = decide(&work, chi2);
        work_clear(&work);
        return err;
}

static struct gauge_kernel kernel_of(const struct guess *guess)
{
        return (struct gauge_kernel){ .kind = guess->kind,
                                      .seconds = guess->seconds,
                                      .delay_s = guess->delay_s,
                                      .base_mw = guess->base_mw,
                                      .load_mw = guess->load_mw };
}

/* Shortest and longest settling of the edges, each for itself. */
static int judge_edges(const struct step_test *test, double *shortest, double *longest)
{
        for (size_t e = 0; e < test->n_edges; e++) {
                double from = test->edges[e].s - 30,
                       to = e + 1 < test->n_edges ? test->edges[e + 1].s : INFINITY, chi2, settle;
                struct gauge_kernel kernel;
                struct guess guess;
                size_t first = 0, n = 0;
                int err;

                if (e > 0)
                        from = fmax(from, test->edges[e - 1].s);
                while (first < test->n && test->readings[first].s < from)
                        first++;
                while (first + n < test->n && test->readings[first + n].s < to)
                        n++;
                if (n < EDGE_READINGS_MIN)
                        continue;
                err = judge_part(test, first, n, e + 1, &guess, &chi2);
                if (err)
                        return err;
                kernel = kernel_of(&guess);
                settle = step_test_settle_s(&kernel, test->period_s);
                *shortest = fmin(*shortest, settle);
                *longest = fmax(*longest, settle);
        }
        return 0;
}

int step_test_judge(const struct step_test *test, struct gauge_kernel *ret)
{
        double chi2 = 0, shortest = INFINITY, longest = 0;
        struct guess guess;
        int err = test->n >= EDGE_READINGS_MIN && test->n_edges > 0 ? 0 : -EINVAL;

        if (!err)
                err = judge_part(test, 0, test->n, test->n_edges, &guess, &chi2);
        if (!err)
                err = judge_edges(test, &shortest, &longest);
        if (err)
                return err;
        *ret = kernel_of(&guess);
        if (guess.kind == GAUGE_MEAN && guess.seconds <= ABOUT_AN_UPDATE * test->period_s)
                ret->kind = GAUGE_PLAIN;
        if ((chi2 > OTHER_CHI2 && longest > OTHER_FACTOR * fmax(shortest, 1.5 * test->period_s)) ||
            !(guess.load_mw > LEAST_STEP * guess.base_mw))
                ret->kind = GAUGE_OTHER;
        return 0;
}

double step_test_settle_s(const struct gauge_kernel *kernel, double period_s)
{
        if (kernel->kind == GAUGE_EXPONENTIAL)
                return -log(UNSHOWN) * kernel->seconds + kernel->delay_s;
        return step_test_wait_s(kernel, period_s);
}

double step_test_wait_s(const struct gauge_kernel *kernel, double period_s)
{
        return (kernel->kind == GAUGE_MEAN ? fmax(kernel->seconds - period_s, 0) : 0) + kernel->delay_s;
}

const char *step_test_text(const struct gauge_kernel *kernel, char *buf, size_t size)
{
        static const char *const texts[GAUGE_KINDS] = {
                [GAUGE_UNTESTED] = "was not tested", [GAUGE_PLAIN] = "shows the mean since its last update",
                [GAUGE_POINT] = "shows one instant", [GAUGE_OTHER] = "rises and falls in no known way",
        };

        if (kernel->kind == GAUGE_EXPONENTIAL || kernel->kind == GAUGE_MEAN)
                snprintf(buf, size,
                         kernel->kind == GAUGE_MEAN ? "shows a mean of %.3g s"
                                                    : "shows an exponential mean of %.3g s",
                         kernel->seconds);
        else
                snprintf(buf, size, "%s", texts[kernel->kind]);
        return buf;
}
