/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs by the battery's level: percent and ticks, also SApp's plan. */

#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

/* By fine steps; a time and a number of refreshes are required, too (runner-steps.c) */
#define TICKS_MIN_STEPS 2

/* More means that the run cannot end. */
#define OBSERVATIONS_MAX 1000

/* Observations that reach about --stop 3% without joulecast-fit; the error falls with their number's square root. */
#define BLIND_AT_3_PERCENT 27.0

static double step_percent(const struct run *run)
{
        if (run->method == METHOD_PERCENT || isnan(run->runner.step_percent))
                return 1;
        return TICKS_MIN_STEPS * run->runner.step_percent;
}

/* Charge that the next mode may take: a mode that must last several refreshes can take several steps. */
static double next_percent(const struct run *run)
{
        return fmax(step_percent(run), run->biggest_percent);
}

/* Time that a mode will take, from its last visit or from the guess. */
static double expected_s(const struct run *run, size_t mode)
{
        if (!isnan(run->seconds[mode]))
                return run->seconds[mode];
        if (run->method == METHOD_TICKS)
                return runner_shortest_s(NULL, run->method);
        return plan_percent_j(&run->description) / run->plan.modes[mode].guess_w /
               2; /* half of the guess: a wrong guess must not end the run */
}

static int burn_once(struct run *run)
{
        struct observation observation = { 0 };
        int err;

        if (run_limit(run, step_percent(run), 0))
                return 0;
        err = runner_burn(&run->runner, &run->plan.modes[run->plan.burn].mode, &observation);
        if (!err)
                err = run_store(run, &observation, run->plan.burn);
        observation_clear(&observation);
        run->last = run->plan.burn;
        return err;
}

/*
 * May charge_now be trusted? Some firmware computes it from the percentage, so that it is no finer; some
 * stops updating it, or lets it drift by up to a quarter.
 */
#define COARSE_PERCENT 0.9
#define STRAY_PERCENT 2.0
#define STRAY_SHARE 0.25

static int judge_level(const struct run *run, int err)
{
        const struct runner *runner = &run->runner;
        double fine = runner->first.level_percent - runner->look.level_percent;
        double shown = runner->first.capacity_percent - runner->look.capacity_percent;

        if (run->method != METHOD_TICKS || (err && err != -EPROTO))
                return err;
        if (err)
                log_bug_firmware(run->log, "charge_now does not change while the percentage falls");
        else if (runner->step_percent > COARSE_PERCENT)
                log_bug_firmware(run->log, "charge_now steps by %.2f %%, hardly finer than the percentage",
                                 runner->step_percent);
        else if (fabs(fine - shown) > STRAY_PERCENT + STRAY_SHARE * fmax(shown, 0))
                log_bug_firmware(run->log,
                                 "charge_now fell by %.1f %% while the percentage fell by %.0f %%", fine,
                                 shown);
        else
                return 0;
        return -EPROTO;
}

/* Gets through the partial step, at the start and whenever steps were lost. */
static int burn(struct run *run)
{
        int err, hindrance;

        do {
                err = burn_once(run);
                hindrance = run->stopped ? 0 : run->runner.hindrance;
                if (!err && hindrance == -EAGAIN)
                        err = run_pause(run);
                else
                        err = judge_level(run, err);
        } while (!err && hindrance == -EAGAIN);
        if (!err && hindrance) {
                log_error(run->log, "%s: %s", run->plan.modes[run->plan.burn].mode.name,
                          run->runner.reason);
                err = hindrance;
        }
        return err;
}

static int measure(struct run *run, size_t mode)
{
        struct observation observation = { 0 };
        bool lost;
        int err;

        err = runner_steps(&run->runner, &run->plan.modes[mode].mode, step_percent(run), &observation);
        if (err == -EOPNOTSUPP) {
                run->left_out[mode] = true; /* no time was lost: the level has only just stepped */
                return 0;
        }
        if (err == -ENOTCONN) { /* this took time */
                run_went_away(run, mode);
                return burn(run);
        }
        if (!run->runner.hindrance)
                err = judge_level(run, err);
        if (!err)
                err = run_store(run, &observation, mode);
        if (!err)
                err = run_coarse_level(run);
        lost = run->runner.span.disturbed || run->runner.hindrance || !(observation.steps > 0);
        observation_clear(&observation);
        run->last = mode;
        run->repeat = run->runner.hindrance == -EAGAIN || run->runner.changed[0];
        if (!err && run->runner.hindrance == -EAGAIN)
                err = run_pause(run);
        return !err && lost ? burn(run) : err;
}

/* Makes the first block, without the states that were measured before the run was resumed. */
static void make_block(struct run *run)
{
        size_t n = run->plan.sapp
                           ? plan_order_repeated(&run->plan, run->record.seed, run->order)
                           : plan_order(&run->plan, run->record.seed, 0, run->last, false, run->order);
        _cleanup_free_ size_t *done = calloc(run->plan.n + 1, sizeof(*done));

        run->n_order = run->at = 0;
        for (size_t i = 0; i < n; i++) {
                size_t mode = run->order[i];

                if (done && done[mode] < run->times[mode])
                        done[mode]++;
                else
                        run->order[run->n_order++] = mode;
        }
}

