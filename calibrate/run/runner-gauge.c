/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

#define LEARN_POLL_S 0.05   /* faster gauges look like this one */
#define LOOK_S 0.25         /* once the period is known; at most an eighth of it */
#define LEARN_CHANGES 6
/* A gauge without noise shows a constant under a steady load: then the load has to change. */
#define LEARN_STEADY_S 90.0
#define LEARN_MAX_S 300.0   /* a gauge that shows no change for this time, whatever the load, is stuck */
#define SETTLE_S 2.0        /* time for governors, panels and radios to follow */

/*
 * If a reading did not change at an update, two periods look like one gap; the shortest gaps are single
 * periods.
 */
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
        uint64_t changed_ns;
};

/* A missing reading is no update. */
static bool is_new(const struct runner *runner, double before)
{
        return runner->look.sensor != before && !isnan(before) && !isnan(runner->look.sensor);
}

static void note_change(struct learning *learning, const struct look *look)
{
        if (learning->changes++ > 0)
                learning->gap_s[learning->n++] = (double)(look->at_ns - learning->changed_ns) /
                                                 (double)NS_PER_S;
        learning->changed_ns = look->at_ns;
}

/*
 * The smallest difference of any two readings is the quantum, or a multiple of it: a gauge that smooths moves
 * by more at each update. In the sensor's own unit, which a voltage does not change.
 */
static void note_reading(struct runner *runner)
{
        double sensor = runner->look.sensor, least = INFINITY;
        size_t at = 0;

        while (at < runner->n_seen && runner->seen[at] < sensor)
                at++;
        if (runner->n_seen == GAUGE_SEEN_MAX || !(sensor > 0) ||
            (at < runner->n_seen && runner->seen[at] == sensor))
                return;
        memmove(runner->seen + at + 1, runner->seen + at, (runner->n_seen - at) * sizeof(*runner->seen));
        runner->seen[at] = sensor;
        runner->n_seen++;
        if (at > 0)
                least = sensor - runner->seen[at - 1];
        if (at + 1 < runner->n_seen)
                least = fmin(least, runner->seen[at + 1] - sensor);
        least *= runner->look.power_mw / sensor;
        runner->gauge_quantum_mw =
                isnan(runner->gauge_quantum_mw) ? least : fmin(runner->gauge_quantum_mw, least);
}

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)NS_PER_S : 0;
}

/* The first begins the step test's time. */
static int hold_edge(struct runner *runner, const struct mode *mode, double share)
{
        struct step_test *step = &runner->step;
        int err = runner_hold(runner, mode);
        uint64_t now_ns = runner->hardware->ops->now_ns(runner->hardware);

        if (step->n_edges == 0)
                runner->step_start_ns = now_ns;
        if (!err && step->n_edges < STEP_EDGES_MAX) {
                step->edges[step->n_edges].s = seconds(runner->step_start_ns, now_ns);
                step->edges[step->n_edges++].share = share;
        }
        return err;
}

/* Under a steady load first. If nothing changes there, the load is switched after each change. */
int runner_learn_gauge(struct runner *runner, const struct mode *mode)
{
        static const struct mode idle = { .name = "idle" };
        const struct mode *const modes[] = { mode, &idle };
        struct learning learning = { 0 };
        double waited_s = 0;
        size_t switches = 0;
        bool steady = true;
        int err;

        runner->step.n = runner->step.n_edges = runner->n_seen = 0;
        runner->gauge_quantum_mw = NAN;
        err = hold_edge(runner, mode, 1);
        if (!err)
                err = runner_span_begin(runner);
        if (err)
                return err;
        while (learning.n < LEARN_CHANGES) {
                double before = runner->look.sensor;
                bool changed;

                err = runner_wait(runner, LEARN_POLL_S, LEARN_POLL_S);
                if (err)
                        return err;
                waited_s += LEARN_POLL_S;
                if (waited_s > LEARN_MAX_S)
                        return -ETIMEDOUT;
                changed = is_new(runner, before);
                if (changed) {
                        note_change(&learning, &runner->look);
                        note_reading(runner);
                        waited_s = 0;
                }
                if (steady ? waited_s < LEARN_STEADY_S : !changed)
                        continue;
                if (steady)
                        learning = (struct learning){ 0 };
                steady = false;
                switches++;
                err = hold_edge(runner, modes[switches % 2], switches % 2 ? 0 : 1);
                if (err)
                        return err;
        }
        runner->gauge_period_s = period_of(learning.gap_s, learning.n);
        runner->gauge_first_ns = runner->gauge_update_ns = learning.changed_ns;
        return 0;
}

