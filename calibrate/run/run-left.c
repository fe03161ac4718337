/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Remaining time of a run, by its time so far. */

#include "run.h"

#include <math.h>

#include "util/util.h"

/* Scale of the guesses, from the durations of the measured modes. */
static double pace(const struct run *run)
{
        double measured = 0, guessed = 0;

        for (size_t i = 0; i < run->plan.n; i++) {
                if (isnan(run->seconds[i]) || run->plan.modes[i].role == ROLE_BURN)
                        continue;
                measured += run->seconds[i];
                guessed += 1 / run->plan.modes[i].guess_w;
        }
        return guessed > 0 ? measured / guessed : plan_percent_j(&run->description);
}

/* Later passes are about as long as this one. */
static double gauge_left_s(const struct run *run)
{
        double passes = fmax((double)run->request.passes - 1 - run->pass, 0), seconds = 0;
        double period_s = run->runner.gauge_period_s, tau_s = run->request.daemons_tau_s,
               wait_s = run_gauge_wait_s(run);

        for (size_t i = 0; i < run->n_order; i++)
                seconds += ((i > run->at) + passes) *
                           (wait_s + runner_mode_s(&run->plan.modes[run->order[i]].mode, period_s, tau_s));
        return seconds;
}

/* Each observation that the follower chooses narrows the interval by about this part: from runs on virtual devices. */
#define NARROWS_BY 0.055

static double more_s(const struct run *run, double block_s)
{
        double half_width = run->judgement.half_width_percent, stop = run->request.stop_percent;
        double more = run_observations_usual(&run->plan, run->method, &run->request) - (double)plan_block(&run->plan);

        if (!isnan(half_width))
                more = log(half_width / stop) / NARROWS_BY;
        if (run->method == METHOD_PERCENT)
                more = fmin(more, run_observations_max(run) -
                                          (double)MAX(run->n - run->n_scatter, plan_block(&run->plan)));
        more = fmax(more, 0);
        return more * run_chosen_share(run->method) * block_s;
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
