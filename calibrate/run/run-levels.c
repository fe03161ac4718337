/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nights by the battery's level: percent and ticks, and SApp's. */

#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* A dwell by fine steps is so long at least, and holds so many refreshes (runner.c). */
#define TICKS_MIN_S 60.0
#define TICKS_MIN_STEPS 2

/* A night of so many observations is caught in something. */
#define OBSERVATIONS_MAX 1000

/* Without a follower, so many observations come near --stop 3%; the error falls with their root. */
#define BLIND_AT_3_PERCENT 27.0

static double step_percent(const struct night *night)
{
        if (night->method == METHOD_PERCENT || isnan(night->runner.step_percent))
                return 1;
        return TICKS_MIN_STEPS * night->runner.step_percent;
}

/* What the next may take: a mode that must last some refreshes can take several steps. */
static double next_percent(const struct night *night)
{
        return fmax(step_percent(night), night->biggest_percent);
}

/* How long a mode is going to take, from the last time or from the guess. */
static double expected_s(const struct night *night, size_t mode)
{
        double joules;

        if (!isnan(night->seconds[mode]))
                return night->seconds[mode];
        joules = J_PER_PERCENT(isnan(night->description.rough_mwh) ? 15000 : night->description.rough_mwh);
        if (night->method == METHOD_TICKS)
                return TICKS_MIN_S;
        return joules / night->plan.modes[mode].guess_w / 2; /* a guess must not end a night: half of it */
}

static int burn_once(struct night *night)
{
        struct observation observation = { 0 };
        int err;

        if (night_limit(night, step_percent(night), 0))
                return 0;
        err = runner_burn(&night->runner, &night->plan.modes[night->plan.burn].mode, &observation);
        if (!err)
                err = night_store(night, &observation, night->plan.burn);
        observation_clear(&observation);
        night->last = night->plan.burn;
        return err;
}

/*
 * Whether charge_now may be believed. Some firmware makes it of the percentage, and then it is no finer;
 * some lets it stand, or run at its own pace (by a quarter, when both have fallen so far that their
 * steps do not explain it).
 */
#define COARSE_PERCENT 0.9
#define STRAY_PERCENT 2.0
#define STRAY_SHARE 0.25

static int judge_level(const struct night *night, int err)
{
        const struct runner *runner = &night->runner;
        double fine = runner->first.level_percent - runner->look.level_percent;
        double shown = runner->first.capacity_percent - runner->look.capacity_percent;

        if (night->method != METHOD_TICKS || (err && err != -EPROTO))
                return err;
        if (err)
                log_bug_firmware(night->log, "charge_now stands still while the percentage falls");
        else if (runner->step_percent > COARSE_PERCENT)
                log_bug_firmware(night->log, "charge_now steps by %.2f %%, hardly finer than the percentage",
                                 runner->step_percent);
        else if (fabs(fine - shown) > STRAY_PERCENT + STRAY_SHARE * fmax(shown, 0))
                log_bug_firmware(night->log,
                                 "charge_now fell by %.1f %% while the percentage fell by %.0f %%", fine,
                                 shown);
        else
                return 0;
        return -EPROTO;
}

/* Gets through the partial step, at the start and whenever the level's steps were lost. */
static int burn(struct night *night)
{
        int err, hindrance;

        do {
                err = burn_once(night);
                hindrance = night->stopped ? 0 : night->runner.hindrance;
                if (!err && hindrance == -EAGAIN)
                        err = night_pause(night);
                else
                        err = judge_level(night, err);
        } while (!err && hindrance == -EAGAIN);
        if (!err && hindrance) {
                log_error(night->log, "%s: %s", night->plan.modes[night->plan.burn].mode.name,
                          night->runner.reason);
                err = hindrance;
        }
        return err;
}

static int measure(struct night *night, size_t mode)
{
        struct observation observation = { 0 };
        bool lost;
        int err;

        err = runner_steps(&night->runner, &night->plan.modes[mode].mode, step_percent(night),
                           night->method == METHOD_TICKS ? TICKS_MIN_S : 0, &observation);
        if (err == -EOPNOTSUPP) {
                night->left_out[mode] = true; /* nothing was lost: the level has only just stepped */
                return 0;
        }
        if (err == -ENOTCONN) { /* but this one took its time */
                night_went_away(night, mode);
                return burn(night);
        }
        if (!night->runner.hindrance)
                err = judge_level(night, err);
        if (!err)
                err = night_store(night, &observation, mode);
        lost = night->runner.span.disturbed || night->runner.hindrance || !(observation.steps > 0);
        observation_clear(&observation);
        night->last = mode;
        night->repeat = night->runner.hindrance == -EAGAIN;
        if (!err && night->repeat)
                err = night_pause(night);
        return !err && lost ? burn(night) : err;
}

