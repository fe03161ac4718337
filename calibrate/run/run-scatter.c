/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Tests, before a calibration by percent, how unequal the percents are, by some of them under a steady load. If they
 * scatter by more than a few percent, the calibration is worse than the profile of the device's class, and learning
 * from everyday use is better.
 */

#include "run.h"

#include <errno.h>
#include <math.h>

#include "observation/scatter.h"
#include "refuse.h"
#include "util/util.h"

#define FEW 4           /* enough percents if they hardly differ */
#define MOST 6
#define HARDLY 0.06
#define REFUSED 0.15
#define ONE_STEP 1.5    /* percents; a coarser level, or one that is refreshed seldom, jumps by more */

static double room_percent(const struct run *run)
{
        return fmin(run->request.battery_limit_percent - run_used_percent(run),
                    run->runner.look.capacity_percent - refuse_floor_percent(&run->description));
}

/* There is no test in a run that has no percents to spare, or where they were tested already. */
double run_scatter_percents(const struct plan *plan, enum observation_method method,
                            const struct run_request *request, double room_percent, double *most)
{
        bool wanted = method == METHOD_PERCENT && !plan->sapp && !plan->only &&
                      room_percent >= run_observations_usual(plan, method, request) + MOST;

        *most = wanted ? MOST : 0;
        return wanted ? FEW : 0;
}

static int complain(const struct run *run, double scatter)
{
        log_error(run->log,
                  "percents of the battery hold unequal charges (they differ by %.0f %%), so a calibration by them is "
                  "worse than the profile of a class of devices; no profile is changed; joulecast learn measures this "
                  "device by everyday use instead",
                  100 * scatter);
        return -EDOM;
}

/*
 * Measures one percent under full load. Its gaps are kept out of the refresh: equal gaps would make a multiple of the
 * refresh look like it. @lost: the level is no longer at a step. @told: it was one single step.
 */
static int measure(struct run *run, struct observation *observation, bool *told, bool *lost)
{
        const struct refresh before = run->runner.refresh;
        int err = runner_steps(&run->runner, &run->plan.modes[run->plan.burn].mode, 1, observation);

        run->runner.refresh = before;
        refresh_gap(&run->runner.refresh);
        if (err)
                return err;
        observation->burn = true;
        err = run_store(run, observation, run->plan.burn);
        run->last = run->plan.burn;
        *told = !observation->rejected[0] && observation->steps < ONE_STEP;
        *lost = run->runner.span.disturbed || run->runner.hindrance || !(observation->steps > 0);
        return err;
}

int run_scatter(struct run *run)
{
        struct observation list[MOST] = { 0 };
        double scatter = NAN, most;
        bool lost = false, goes_on;
        size_t n = 0, told;
        int err = 0;

        goes_on =
                run_scatter_percents(&run->plan, run->method, &run->request, room_percent(run), &most) > 0 &&
                run->n_before == 0 && !(run->runner.step_percent > ONE_STEP);
        while (goes_on && !err && n < MOST && !(n >= FEW && scatter < HARDLY) && !run_limit(run, 1, 0)) {
                err = measure(run, &list[n], &goes_on, &lost);
                n += !err;
                scatter = scatter_of(list, n, &told);
        }
        for (size_t i = 0; i < n; i++)
                observation_clear(&list[i]);
        if (!err && lost)
                return 1;
        return !err && scatter > REFUSED ? complain(run, scatter) : err;
}