/*
 * Many short dwells are more accurate than few long ones, as most of the noise is from daemons, over minutes,
 * and not from the gauge. So a dwell has 14 s of updates, two at least. Best in simulations: 20 s at a period
 * of 3.5 s, 32 s at 10 s.
 */
#define UPDATES_S 14.0
#define UPDATES_MIN 2

/*
 * The base is a part of every answer, and its error is that of the daemons' mean: time helps, and costs little
 * charge at idle. In parts of the daemons' correlation time: 70 s.
 */
#define IDLE_TAUS (70 / DAEMONS_TAU_S)

/* A radio that is woken less often than a dwell lasts is to be seen waking. */
#define SLOW_BURSTS 1.3

static double updates_of(double gauge_period_s)
{
        return fmax(UPDATES_MIN, round(UPDATES_S / gauge_period_s));
}

/* A gauge that takes its time has enough of it. */
static double updates_in(const struct mode *mode, double gauge_period_s, double daemons_tau_s)
{
        double n = updates_of(gauge_period_s), bursts_per_s = mode->packets_per_s / MAX(mode->burst_packets, 1u);

        if (!strcmp(mode->kind, "idle"))
                return fmax(n, round(IDLE_TAUS * daemons_tau_s / gauge_period_s));
        return bursts_per_s > 0 ? fmax(n, round(SLOW_BURSTS / bursts_per_s / gauge_period_s)) : n;
}

/* Settling, on average half a period until the next update, the updates, and a margin for the last. */
static double dwell_s(double gauge_period_s, double updates)
{
        return SETTLE_S + (0.5 + updates) * gauge_period_s + 2 * fmin(LOOK_S, gauge_period_s / 8);
}

double runner_dwell_s(double gauge_period_s)
{
        return dwell_s(gauge_period_s, updates_of(gauge_period_s));
}

double runner_mode_s(const struct mode *mode, double gauge_period_s, double daemons_tau_s)
{
        return dwell_s(gauge_period_s, updates_in(mode, gauge_period_s, daemons_tau_s));
}

double runner_learn_s(double gauge_period_s)
{
        return (LEARN_CHANGES + 1.5) * gauge_period_s;
}

static uint64_t after(uint64_t from_ns, double s)
{
        return from_ns + (uint64_t)(s * (double)NS_PER_S);
}

/* A change of the reading shows an update. The longer since the first, the better the period is known. */
static void see_update(struct runner *runner)
{
        double since_s = seconds(runner->gauge_first_ns, runner->look.at_ns);
        double periods = round(since_s / runner->gauge_period_s);

        runner->gauge_update_ns = runner->look.at_ns;
        if (runner->gauge_period_s < 2 * LEARN_POLL_S)
                return; /* perhaps only our polling */
        if (periods >= LEARN_CHANGES)
                runner->gauge_period_s = since_s / periods;
}

/* Half as often if looks are not free. */
static double watch_s(const struct runner *runner)
{
        return fmin(LOOK_S, runner->gauge_period_s / (runner->hardware->ops->read_battery ? 4 : 8));
}

