/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Observations by the steps of the battery's level. */

#include "runner-private.h"

#include <errno.h>
#include <math.h>


/* How often the level is read: fast until its refresh is known, then a few times in each refresh. */
#define POLLS_PER_REFRESH 5
#define POLL_MIN_S 0.2
#define POLL_MAX_S 5.0

static double poll_s(const struct runner *runner)
{
        if (isnan(runner->refresh.period_s))
                return POLL_MIN_S;
        return fmin(fmax(runner->refresh.period_s / POLLS_PER_REFRESH, POLL_MIN_S), POLL_MAX_S);
}

/* If the percentage falls by this while the fine level does not change, the fine level is stuck. */
#define STUCK_PERCENT 2

/* Waits for the level to change. @fallen: by how much (negative: it rose). -EPROTO: it is stuck. */
static int wait_step(struct runner *runner, double *fallen)
{
        double level = runner->look.level_percent, capacity = runner->look.capacity_percent;

        for (;;) {
                double poll = poll_s(runner);
                int err = runner_wait(runner, poll, poll);

                if (err)
                        return err;
                if (runner->span.disturbed || isnan(runner->look.level_percent) || isnan(level))
                        break;
                if (runner->look.level_percent == level) {
                        if (runner->fine && capacity - runner->look.capacity_percent >= STUCK_PERCENT)
                                return -EPROTO;
                        continue;
                }
                refresh_step(&runner->refresh, runner->look.at_ns, poll);
                break;
        }
        *fallen = level - runner->look.level_percent;
        if (!(*fallen > 0))
                return 0;
        runner->falls++;
        runner->step_percent = fmin(isnan(runner->step_percent) ? INFINITY : runner->step_percent, *fallen);
        return 0;
}

/*
 * Begins the span of @mode. The screen and the association have a state instead of a counter, and count by their state
 * at the ends of an interval, so the change of modes gets its own interval.
 */
static int begin_mode(struct runner *runner, const struct mode *mode)
{
        int err = runner_span_begin(runner);

        if (!err)
                err = runner_hold(runner, mode);
        return err || runner_looks_are_cheap(runner) ? err : runner_count(runner);
}

int runner_burn(struct runner *runner, const struct mode *mode, struct observation *ret)
{
        double fallen = 0;
        int err;

        refresh_gap(&runner->refresh);
        err = begin_mode(runner, mode);
        if (!err && !runner_looks_are_cheap(runner))
                err = runner_look(runner); /* a step during the change of modes was seen late */
        if (!err)
                err = wait_step(runner, &fallen);
        if (err && !runner_hindered(err))
                return err;
        err = runner_span_fill(runner, mode, runner->fine ? METHOD_TICKS : METHOD_PERCENT, ret);
        if (err)
                return err;
        ret->burn = true;
        ret->percent = runner->look.level_percent;
        ret->refresh_s = runner->refresh.period_s;
        return 0;
}

/* A mode must last this many refreshes; otherwise the refresh determines its length. */
#define REFRESHES_PERCENT 10
#define REFRESHES_TICKS 20
#define TICKS_MIN_S 60.0

double runner_shortest_s(const struct runner *runner, enum observation_method method)
{
        double refresh_s = runner && !isnan(runner->refresh.period_s) ? runner->refresh.period_s : 0;

        return method == METHOD_TICKS ? fmax(TICKS_MIN_S, REFRESHES_TICKS * refresh_s) : REFRESHES_PERCENT * refresh_s;
}

int runner_steps(struct runner *runner, const struct mode *mode, double steps_percent, struct observation *ret)
{
        enum observation_method method = runner->fine ? METHOD_TICKS : METHOD_PERCENT;
        double level = runner->look.level_percent, fallen = 0, jump = 0, biggest = 0, steps = 0;
        int err = begin_mode(runner, mode);

        while (!err && (fallen < steps_percent * 0.999 ||
                        runner_span_seconds(runner) < runner_shortest_s(runner, method))) {
                err = wait_step(runner, &jump);
                if (err || runner->span.disturbed || !(jump > 0))
                        break;
                fallen = level - runner->look.level_percent;
                biggest = fmax(biggest, jump);
                steps++;
        }
        if (err && !runner_hindered(err))
                return err;
        err = runner_span_fill(runner, mode, method, ret);
        if (err)
                return err;
        /* Steps at both ends: from just below the upper edge of one to the same of another. */
        ret->percent = level + (isnan(runner->step_percent) ? 0 : runner->step_percent) - fallen / 2;
        ret->refresh_s = runner->refresh.period_s;
        ret->steps = fallen;
        runner_reject_steps(runner, jump, biggest, steps, ret);
        return 0;
}
