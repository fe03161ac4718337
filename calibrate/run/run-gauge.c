/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs by a current sensor: short dwells, in randomised passes. */

#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"

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
        run->repeat = run->runner.hindrance == -EAGAIN;
        return !err && run->repeat ? run_pause(run) : err;
}

static int run_order(struct run *run)
{
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s);

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

/* Measures once more what was rejected in every pass, as its coefficient would be missing. */
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
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s);
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

int run_gauge(struct run *run)
{
        uint32_t first, end;
        int err = learn(run);

        if (!err)
                err = run_coarse_period(run);
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