static int wait_watching(struct runner *runner, uint64_t until_ns)
{
        double poll_s = watch_s(runner);

        while (runner->look.at_ns < until_ns) {
                double before = runner->look.sensor;
                double left_s = seconds(runner->look.at_ns, until_ns);
                int err = runner_wait(runner, fmin(poll_s, left_s), poll_s);

                if (err)
                        return err;
                if (!is_new(runner, before))
                        continue;
                see_update(runner);
                runner->gauge_changes++;
                note_reading(runner);
        }
        return 0;
}

/* The first update at or after @from_ns, extrapolated from the last one seen. */
static uint64_t next_update(const struct runner *runner, uint64_t from_ns)
{
        double periods = ceil(seconds(runner->gauge_update_ns, from_ns) / runner->gauge_period_s - 1e-9);

        return after(runner->gauge_update_ns, fmax(periods, 0) * runner->gauge_period_s);
}

/*
 * Adds up @n updates, each read a moment after it came, but for the last: waits only until that comes. That moment is
 * half a period at most, and a look takes time, too. With more than a quarter beside them updates would be left out.
 */
static int sum_updates(struct runner *runner, double n, double late_s, double *sum)
{
        *sum = 0;
        for (double i = 0; i < n; i++) {
                uint64_t update_ns =
                        next_update(runner, after(runner->look.at_ns, runner->gauge_period_s / 4));
                int err = wait_watching(runner, i + 1 < n ? after(update_ns, late_s) : update_ns);

                if (err)
                        return err;
                *sum += i + 1 < n ? runner->look.power_mw : 0;
        }
        return 0;
}

/*
 * Waits for the first update that shows nothing of the mode before, and begins the span there: the counters then cover
 * the same time as the next updates, which matters for single bursts. If no update came when expected (an irregular
 * gauge), two more periods are skipped.
 */
static int begin_dwell(struct runner *runner, double late_s)
{
        double settle_s = SETTLE_S + step_test_wait_s(&runner->kernel, runner->gauge_period_s);
        uint64_t settled_ns = after(runner->hardware->ops->now_ns(runner->hardware), settle_s);
        int err = wait_watching(runner, next_update(runner, settled_ns));

        if (!err)
                err = runner_span_begin(runner);
        if (!err)
                err = wait_watching(runner, after(runner->look.at_ns, late_s));
        if (err || seconds(runner->gauge_update_ns, runner->look.at_ns) <= runner->gauge_period_s + late_s)
                return err;
        err = wait_watching(runner, next_update(runner, after(runner->look.at_ns, 2 * runner->gauge_period_s)));
        return err ? err : runner_span_begin(runner);
}

/* A counted charge is uncertain by a step at both ends: fewer steps than these cannot show a difference of 3 %. */
#define COMPARED_STEPS 30

static void add_compared(const struct compared *compared, struct observation *ret)
{
        bool known = compared->counted_j > COMPARED_STEPS * compared->step_j;

        ret->drawn_j = known ? compared->drawn_j : NAN;
        ret->counted_j = known ? compared->counted_j : NAN;
}

/* A gauge shows the mean of the period before its update. */
int runner_dwell(struct runner *runner, const struct mode *mode, struct observation *ret)
{
        double period_s = runner->gauge_period_s, n = updates_in(mode, period_s, runner->daemons_tau_s);
        double late_s = 2 * watch_s(runner), sum_mw = NAN, begin_mw;
        int err, late;

        err = runner_span_begin(runner);
        if (!err)
                err = runner_hold(runner, mode);
        if (!err)
                err = begin_dwell(runner, late_s);
        begin_mw = runner->look.power_mw;
        if (!err)
                err = sum_updates(runner, n, late_s, &sum_mw);
        if (err && !runner_hindered(err))
                return err;
        late = err;
        err = runner_span_fill(runner, mode, METHOD_GAUGE, ret);
        if (err)
                return err;
        if (!late)
                late = wait_watching(runner, after(runner->look.at_ns, late_s));
        if (late && !runner_hindered(late)) {
                observation_clear(ret);
                return late;
        }
        ret->percent = runner->look.capacity_percent + 0.5;
        ret->power_mw = late ? NAN : (sum_mw + runner->look.power_mw) / n;
        ret->gauge_updates = (uint32_t)n;
        ret->gauge_begin_mw = begin_mw;
        ret->gauge_end_mw = late ? NAN : runner->look.power_mw;
        snprintf(ret->gauge_kind, sizeof(ret->gauge_kind), "%s", gauge_kind_words[runner->kernel.kind]);
        ret->gauge_kernel_s = runner->kernel.seconds;
        ret->gauge_delay_s = runner->kernel.delay_s;
        ret->refresh_s = period_s;
        add_compared(&runner->compared, ret);
        runner_reject_gauge(runner, ret);
        return 0;
}

