/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner-private.h"

#include <errno.h>
#include <math.h>

#include "units.h"
#include "util.h"

#define LEARN_POLL_S 0.25   /* faster gauges than this are read as often as we look */
#define LEARN_CHANGES 6
#define LEARN_STEADY_S 90.0  /* a gauge without noise shows a steady load as one number: then the load has to change */
#define LEARN_MAX_S 300.0   /* a gauge that does not change for so long, whatever the load, is stuck */
#define SETTLE_S 2.0        /* governors, panels and radios have done what they were told by then */

/* A reading that did not change between two updates makes one gap of two; the shortest gaps are single ones. */
static double period_of(double *gap_s, size_t n)
{
        double shortest = INFINITY, sum = 0, updates = 0;

        for (size_t i = 0; i < n; i++)
                shortest = fmin(shortest, gap_s[i]);
        for (size_t i = 0; i < n; i++) {
                sum += gap_s[i];
                updates += fmax(1, round(gap_s[i] / (shortest + LEARN_POLL_S / 2)));
        }
        return sum / updates;
}

/* Changes of power_now while learning. */
struct learning {
        double gap_s[LEARN_CHANGES];
        size_t n, changes;
        double quantum_mw;
        uint64_t changed_ns;
};

static void note_change(struct learning *learning, const struct look *look, double before_mw)
{
        learning->quantum_mw = fmin(learning->quantum_mw, fabs(look->power_mw - before_mw));
        if (learning->changes++ > 0)
                learning->gap_s[learning->n++] = (double)(look->at_ns - learning->changed_ns) / (double)NS_PER_S;
        learning->changed_ns = look->at_ns;
}

/*
 * Under a steady load at first: the smallest change of a noisy gauge is its quantum. If it shows nothing new, the load
 * goes on and off, once after each change.
 */
int runner_learn_gauge(struct runner *runner, const struct mode *mode)
{
        static const struct mode idle = { .name = "idle" };
        const struct mode *const modes[] = { mode, &idle };
        struct learning learning = { .quantum_mw = INFINITY };
        double waited_s = 0;
        size_t switches = 0;
        bool steady = true;
        int err = runner->hardware->ops->apply(runner->hardware, mode);

        if (err)
                return err;
        span_begin(runner);
        while (learning.n < LEARN_CHANGES) {
                double before_mw = runner->look.power_mw;
                bool changed;

                err = runner_wait(runner, LEARN_POLL_S, LEARN_POLL_S);
                if (err)
                        return err;
                waited_s += LEARN_POLL_S;
                if (waited_s > LEARN_MAX_S)
                        return -ETIMEDOUT;
                changed = runner->look.power_mw != before_mw && !isnan(before_mw) && !isnan(runner->look.power_mw);
                if (changed) {
                        note_change(&learning, &runner->look, before_mw);
                        waited_s = 0;
                }
                if (steady ? waited_s < LEARN_STEADY_S : !changed)
                        continue;
                if (steady)
                        learning = (struct learning){ .quantum_mw = learning.quantum_mw };
                steady = false;
                err = runner->hardware->ops->apply(runner->hardware, modes[++switches % 2]);
                if (err)
                        return err;
        }
        runner->gauge_period_s = period_of(learning.gap_s, learning.n);
        runner->gauge_quantum_mw = learning.quantum_mw;
        return 0;
}

/*
 * Many short dwells beat few long ones: the daemons' wander over minutes is the noise, not the gauge. From the study
 * behind the design: 20 s at 3.5 s, 32 s at 10 s, 72 s at 30 s; at least three updates in any case.
 */
double runner_dwell_s(double gauge_period_s)
{
        return 13 + 2 * gauge_period_s;
}

/*
 * A gauge shows the mean of the period before its last update. The first update after settling still holds some of the
 * mode before, and is shown for a whole period: so two periods pass before the mean begins. The mean is over time, not
 * over changes: an update that repeats the value before counts too.
 */
int runner_dwell(struct runner *runner, const struct mode *mode, double dwell_s, struct observation *ret)
{
        double period_s = runner->gauge_period_s, skip_s = SETTLE_S + 2 * period_s, poll_s = period_s / 4;
        double mean_s = fmax(dwell_s - skip_s, 3 * period_s);
        int err = runner->hardware->ops->apply(runner->hardware, mode);

        if (err)
                return err;
        span_begin(runner);
        err = runner_wait(runner, skip_s, poll_s);
        if (err)
                return err;
        span_begin(runner);
        mean_s = fmax(1, round(mean_s / period_s)) * period_s;
        err = runner_wait(runner, mean_s, poll_s);
        if (err)
                return err;
        span_fill(runner, mode, METHOD_GAUGE, ret);
        ret->percent = runner->look.capacity_percent + 0.5;
        ret->power_mw = runner->span.power_mw_s / runner->span.power_s;
        ret->gauge_updates = (uint32_t)fmax(1, round(span_seconds(runner) / period_s));
        ret->refresh_s = period_s;
        return 0;
}
