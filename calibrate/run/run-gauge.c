/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs by a current sensor: short dwells, in randomised passes. */

#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

/*
 * Number of passes. Four improve the median error by less than 0.1 points for twice the time, except with many states:
 * those of a radio that is measured by packets, or of three policies and more. docs/accuracy.md compares.
 */
#define PASSES 2
#define PASSES_OF_MANY 4
#define POLICIES_MANY 3

uint32_t run_usual_passes(const struct hardware_description *description, const struct plan *plan)
{
        bool packets = false;

        for (size_t i = 0; i < plan->n; i++)
                packets = packets || plan->modes[i].mode.packets_per_s > 0;
        return packets || description->n_policies >= POLICIES_MANY ? PASSES_OF_MANY : PASSES;
}

/* How often a mode was measured in a pass before the run was resumed. */
static size_t times_before(const struct run *run, size_t mode, uint32_t pass)
{
        size_t n = 0;

        for (size_t i = 0; i < run->n_before; i++) {
                const struct observation *observation = &run->before[i];

                n += observation->pass == pass && !observation->rejected[0] &&
                     !strcmp(observation->mode, run->plan.modes[mode].mode.name);
        }
        return n;
}

/* Was this place of the pass measured before the run was resumed? */
static bool was_measured(const struct run *run, size_t at)
{
        size_t mode = run->order[at], places = 1;

        for (size_t i = 0; i < at; i++)
                places += run->order[i] == mode;
        return times_before(run, mode, run->pass) >= places;
}

static int measure(struct run *run, size_t mode)
{
        struct observation observation = { 0 };
        double used = run_used_percent(run);
        int err = runner_dwell(&run->runner, &run->plan.modes[mode].mode, &observation);

        if (!err)
                err = run_store(run, &observation, mode);
        if (!err && mode == PLAN_IDLE && !observation.rejected[0])
                err = run_coarse_quantum(run, observation.power_mw);
        observation_clear(&observation);
        if (err == -ENOTCONN) {
                run_went_away(run, mode);
                return 0;
        }
        if (err == -EOPNOTSUPP) {
                run->left_out[mode] = true;
                return 0;
        }
        run->biggest_percent = fmax(run->biggest_percent, run_used_percent(run) - used);
        run->last = mode;
        run->repeat = run->runner.hindrance == -EAGAIN || run->runner.changed[0];
        return !err && run->runner.hindrance == -EAGAIN ? run_pause(run) : err;
}

static int run_order(struct run *run)
{
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s) + run_gauge_wait_s(run);

        for (run->at = 0; run->at < run->n_order; run->at += !run->repeat) {
                size_t mode = run->order[run->at];
                int err;

                run->repeat = false;
                if (was_measured(run, run->at) || run_postpone(run, mode) ||
                    run_leaves_out(run, mode))
                        continue;
                if (run_limit(run, run->biggest_percent, dwell_s))
                        return 0;
                err = measure(run, mode);
                if (err)
                        return err;
        }
        return 0;
}

/* Then the postponed modes once more. */
static int run_pass(struct run *run, uint32_t pass)
{
        int err;

        run->pass = pass;
        run->n_order = plan_order(&run->plan, run->record.seed, pass, run->last, true, run->order);
        run->n_postponed = 0;
        err = run_order(run);
        if (!err && !run->stopped && run_take_postponed(run))
                err = run_order(run);
        if (!err && !run->stopped) {
                struct progress_state state = run_state(run);

                progress_pass(run->progress, &state, pass + 1, MAX(run->request.passes, pass + 1));
        }
        return err;
}

/* Measures states again that were rejected in every pass, as their coefficients would be missing. */
static int run_rejected(struct run *run)
{
        run->n_order = 0;
        for (size_t i = 0; i < run->plan.n; i++)
                if (run->refused[i] > 0 && run->times[i] == 0 && i != run->plan.burn)
                        run->order[run->n_order++] = i;
        return run_order(run);
}

/*
 * Held-back modes that disagree come again, each after idle: two dwells in a row would see the same background
 * activity.
 */
static int run_doubts(struct run *run)
{
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s) + run_gauge_wait_s(run);
        size_t mode;

        while ((mode = run_doubted(run)) != SIZE_MAX) {
                const size_t order[] = { PLAN_IDLE, mode };

                for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                        int err;

                        if (run_limit(run, run->biggest_percent, dwell_s))
                                return 0;
                        err = measure(run, order[i]);
                        if (err)
                                return err;
                }
        }
        return 0;
}

