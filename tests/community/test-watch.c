/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Gains of advice that was followed: how often their bounds hold, for rates with the correlation of earlier ones. */

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "watch.h"

#define TRIALS 2000

static double draw_normal(void)
{
        return sqrt(-2 * log(drand48() + 1e-12)) * cos(2 * M_PI * drand48());
}

/* One rate after another, like the one before by @r. */
static void take(struct watch *watch, int n, int64_t t_ns, double mean, double r, bool in_use, double *state)
{
        for (int i = 0; i < n; i++) {
                *state = r * *state + sqrt(1 - r * r) * draw_normal();
                watch_take(watch, t_ns + i, mean * exp(0.4 * *state - 0.08), in_use);
        }
}

static double part_inside(int before, int after, double r)
{
        const double b = 2e-5, a = 1.5e-5, truth = (1 / a - 1 / b) / 60;
        int inside = 0;

        for (int i = 0; i < TRIALS; i++) {
                struct watch watch = { .kind = FINDING_CLOSE, .told_ns = 1000 };
                double state = draw_normal();
                struct cost_value gain = { NAN, NAN, NAN };

                take(&watch, before, 1, b, r, true, &state);
                take(&watch, after, 2000, a, r, false, &state);
                check(watch_gain(&watch, &gain));
                inside += gain.low <= truth && truth <= gain.high;
        }
        return (double)inside / TRIALS;
}

static void check_bounds(void)
{
        static const struct {
                int before, after;
                double r, least;
        } cases[] = { { 12, 12, 0, 0.93 }, { 100, 40, 0, 0.93 }, { 12, 12, 0.5, 0.92 }, { 100, 40, 0.5, 0.92 },
                      { 12, 12, 0.8, 0.88 }, { 100, 40, 0.8, 0.92 } };

        srand48(1);
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                double inside = part_inside(cases[i].before, cases[i].after, cases[i].r);

                printf("%d spans before, %d since, correlation %.1f: %.1f %% of gains are inside their "
                       "bounds\n", cases[i].before,
                       cases[i].after, cases[i].r, 100 * inside);
                check(inside >= cases[i].least);
        }
}

/* An app that was opened again does not count as closed; too few spans give no gain. */
static void check_close(void)
{
        struct watch watch = { .kind = FINDING_CLOSE, .told_ns = 10 };
        struct cost_value gain;

        for (int i = 0; i < 5; i++)
                watch_take(&watch, i, 2e-5, true);
        watch_take(&watch, 5, 1e-5, false); /* before the user was told */
        check(watch.after.n == 0);
        for (int i = 0; i < 2; i++)
                watch_take(&watch, 10 + i, 1e-5, false);
        check(watch.since_ns == 10 && !watch_gain(&watch, &gain));
        watch_take(&watch, 12, 1e-5, false);
        check(watch_gain(&watch, &gain));
        check_near(gain.value, (1e5 - 5e4) / 60, 1e-6);
        watch_take(&watch, 13, 2e-5, true);
        check(!watch.since_ns && !watch_gain(&watch, &gain));
}

/* A limited or restarted app is still in use; spans before the act do not count. */
static void check_acts(enum finding_kind kind, enum watch_act act, bool in_use)
{
        struct watch watch = { .kind = kind, .told_ns = 10 };
        double rate;

        for (int i = 0; i < 5; i++)
                watch_take(&watch, i, 2e-5, true);
        watch_take(&watch, 11, 1e-5, false);
        watch_act(&watch, act, 20);
        watch_take(&watch, 15, 1e-5, in_use);
        check(watch.acted_ns == 20 && watch.after.n == 0 && !watch_rate(&watch.after, &rate));
        for (int i = 0; i < WATCH_SPANS_MIN; i++)
                watch_take(&watch, 20 + i, 1e-5, in_use);
        check(watch_rate(&watch.after, &rate));
        check_near(rate, 1e-5, 1e-12);
        check(watch_rate(&watch.before, &rate));
        check_near(rate, 2e-5, 1e-12);
        check_int(watch.since_ns, 20);
}

int main(void)
{
        check_close();
        check_acts(FINDING_CLOSE, WATCH_CLOSED, false);
        check_acts(FINDING_CLOSE, WATCH_LIMITED, true);
        check_acts(FINDING_RESTART, WATCH_CLOSED, true);
        check_bounds();
        return check_result();
}
