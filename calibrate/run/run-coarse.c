/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Gauges that are too coarse to calibrate by, from what they have shown so far. By level, the steps or the refresh
 * decide how long each state takes; by a sensor, its period. If one visit of each state does not fit in the
 * battery, the profile would lack components. docs/calibration.md has the numbers.
 */

#include "run.h"

#include <errno.h>
#include <math.h>

#include "refuse.h"
#include "util/util.h"

/* Before that, a jump looks like a coarse step, and a multiple like the refresh. */
#define FALLS_MIN 2
#define GAPS_MIN 8

#define BATTERY_SHARE 0.8 /* of the charge above the floor; the rest is for what is chosen after the block */
#define MUCH_MORE 1.5     /* worth a warning */

/*
 * A sensor rounds to multiples, and the same way in all rows of a state, so that no number of rows helps. This
 * share of the power at rest is wrong by 4 % (standard deviation) there; more, and intervals hold too seldom.
 */
#define QUANTUM_SHARE 0.15
#define CHANGES_MIN 16

static double above_floor_percent(const struct run *run)
{
        return run->start_percent - refuse_floor_percent(&run->description);
}

/* What makes the level coarse. */
static void complain(const struct run *run, bool serves, bool by_step, double percent)
{
        const struct runner *runner = &run->runner;
        const char *level = run->method == METHOD_TICKS ? "charge_now" : "percentage";
        char what[64];

        if (by_step)
                snprintf(what, sizeof(what), "moves in steps of %.3g %%", runner->step_percent);
        else
                snprintf(what, sizeof(what), "is refreshed only every %.0f s", runner->refresh.period_s);
        if (serves)
                log_warning(run->log,
                            "the battery's %s %s, so that the calibration takes %.0f %% of its charge or more",
                            level, what, percent);
        else
                log_error(run->log,
                          "the battery's %s %s, which is too coarse to calibrate by: measuring each state once would "
                          "take %.0f %% of its charge, and %.0f %% can be used",
                          level, what, percent, fmax(above_floor_percent(run), 0));
}

int run_coarse_level(struct run *run)
{
        const struct runner *runner = &run->runner;
        bool ticks = run->method == METHOD_TICKS;
        double step = ticks ? 0 : 1, least_s = runner_shortest_s(NULL, run->method), usual, percent;
        bool by_step, refresh_known = runner->refresh.n >= GAPS_MIN;

        if (run->plan.sapp || run->n_before)
                return 0; /* SApp's table may lack rows; a resumed run has been judged */
        usual = run_block_percent(run, step, least_s);
        /* A fine level falls by several steps in one refresh. */
        if (runner->falls >= FALLS_MIN && (!ticks || refresh_known))
                step = fmax(step, runner->step_percent);
        by_step = run_block_percent(run, step, least_s) > usual * MUCH_MORE;
        if (refresh_known)
                least_s = runner_shortest_s(runner, run->method);
        percent = run_block_percent(run, step, least_s);
        if (percent <= usual * MUCH_MORE)
                return 0;
        if (percent > BATTERY_SHARE * above_floor_percent(run)) {
                complain(run, false, by_step, percent);
                return ticks ? -EPROTO : -EDOM;
        }
        if (!run->warned)
                complain(run, true, by_step, percent);
        run->warned = true;
        return 0;
}

int run_coarse_period(const struct run *run)
{
        double period_s = run->runner.gauge_period_s;
        double percent = run->request.passes * run_block_percent(run, 0, runner_dwell_s(period_s));
        double usual = run->request.passes * run_block_percent(run, 0, runner_dwell_s(GAUGE_PERIOD_GUESS_S));

        if (percent <= usual * MUCH_MORE || percent <= BATTERY_SHARE * above_floor_percent(run))
                return 0;
        log_bug_firmware(run->log, "power_now is updated only every %.0f s, too seldom to calibrate by", period_s);
        return -EPROTO;
}

int run_coarse_quantum(const struct run *run, double idle_mw)
{
        const struct runner *runner = &run->runner;

        if (runner->gauge_changes < CHANGES_MIN || runner->gauge_quantum_mw <= QUANTUM_SHARE * idle_mw)
                return 0;
        log_bug_firmware(run->log,
                         "power_now moves in steps of %.0f mW, too coarse for the %.0f mW that the machine takes at rest",
                         runner->gauge_quantum_mw, idle_mw);
        return -EPROTO;
}