/* An interrupted run is completed; a finished one gets as many passes again. */
static void passes(const struct run *run, uint32_t *first, uint32_t *end)
{
        uint32_t done = 0;

        for (size_t i = 0; i < run->n_before; i++)
                done = MAX(done, run->before[i].pass + 1);
        *first = 0;
        *end = run->request.passes;
        if (run->was_finished) {
                *first = done;
                *end = done + run->request.passes;
        } else {
                *end = MAX(*end, done);
        }
}

static int learn(struct run *run)
{
        const struct mode *burn = &run->plan.modes[run->plan.burn].mode;
        int err = runner_learn_gauge(&run->runner, burn);

        while (err == -EAGAIN) {
                err = run_pause(run);
                if (err)
                        return err;
                err = runner_learn_gauge(&run->runner, burn);
        }
        if (err == -ETIMEDOUT) {
                log_bug_firmware(run->log, "power_now did not change for 5 minutes of full load");
                err = -EPROTO;
        }
        if (err == -EIO)
                log_error(run->log, "%s: %s", burn->name, run->runner.reason);
        return err;
}

/* A resumed run knows the gauge from its observations, one of a component alone from the run before. */
static bool was_tested(struct run *run)
{
        if (run->plan.only && run->request.kernel.kind != GAUGE_UNTESTED) {
                run->runner.kernel = run->request.kernel;
                return true;
        }
        for (size_t i = run->n_before; i > 0; i--) {
                const struct observation *observation = &run->before[i - 1];

                run->runner.kernel = step_test_kernel(observation->gauge_kind, observation->gauge_kernel_s,
                                                      observation->gauge_delay_s);
                if (run->runner.kernel.kind != GAUGE_UNTESTED)
                        return true;
        }
        return false;
}

/* The step test may take at most a third of the charge and time that the limits leave. */
static bool is_too_dear(const struct run *run)
{
        double rest_s, load_s, joules;

        runner_step_test_s(run->runner.gauge_period_s, &rest_s, &load_s);
        joules = rest_s * run->plan.modes[PLAN_IDLE].guess_w +
                 load_s * run->plan.modes[run->plan.burn].guess_w;
        return 3 * joules / plan_percent_j(&run->description) >
                       run->request.battery_limit_percent - run_used_percent(run) ||
               3 * (rest_s + load_s) / 3600 > run->request.time_limit_h - run_hours(run);
}

/* A daemon's spike in a test looks like a strange gauge; a strange gauge looks so again. */
#define STEP_TESTS 3

static int test_step(struct run *run)
{
        const struct mode *burn = &run->plan.modes[run->plan.burn].mode,
                          *idle = &run->plan.modes[PLAN_IDLE].mode;
        char text[64];
        int err = 0;

        if (was_tested(run) || is_too_dear(run))
                return 0;
        for (unsigned tests = 0;
             !err && tests < STEP_TESTS && (tests == 0 || run->runner.kernel.kind == GAUGE_OTHER);) {
                err = runner_step_test(&run->runner, burn, idle);
                tests += !err;
                if (err != -EAGAIN)
                        continue;
                err = run_pause(run);
                if (!err)
                        err = learn(run);
        }
        if (err == -EIO)
                log_error(run->log, "the step test of the gauge: %s", run->runner.reason);
        if (!err && run->runner.kernel.kind > GAUGE_POINT)
                log_info(run->log, "power_now %s", step_test_text(&run->runner.kernel, text, sizeof(text)));
        return err;
}

int run_gauge(struct run *run)
{
        uint32_t first, end;
        int err = learn(run);

        if (!err)
                err = run_coarse_period(run);
        if (!err)
                err = test_step(run);
        if (!err)
                err = run_coarse_kernel(run);
        if (err)
                return err;
        passes(run, &first, &end);
        for (uint32_t pass = first; pass < end && !run->stopped; pass++) {
                err = run_pass(run, pass);
                if (err)
                        return err;
        }
        if (!run->stopped)
                err = run_rejected(run);
        if (!err && !run->stopped)
                err = run_doubts(run);
        if (!err && !run->stopped)
                run->stopped = N_("all passes made");
        return err;
}
