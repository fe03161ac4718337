/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* While no access point can be reached, modes with WiFi are postponed and the others go on. */

#include "run.h"

#include <math.h>
#include <string.h>

#include "util/units.h"

/*
 * Each try holds the machine for less than a minute (wifi.c) and loses the level's step, one percent of
 * charge at most. A router restarts in minutes; one that is switched off at night is away for hours. With
 * doubled waits, six tries span over five hours.
 */
#define RETRY_S 600.0
#define TRIES_MAX 6

bool run_is_away(const struct run *run, size_t mode)
{
        const struct run_away *away = &run->away;

        return run->plan.modes[mode].mode.wifi_on && away->tries > 0 &&
               (away->tries >= TRIES_MAX || run->runner.look.at_ns < away->until_ns);
}

/* Postpones it to the end of this block or pass. */
static void keep(struct run *run, size_t mode)
{
        if (run->n_postponed < RUN_ORDER_MAX(run))
                run->postponed[run->n_postponed++] = mode;
}

static void tell(const struct run *run, bool back, double retry_s)
{
        struct progress_state state = run_state(run);

        progress_wifi(run->progress, &state, back, retry_s);
}

void run_went_away(struct run *run, size_t mode)
{
        struct run_away *away = &run->away;
        double retry_s = RETRY_S * (double)(1U << away->tries);

        keep(run, mode);
        away->tries++;
        away->until_ns = run->runner.look.at_ns + (uint64_t)(retry_s * (double)NS_PER_S);
        tell(run, false, away->tries < TRIES_MAX ? retry_s : INFINITY);
}

void run_was_there(struct run *run, const struct observation *observation, size_t mode)
{
        if (!run->plan.modes[mode].mode.wifi_on || runner_rejected_pause(observation))
                return;
        if (runner_rejected_away(observation)) {
                run_went_away(run, mode);
                return;
        }
        if (run->away.tries > 0 && !observation->rejected[0]) {
                tell(run, true, 0);
                run->away = (struct run_away){ 0 };
        }
}

bool run_postpone(struct run *run, size_t mode)
{
        if (!run_is_away(run, mode))
                return false;
        keep(run, mode);
        return true;
}

bool run_take_postponed(struct run *run)
{
        bool again = run->n_postponed > 0 && run->away.tries < TRIES_MAX;

        if (again) {
                memcpy(run->order, run->postponed, run->n_postponed * sizeof(*run->order));
                run->n_order = run->n_postponed;
                run->at = 0;
                run->away.until_ns = 0;
        }
        run->n_postponed = 0;
        return again;
}

size_t run_last_call(struct run *run)
{
        if (run->away.tries == 0 || run->away.tries >= TRIES_MAX || run->away.called)
                return SIZE_MAX;
        run->away.called = true;
        run->away.until_ns = 0;
        for (size_t i = 0; i < run->plan.n; i++)
                if (run->plan.modes[i].role == ROLE_BLOCK && run->plan.modes[i].mode.wifi_on &&
                    run->times[i] == 0 && !run_leaves_out(run, i))
                        return i;
        return SIZE_MAX;
}
