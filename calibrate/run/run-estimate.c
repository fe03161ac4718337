/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long a run takes, before it starts and while it goes on. */

#include "run.h"

#include <math.h>

#include "util/units.h"
#include "util/util.h"

#define BATTERY_UNKNOWN_MWH 15000

/* Observations at --stop 3%, for one policy, and what each other adds, by percent; after the block by ticks. */
#define AT_3_PERCENT 22.0
#define FOR_POLICY 1.0
#define MOST_AT_3_PERCENT 24.0
#define MORE_BY_TICKS 15.0

/* With --only, relative to the block: what usually suffices by percent, and the most; ticks are shorter. */
#define ONLY_USUAL 1.3
#define ONLY_MOST 2.0
#define ONLY_MOST_TICKS 4.0
#define ONLY_LEAST 4.0 /* of the base alone */

/* A gauge so coarse that it does not allow so many observations does not serve. */
#define ROWS_MIN 22.0

static double percent_j(const struct hardware_description *description)
{
        return J_PER_PERCENT(isnan(description->rough_mwh) ? BATTERY_UNKNOWN_MWH : description->rough_mwh);
}

static bool in_block(const struct planned_mode *mode)
{
        return mode->visits_max > 0 && (mode->role == ROLE_BLOCK || mode->role == ROLE_HELD_BACK);
}

/* Means of 1/W and of W over the block, for its time and its energy. */
static size_t block_means(const struct plan *plan, double *watts, double *per_watt)
{
        size_t n = 0;

        *watts = *per_watt = 0;
        for (size_t i = 0; i < plan->n; i++) {
                if (!in_block(&plan->modes[i]))
                        continue;
                *watts += plan->modes[i].guess_w;
                *per_watt += 1 / plan->modes[i].guess_w;
                n++;
        }
        *watts /= fmax((double)n, 1);
        *per_watt /= fmax((double)n, 1);
        return n;
}

double run_block_percent(const struct run *run, double step_percent, double least_s)
{
        double sum = 0, rows = (double)MAX(plan_block(&run->plan), (size_t)1);

        for (size_t i = 0; i < run->plan.n; i++)
                if (in_block(&run->plan.modes[i]))
                        sum += fmax(step_percent,
                                    least_s * run->plan.modes[i].guess_w / percent_j(&run->description));
        /* A short block alone gives intervals that say little. */
        return run->plan.brief ? sum * fmax(ROWS_MIN / rows, 1) : sum;
}

/* The error falls with the square root of the number of observations. */
static double precision_cost(const struct run_request *request)
{
        return 9 / (request->stop_percent * request->stop_percent);
}

double run_observations_max(const struct run *run)
{
        if (run->plan.only)
                return fmax((run->method == METHOD_TICKS ? ONLY_MOST_TICKS : ONLY_MOST) * (double)plan_block(&run->plan),
                            ONLY_LEAST) * precision_cost(&run->request);
        return MOST_AT_3_PERCENT * precision_cost(&run->request);
}

static size_t count(const struct plan *plan, enum plan_role role, bool packets)
{
        size_t n = 0;

        for (size_t i = 0; i < plan->n; i++)
                n += plan->modes[i].role == role && (!packets || plan->modes[i].mode.packets_per_s > 0);
        return n;
}

static double observations(const struct hardware_description *description, const struct plan *plan,
                           const struct run_request *request)
{
        double radio = (double)count(plan, ROLE_BLOCK, true), policies = (double)MAX(description->n_policies, (size_t)1);

        if (plan->only)
                return fmax(ONLY_USUAL * (double)plan_block(plan), ONLY_LEAST) * precision_cost(request);
        return radio + fmin(AT_3_PERCENT + FOR_POLICY * (policies - 1), MOST_AT_3_PERCENT) * precision_cost(request);
}

/* With a limit there are fewer observations. */
static struct run_estimate within(struct run_estimate estimate, const struct run_request *request)
{
        double share = fmin(fmin(request->battery_limit_percent / estimate.percent,
                                 request->time_limit_h / estimate.hours), 1);

        return (struct run_estimate){
                .observations = (size_t)(share * (double)estimate.observations),
                .hours = share * estimate.hours,
                .percent = share * estimate.percent,
        };
}

struct run_estimate run_estimate(const struct hardware_description *description, const struct plan *plan,
                                     enum observation_method method, const struct run_request *request)
{
        double watts, per_watt, joules = percent_j(description), idle_s;
        size_t idles = request->passes * (plan_idles(plan) - 1); /* beside those of the block */
        size_t block = block_means(plan, &watts, &per_watt), extra = count(plan, ROLE_EXTRA, false);
        struct run_estimate estimate = { .observations = block };
        double all = fmax(fmin(observations(description, plan, request), 75), (double)block);