/*
 * Both edges and their ends, for time constants up to 100 s; a gauge that is updated seldom takes as many
 * updates.
 */
#define STEP_REST_S 60.0
#define STEP_LOAD_S 120.0
#define STEP_REST_AGAIN_S 120.0
#define STEP_USUAL_PERIOD_S 15.0
#define LOAD_SETTLES_S 1.0 /* a load needs a moment, which a fast gauge shows */

static double stretch(double gauge_period_s)
{
        return fmax(1, gauge_period_s / STEP_USUAL_PERIOD_S);
}

void runner_step_test_s(double gauge_period_s, double *rest_s, double *load_s)
{
        *rest_s = (STEP_REST_S + STEP_REST_AGAIN_S) * stretch(gauge_period_s);
        *load_s = STEP_LOAD_S * stretch(gauge_period_s);
}

/* Holds @mode for @length_s and keeps each @every-th update's reading. */
static int record_step(struct runner *runner, const struct mode *mode, double share, double length_s,
                       size_t every)
{
        struct step_test *step = &runner->step;
        double late_s = 2 * watch_s(runner);
        int err = hold_edge(runner, mode, share);
        uint64_t now_ns = runner->hardware->ops->now_ns(runner->hardware), end_ns = after(now_ns, length_s);
        uint64_t settled_ns = after(now_ns, LOAD_SETTLES_S);

        for (size_t i = 0; !err && runner->look.at_ns < end_ns; i++) {
                uint64_t update_ns =
                        next_update(runner, after(runner->look.at_ns, runner->gauge_period_s / 4));

                err = wait_watching(runner, after(update_ns, late_s));
                if (err || i % every || step->n == STEP_READINGS_MAX || !(runner->look.power_mw > 0) ||
                    update_ns < settled_ns)
                        continue;
                step->readings[step->n].s = seconds(runner->step_start_ns, update_ns);
                step->readings[step->n++].mw = runner->look.power_mw;
        }
        return err;
}

int runner_step_test(struct runner *runner, const struct mode *burn, const struct mode *idle)
{
        double longer = stretch(runner->gauge_period_s);
        double updates = (STEP_REST_S + STEP_LOAD_S + STEP_REST_AGAIN_S) * longer / runner->gauge_period_s;
        size_t every = (size_t)fmax(1, ceil(updates / (STEP_READINGS_MAX - 10)));
        int err;

        runner->step.n = 0;
        err = record_step(runner, idle, 0, STEP_REST_S * longer, every);
        if (!err)
                err = record_step(runner, burn, 1, STEP_LOAD_S * longer, every);
        if (!err)
                err = record_step(runner, idle, 0, STEP_REST_AGAIN_S * longer, every);
        if (err)
                return err;
        runner->step.period_s = runner->gauge_period_s;
        runner->step.quantum_mw = isnan(runner->gauge_quantum_mw) ? 0 : runner->gauge_quantum_mw;
        err = step_test_judge(&runner->step, &runner->kernel);
        if (err != -EINVAL)
                return err;
        runner->kernel = (struct gauge_kernel){ .kind = GAUGE_OTHER }; /* it hardly shows any power */
        return 0;
}
