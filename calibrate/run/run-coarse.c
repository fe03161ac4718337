/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Detects gauges that are too coarse for a calibration, by their readings so far. By level, the steps or the refresh
 * decide how long each state takes; by a sensor, its period. If one visit of each state does not fit in the
 * battery, the profile would lack components. docs/calibration.md has the numbers.
 */

#include "run.h"

#include <errno.h>
#include <math.h>

#include "refuse.h"
#include "util/util.h"

/* Until this number was seen, a jump looks like a coarse step, and a multiple of the refresh like the refresh. */
#define FALLS_MIN 2
#define GAPS_MIN 8

#define BATTERY_SHARE 0.8 /* usable part of the charge above the floor; states chosen after the block need the rest */
#define MUCH_MORE 1.5     /* worth a warning */

/*
 * Largest quantum of a sensor, relative to the power at rest. A sensor rounds the same way in all rows of a state, so
 * more rows do not help. This quantum causes an error of 4 % at rest (standard deviation); with a larger one intervals
 * hold too seldom.
 */
#define QUANTUM_SHARE 0.15
#define CHANGES_MIN 16

static double above_floor_percent(const struct run *run)
{
        return run->start_percent - refuse_floor_percent(&run->description);
}

/* Logs why the level is too coarse: its steps, or its refresh. */
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

/* Where the usual passes would take more charge than the percentage does, that is the better method. */
int run_coarse_period(const struct run *run)
{
        double period_s = run->runner.gauge_period_s;
        double once = run_block_percent(run, 0, runner_dwell_s(period_s));
        double usual = run_block_percent(run, 0, runner_dwell_s(GAUGE_PERIOD_GUESS_S));
        double by_percent = run_observations_usual(&run->plan, METHOD_PERCENT, &run->request);

        if (once <= usual * MUCH_MORE ||
            (run->request.passes * once <= BATTERY_SHARE * above_floor_percent(run) &&
             run_usual_passes(&run->description, &run->plan) * once <= by_percent))
                return 0;
        log_bug_firmware(run->log, "power_now is updated only every %.0f s, too seldom to calibrate by", period_s);
        return -EPROTO;
}

double run_gauge_wait_s(const struct run *run)
{
        return step_test_wait_s(&run->runner.kernel, run->runner.gauge_period_s);
}

/* Charge that a calibration by ticks takes; INFINITY: there are no ticks. */
static double ticks_percent(const struct run *run)
{
        struct run_estimate estimate;

        if (!run->description.fine_level ||
            run_estimate(&run->description, &run->plan, METHOD_TICKS, &run->request, &estimate) < 0)
                return INFINITY;
        return estimate.percent.usual;
}

/* The wait that a gauge's mean adds to each dwell must fit in the battery, and ticks may take less charge. */
int run_coarse_kernel(const struct run *run)
{
        const struct gauge_kernel *kernel = &run->runner.kernel;
        double dwell_s = runner_dwell_s(run->runner.gauge_period_s) + run_gauge_wait_s(run);
        double percent = run->request.passes * run_block_percent(run, 0, dwell_s);
        char text[64];

        step_test_text(kernel, text, sizeof(text));
        if (kernel->kind == GAUGE_OTHER) {
                log_bug_firmware(
                        run->log,
                        "power_now %s when a load begins and ends, so its readings cannot be corrected", text);
                return -EPROTO;
        }
        if (kernel->kind != GAUGE_MEAN)
                return 0;
        if (percent > BATTERY_SHARE * above_floor_percent(run)) {
                log_bug_firmware(
                        run->log,
                        "power_now %s: waiting for that in each state would take %.0f %% of the charge", text,
                        percent);
                return -EPROTO;
        }
        if (!run->request.method_free || percent <= ticks_percent(run))
                return 0;
        log_info(run->log, "power_now %s: steps of the charge take less than waiting for that in each state",
                 text);
        return -EPROTO;
}

int run_coarse_quantum(const struct run *run, double idle_mw)
{
        const struct runner *runner = &run->runner;

        if (runner->gauge_changes < CHANGES_MIN || runner->gauge_quantum_mw <= QUANTUM_SHARE * idle_mw)
                return 0;
        log_bug_firmware(run->log,
                         "power_now moves in steps of %.0f mW, too coarse for the %.0f mW that the machine "
                         "takes at rest",
                         runner->gauge_quantum_mw, idle_mw);
        return -EPROTO;
}