        switch (method) {
        case METHOD_GAUGE:
                estimate.observations = request->passes * block + request->passes * extra / 6 +
                                        (request->passes - 1) * count(plan, ROLE_LATER, false) + 2;
                idle_s = (double)idles * runner_dwell_s(GAUGE_PERIOD_GUESS_S) +
                         request->passes * (double)plan_idles(plan) *
                                 runner_idle_more_s(GAUGE_PERIOD_GUESS_S, request->daemons_tau_s);
                estimate.hours = (double)estimate.observations * runner_dwell_s(GAUGE_PERIOD_GUESS_S) / 3600 +
                                 0.02;
                estimate.percent = (estimate.hours * 3600 * watts + idle_s * plan->modes[PLAN_IDLE].guess_w) / joules;
                estimate.hours += idle_s / 3600;
                estimate.observations += idles;
                break;
        case METHOD_TICKS:
                estimate.observations = block + (size_t)(MORE_BY_TICKS * precision_cost(request));
                estimate.hours = (double)estimate.observations * TICKS_DWELL_GUESS_S / 3600;
                estimate.percent = estimate.hours * 3600 * watts / joules;
                break;
        case METHOD_PERCENT:
                estimate.observations = plan->sapp ? 3 * block : (size_t)all;
                estimate.hours = (double)estimate.observations * joules * per_watt / 3600;
                estimate.percent = (double)estimate.observations + 0.5;
                break;
        }
        return within(estimate, request);
}

/* The guesses, scaled by how long the measured modes took. */
static double pace(const struct run *run)
{
        double measured = 0, guessed = 0;

        for (size_t i = 0; i < run->plan.n; i++) {
                if (isnan(run->seconds[i]) || run->plan.modes[i].role == ROLE_BURN)
                        continue;
                measured += run->seconds[i];
                guessed += 1 / run->plan.modes[i].guess_w;
        }
        return guessed > 0 ? measured / guessed : percent_j(&run->description);
}

static double gauge_left_s(const struct run *run)
{
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s);
        double passes = (double)run->request.passes - 1 - run->pass;

        double rest = fmax((double)run->n_order - 1 - (double)run->at, 0) + fmax(passes, 0) * (double)run->n_order;

        if (run->n_order > 0)
                dwell_s += runner_idle_more_s(run->runner.gauge_period_s, run->request.daemons_tau_s) *
                           (double)plan_idles(&run->plan) / (double)run->n_order;
        return rest * dwell_s;
}

/*
 * Each observation that the follower chooses narrows the interval by about this part, and takes this part of
 * the mean time in the block, because idle is done. Both from runs on the shipped virtual devices.
 */
#define NARROWS_BY 0.055
#define SHORTER 0.65

static double more_s(const struct run *run, double block_s)
{
        double half_width = run->judgement.half_width_percent, stop = run->request.stop_percent;
        double more = observations(&run->description, &run->plan, &run->request) - (double)plan_block(&run->plan);

        if (!isnan(half_width))
                more = log(half_width / stop) / NARROWS_BY;
        if (run->method == METHOD_PERCENT)
                more = fmin(more, run_observations_max(run) - (double)MAX(run->n, plan_block(&run->plan)));
        more = fmax(more, 0);
        return more * SHORTER * block_s;
}

/* The time that the block still takes, and the mean time of one mode. */
static double block_left_s(const struct run *run, double *mean_s)
{
        double left = 0, all = 0, pace_j = pace(run);
        bool done = run->pass > 0 && !run->plan.sapp;
        size_t next = run->last == run->plan.burn ? run->at : run->at + 1;

        for (size_t i = 0; i < run->n_order; i++) {
                double seconds = run->seconds[run->order[i]];

                if (isnan(seconds))
                        seconds = pace_j / run->plan.modes[run->order[i]].guess_w;
                all += seconds;
                if (i >= next && !done)
                        left += seconds;
        }
        *mean_s = all / fmax((double)run->n_order, 1);
        return left;
}

double run_hours_left(const struct run *run)
{
        double mean_s, seconds;

        if (run->method == METHOD_GAUGE)
                return gauge_left_s(run) / 3600;
        seconds = block_left_s(run, &mean_s);
        if (!run->plan.sapp)
                seconds += more_s(run, mean_s);
        return fmin(seconds / 3600, fmax(0, run->request.time_limit_h - run_hours(run)));
}