static int run_order(struct run *run)
{
        for (; run->at < run->n_order && !run->stopped; run->at += !run->repeat) {
                size_t mode = run->order[run->at];
                int err;

                run->repeat = false;
                if (run_postpone(run, mode) || run_leaves_out(run, mode))
                        continue;
                if (run->plan.sapp)
                        run->pass = (uint32_t)run->times[mode]; /* first, second, third iteration */
                if (run_limit(run, next_percent(run), expected_s(run, mode)))
                        return 0;
                err = measure(run, mode);
                if (err)
                        return err;
        }
        return 0;
}

/* Then the postponed modes once more. */
static int run_block(struct run *run)
{
        int err;

        run->n_postponed = 0;
        err = run_order(run);
        if (!err && !run->stopped && run_take_postponed(run))
                err = run_order(run);
        return err;
}

static size_t find_mode(const struct run *run, const char *name)
{
        for (size_t i = 0; i < run->plan.n; i++)
                if (!strcmp(run->plan.modes[i].mode.name, name))
                        return i;
        return SIZE_MAX;
}

/* Without joulecast-fit: randomised blocks, one after the other. */
static size_t next_blind(struct run *run)
{
        double wanted = BLIND_AT_3_PERCENT * pow(3 / run->request.stop_percent, 2);

        if ((double)run->n >= wanted)
                return SIZE_MAX;
        for (;;) { /* ends: idle can always be measured */
                if (run->at >= run->n_order) {
                        run->n_order = plan_order(&run->plan, run->record.seed, run->pass, run->last,
                                                    true, run->order);
                        run->at = 0;
                }
                if (!run_leaves_out(run, run->order[run->at]))
                        return run->order[run->at++];
                run->at++;
        }
}

/*
 * The follower learns with the next observation that its mode cannot be measured; until then take the mode of
 * the block with the fewest visits.
 */
static size_t instead_of(const struct run *run, size_t mode)
{
        size_t best = SIZE_MAX;

        if (mode == SIZE_MAX || !run_leaves_out(run, mode))
                return mode;
        for (size_t i = 0; i < run->plan.n; i++)
                if (run->plan.modes[i].role == ROLE_BLOCK && i != run->last &&
                    !run_leaves_out(run, i) && (best == SIZE_MAX || run->times[i] < run->times[best]))
                        best = i;
        return best;
}

/* A percent of charge for each observation: precision has its price, and everyday use goes on where this ends. */
static bool cost_enough(const struct run *run)
{
        return (run->method == METHOD_PERCENT || run->plan.only) &&
               (double)(run->n - run->n_rejected - run->n_scatter) > run_observations_max(run);
}

static size_t next_mode(struct run *run)
{
        if (!run->child)
                return next_blind(run);
        if (run->judgement.half_width_percent <= run->request.stop_percent || !run->judgement.next[0] ||
            cost_enough(run)) {
                /* Postponed modes are not part of the judgement. */
                size_t mode = run_last_call(run);

                return mode == SIZE_MAX ? run_doubted(run) : mode;
        }
        return instead_of(run, find_mode(run, run->judgement.next));
}

static const char *why_ended(const struct run *run)
{
        if (!run->child)
                return N_("as many observations as usually suffice");
        if (run->judgement.half_width_percent <= run->request.stop_percent)
                return N_("precision reached");
        if (cost_enough(run))
                return N_("more precision would cost too much charge");
        return N_("nothing more to learn within the limits");
}

static int run_by_gain(struct run *run)
{
        while (!run->stopped) {
                size_t mode;
                int err;

                if (run->n > OBSERVATIONS_MAX) {
                        run->stopped = N_("too many observations");
                        return 0;
                }
                if (run_limit(run, next_percent(run), 0))
                        return 0;
                mode = next_mode(run);
                if (mode == SIZE_MAX) {
                        run->stopped = why_ended(run);
                        return 0;
                }
                if (run_limit(run, next_percent(run), expected_s(run, mode)))
                        return 0;
                err = measure(run, mode);
                if (err)
                        return err;
        }
        return 0;
}

/* A charger or a pause in between ends the test, and the level has to step again. */
static int test_percents(struct run *run)
{
        int err = run_scatter(run), hindrance = run->runner.hindrance;

        if (err < 1)
                return err;
        err = hindrance == -EAGAIN ? run_pause(run) : 0;
        return err ? err : burn(run);
}

int run_levels(struct run *run)
{
        int err;

        make_block(run);
        if (run->n_order == 0 && run->n_before && next_mode(run) == SIZE_MAX) {
                run->stopped = why_ended(run); /* resumed, and nothing is left to do */
                return 0;
        }
        run->pass = 0;
        err = burn(run);
        if (!err && !run->stopped)
                err = test_percents(run);
        if (!err && !run->stopped)
                err = run_block(run);
        if (!err && !run->stopped && run->plan.brief) {
                make_block(run); /* rejected states again: each component has only one or two states */
                err = run_block(run);
        }
        if (err || run->stopped)
                return err;
        run->pass = 1;
        if (run->plan.sapp) {
                run->stopped = N_("plan completed");
                return 0;
        }
        return run_by_gain(run);
}