/* The first block without what an earlier session measured. */
static void make_block(struct night *night)
{
        size_t n = night->plan.sapp
                           ? plan_order_sapp(&night->plan, night->run.seed, night->order)
                           : plan_order(&night->plan, night->run.seed, 0, night->last, false, night->order);
        _cleanup_free_ size_t *done = calloc(night->plan.n + 1, sizeof(*done));

        night->n_order = night->at = 0;
        for (size_t i = 0; i < n; i++) {
                size_t mode = night->order[i];

                if (done && done[mode] < night->times[mode])
                        done[mode]++;
                else
                        night->order[night->n_order++] = mode;
        }
}

static int run_order(struct night *night)
{
        for (; night->at < night->n_order && !night->stopped; night->at += !night->repeat) {
                size_t mode = night->order[night->at];
                int err;

                night->repeat = false;
                if (night_postpone(night, mode) || night_leaves_out(night, mode))
                        continue;
                if (night->plan.sapp)
                        night->pass = (uint32_t)night->times[mode]; /* its first, second, third iteration */
                if (night_limit(night, next_percent(night), expected_s(night, mode)))
                        return 0;
                err = measure(night, mode);
                if (err)
                        return err;
        }
        return 0;
}

/* Then once more what waited for the access point. */
static int run_block(struct night *night)
{
        int err;

        night->n_postponed = 0;
        err = run_order(night);
        if (!err && !night->stopped && night_take_postponed(night))
                err = run_order(night);
        return err;
}

static size_t find_mode(const struct night *night, const char *name)
{
        for (size_t i = 0; i < night->plan.n; i++)
                if (!strcmp(night->plan.modes[i].mode.name, name))
                        return i;
        return SIZE_MAX;
}

/* Without a follower: randomised blocks, one after the other. */
static size_t next_blind(struct night *night)
{
        double wanted = BLIND_AT_3_PERCENT * pow(3 / night->options->stop_percent, 2);

        if ((double)night->n >= wanted)
                return SIZE_MAX;
        for (;;) { /* idle can always be run */
                if (night->at >= night->n_order) {
                        night->n_order = plan_order(&night->plan, night->run.seed, night->pass, night->last,
                                                    true, night->order);
                        night->at = 0;
                }
                if (!night_leaves_out(night, night->order[night->at]))
                        return night->order[night->at++];
                night->at++;
        }
}

/*
 * The follower hears with the next observation that its mode cannot be run;
 * until then another of the block.
 */
static size_t instead_of(const struct night *night, size_t mode)
{
        size_t best = SIZE_MAX;

        if (mode == SIZE_MAX || !night_leaves_out(night, mode))
                return mode;
        for (size_t i = 0; i < night->plan.n; i++)
                if (night->plan.modes[i].role == ROLE_BLOCK && i != night->last &&
                    !night_leaves_out(night, i) && (best == SIZE_MAX || night->times[i] < night->times[best]))
                        best = i;
        return best;
}

static size_t next_mode(struct night *night)
{
        if (!night->child)
                return next_blind(night);
        if (night->judgement.half_width_percent <= night->options->stop_percent || !night->judgement.next[0])
                /* What waits for its access point is no part of the judgement. */
                return night_last_call(night);
        return instead_of(night, find_mode(night, night->judgement.next));
}

static const char *why_ended(const struct night *night)
{
        if (!night->child)
                return "as many observations as usually suffice";
        if (night->judgement.half_width_percent <= night->options->stop_percent)
                return "precision reached";
        return "nothing more to learn within the limits";
}

static int run_by_gain(struct night *night)
{
        while (!night->stopped) {
                size_t mode;
                int err;

                if (night->n > OBSERVATIONS_MAX) {
                        night->stopped = "too many observations";
                        return 0;
                }
                if (night_limit(night, next_percent(night), 0))
                        return 0;
                mode = next_mode(night);
                if (mode == SIZE_MAX) {
                        night->stopped = why_ended(night);
                        return 0;
                }
                if (night_limit(night, next_percent(night), expected_s(night, mode)))
                        return 0;
                err = measure(night, mode);
                if (err)
                        return err;
        }
        return 0;
}

int night_levels(struct night *night)
{
        int err;

        make_block(night);
        if (night->n_order == 0 && night->n_before && next_mode(night) == SIZE_MAX) {
                night->stopped = why_ended(night); /* resumed, and there is nothing left to do */
                return 0;
        }
        night->pass = 0;
        err = burn(night);
        if (!err && !night->stopped)
                err = run_block(night);
        if (err || night->stopped)
                return err;
        night->pass = 1;
        if (night->plan.sapp) {
                night->stopped = "plan completed";
                return 0;
        }
        return run_by_gain(night);
}
