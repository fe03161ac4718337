/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The step test on random gauges, whose readings are simulated here second by second: with daemons, spikes,
 * noise, a quantum and updates that do not come. usage: test-step-test [GAUGES]
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run/step-test.h"
#include "util/util.h"

#define STEP 0.05   /* s of the simulation */
#define REST_S 60.0
#define LOAD_S 120.0
#define END_S (REST_S + LOAD_S + 120)
#define BEFORE_S 60.0 /* the load that taught the period */

enum kernel { PLAIN, EXPONENTIAL, MEAN, ATTACK };

struct truth {
        enum kernel kernel;
        double period, seconds, delay, rest, load, quantum, skip, attack;
};

struct rng {
        uint64_t state;
};

static double rng_uniform(struct rng *rng)
{
        rng->state ^= rng->state << 13;
        rng->state ^= rng->state >> 7;
        rng->state ^= rng->state << 17;
        return (double)(rng->state >> 11) * 0x1p-53;
}

static double rng_normal(struct rng *rng)
{
        double u = rng_uniform(rng) + 1e-18, v = rng_uniform(rng);

        return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static double between(struct rng *rng, double low, double high)
{
        return low * pow(high / low, rng_uniform(rng));
}

static struct truth draw(struct rng *rng)
{
        double which = rng_uniform(rng);
        struct truth t = { .kernel = which < 0.35  ? PLAIN
                                     : which < 0.7 ? EXPONENTIAL
                                     : which < 0.9 ? MEAN
                                                   : ATTACK,
                           .period = between(rng, 1, 15),
                           .rest = between(rng, 120, 6000),
                           .attack = 0.6 };

        if (t.kernel == EXPONENTIAL || t.kernel == ATTACK)
                t.seconds = between(rng, fmax(3, 0.7 * t.period), 100);
        if (t.kernel == MEAN)
                t.seconds = t.period *
                            round(between(rng, fmax(2 * t.period, 6), fmax(75, 2.5 * t.period)) / t.period);
        t.delay = rng_uniform(rng) < 0.25 ? t.period * rng_uniform(rng) : 0;
        t.load = t.rest * between(rng, 2, 6);
        t.quantum = t.rest * between(rng, 0.002, 0.03);
        t.skip = rng_uniform(rng) < 0.25 ? 0.02 : 0;
        return t;
}

static double share_at(double s)
{
        return s < 0 || (s >= REST_S && s < REST_S + LOAD_S) ? 1 : 0;
}

/* Mean power of a span; the load is there at once. */
static double power(const struct truth *t, double from, double to)
{
        double sum = 0;
        size_t n = (size_t)ceil((to - from) / STEP);

        for (size_t i = 0; i < n; i++)
                sum += share_at(from + (to - from) * ((double)i + 0.5) / (double)n);
        return t->rest + t->load * sum / (double)n;
}

/* One more update of the gauge. */
static double filter(const struct truth *t, double x, double *state, double *window, size_t i)
{
        double alpha = 1 - exp(-t->period / t->seconds), sum = 0;
        size_t n = (size_t)fmax(1, round(t->seconds / t->period));

        if (t->kernel == PLAIN)
                return x;
        if (t->kernel == MEAN) {
                window[i % n] = x;
                for (size_t k = 0; k < n; k++)
                        sum += window[k];
                return sum / (double)n;
        }
        if (t->kernel == ATTACK && x > 1.5 * *state)
                alpha = fmax(alpha, t->attack);
        return *state += alpha * (x - *state);
}

static void simulate(const struct truth *t, struct rng *rng, struct step_test *test)
{
        double phase = rng_uniform(rng) * t->period, z = rng_normal(rng), keep = exp(-t->period / 300),
               shown = 0;
        double spike_from =
                rng_uniform(rng) < 0.17 ? -BEFORE_S + rng_uniform(rng) * (END_S + BEFORE_S) : INFINITY;
        double state = t->rest + t->load, window[128];

        *test = (struct step_test){ .period_s = t->period,
                                    .quantum_mw = t->quantum,
                                    .n_edges = 4,
                                    .edges = {
                                            { -1000, 1 }, { 0, 0 }, { REST_S, 1 }, { REST_S + LOAD_S, 0 } } };
        for (size_t i = 0; i < ARRAY_SIZE(window); i++)
                window[i] = state;
        for (size_t i = 0; (double)i * t->period + phase < BEFORE_S + END_S; i++) {
                double at = (double)i * t->period + phase - BEFORE_S, x;

                z = keep * z + sqrt(1 - keep * keep) * rng_normal(rng);
                x = power(t, at - t->delay - t->period, at - t->delay) +
                    t->rest * 0.15 * (exp(0.8 * z - 0.32) - 1);
                if (at > spike_from && at < spike_from + 30)
                        x += 0.25 * t->rest;
                x = filter(t, x * (1 + 0.01 * rng_normal(rng)), &state, window, i);
                if (i == 0 || !(rng_uniform(rng) < t->skip))
                        shown = t->quantum * round(x / t->quantum);
                if (at < 0 || test->n == STEP_READINGS_MAX)
                        continue;
                test->readings[test->n].s = at;
                test->readings[test->n++].mw = shown;
        }
}

/* The part of the state before that is in a dwell of the calibration, if nothing is done. */
static double untreated(const struct truth *t)
{
        struct truth clean = *t;
        size_t n = (size_t)fmax(2, round(14 / t->period));
        double window[128], state = t->rest, sum = 0;

        for (size_t i = 0; i < ARRAY_SIZE(window); i++)
                window[i] = state;
        for (size_t i = 0, first = SIZE_MAX; first == SIZE_MAX || i <= first + n; i++) {
                double at = ((double)i + 0.5) * t->period - t->delay, x;

                x = t->rest + t->load * fmin(fmax(at / t->period, 0), 1);
                x = filter(&clean, x, &state, window, i);
                if (first == SIZE_MAX && ((double)i + 0.5) * t->period >= 2)
                        first = i;
                else if (first != SIZE_MAX && i > first)
                        sum += x;
        }
        return 1 - (sum / (double)n - t->rest) / t->load;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static void test_random(size_t gauges)
{
        size_t smoothed = 0, missed = 0, exponential = 0, called = 0, means = 0, called_mean = 0, plain = 0,
               strange = 0, attacks = 0, others = 0;
        _cleanup_free_ double *error = calloc(gauges, sizeof(*error));
        struct rng rng = { 88172645463325252u };

        for (size_t i = 0; i < gauges; i++) {
                struct truth t = draw(&rng);
                struct gauge_kernel kernel;
                struct step_test test;
                bool treated;

                simulate(&t, &rng, &test);
                check_int(step_test_judge(&test, &kernel), 0);
                treated = kernel.kind > GAUGE_POINT || kernel.delay_s > 0.6 * t.period;
                if (t.kernel != ATTACK && fabs(untreated(&t)) > 0.02) {
                        smoothed++;
                        missed += !treated;
                }
                plain += t.kernel == PLAIN;
                strange += t.kernel == PLAIN && kernel.kind == GAUGE_OTHER;
                means += t.kernel == MEAN;
                called_mean += t.kernel == MEAN && kernel.kind == GAUGE_MEAN;
                attacks += t.kernel == ATTACK;
                others += t.kernel == ATTACK && kernel.kind == GAUGE_OTHER;
                exponential += t.kernel == EXPONENTIAL;
                if (t.kernel == EXPONENTIAL && kernel.kind == GAUGE_EXPONENTIAL)
                        error[called++] = fabs(kernel.seconds / t.seconds - 1);
        }
        qsort(error, called, sizeof(*error), by_value);
        printf("%zu smoothed, %zu missed; %zu exponential, %zu called so, error %.1f / %.1f %%; %zu means, "
               "%zu called so; "
               "%zu plain, %zu called strange; %zu fast risers, %zu called strange\n",
               smoothed, missed, exponential, called, 100 * error[called / 2], 100 * error[called * 9 / 10],
               means, called_mean, plain, strange, attacks, others);
        check(100 * missed <= smoothed);
        check(called >= 0.9 * (double)exponential);
        check(error[called / 2] < 0.03);
        check(error[called * 9 / 10] < 0.1);
        check(called_mean >= 0.85 * (double)means);
        check(strange <= 0.1 * (double)plain);
        check(others >= 0.5 * (double)attacks);
}

/* A value that does not change with the load is no sensor; a few readings are not enough. */
static void test_no_sensor(void)
{
        struct truth t = { .period = 4, .rest = 3000, .load = 20, .quantum = 1 };
        struct gauge_kernel kernel;
        struct step_test test;
        struct rng rng = { 12345678987654321u };

        simulate(&t, &rng, &test);
        check_int(step_test_judge(&test, &kernel), 0);
        check_int(kernel.kind, GAUGE_OTHER);
        test.n = 3;
        check_int(step_test_judge(&test, &kernel), -EINVAL);
        test = (struct step_test){ .period_s = 1 };
        check_int(step_test_judge(&test, &kernel), -EINVAL);
}

static void test_words(void)
{
        struct gauge_kernel kernel = { .kind = GAUGE_EXPONENTIAL, .seconds = 50.04, .delay_s = 3 };
        char text[64];

        for (enum gauge_kind kind = 0; kind < GAUGE_KINDS; kind++)
                check_int(step_test_kind(gauge_kind_words[kind]), kind);
        check_int(step_test_kind("strange"), GAUGE_UNTESTED);
        check_near(step_test_kernel("mean", 60, 2).seconds, 60, 0);
        check_near(step_test_wait_s(&(struct gauge_kernel){ 0 }, 8), 0, 0);
        check_int(step_test_kernel("mean", NAN, 2).kind, GAUGE_UNTESTED);
        check_near(step_test_kernel("", NAN, NAN).delay_s, 0, 0); /* observations of older versions */
        check_text(step_test_text(&kernel, text, sizeof(text)), "shows an exponential mean of 50 s");
        check_near(step_test_wait_s(&kernel, 8), 3, 0);
        check_near(step_test_settle_s(&kernel, 8), 3 + 50.04 * log(50), 1e-9);
        kernel.kind = GAUGE_MEAN;
        check_near(step_test_wait_s(&kernel, 8), 45.04, 1e-9);
        kernel.seconds = 5;
        check_near(step_test_wait_s(&kernel, 8), 3, 0);
}

int main(int argc, char **argv)
{
        test_random(argc > 1 ? (size_t)atoi(argv[1]) : 200);
        test_no_sensor();
        test_words();
        return check_result();
}
