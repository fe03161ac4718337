/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nights by a current sensor: short dwells, in randomised passes. */

#include "run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "progress.h"
#include "util/util.h"

/* How often an earlier session measured a mode in a pass. */
static size_t times_before(const struct night *night, size_t mode, uint32_t pass)
{
        size_t n = 0;

        for (size_t i = 0; i < night->n_before; i++) {
                const struct observation *observation = &night->before[i];

                n += observation->pass == pass && !observation->rejected[0] &&
                     !strcmp(observation->mode, night->plan.modes[mode].mode.name);
        }
        return n;
}

/* Has an earlier session done this place of the pass? */
static bool was_measured(const struct night *night, size_t at)
{
        size_t mode = night->order[at], places = 1;

        for (size_t i = 0; i < at; i++)
                places += night->order[i] == mode;
        return times_before(night, mode, night->pass) >= places;
}

static int measure(struct night *night, size_t mode)
{
        struct observation observation = { 0 };
        double used = night_used_percent(night);
        int err = runner_dwell(&night->runner, &night->plan.modes[mode].mode, &observation);

        if (!err)
                err = night_store(night, &observation, mode);
        observation_clear(&observation);
        if (err == -ENOTCONN) {
                night_went_away(night, mode);
                return 0;
        }
        if (err == -EOPNOTSUPP) {
                night->left_out[mode] = true;
                return 0;
        }
        night->biggest_percent = fmax(night->biggest_percent, night_used_percent(night) - used);
        night->last = mode;
        night->repeat = night->runner.hindrance == -EAGAIN;
        return !err && night->repeat ? night_pause(night) : err;
}

static int run_order(struct night *night)
{
        double dwell_s = runner_dwell_s(night->runner.gauge_period_s);

        for (night->at = 0; night->at < night->n_order; night->at += !night->repeat) {
                size_t mode = night->order[night->at];
                int err;

                night->repeat = false;
                if (was_measured(night, night->at) || night_postpone(night, mode) ||
                    night_leaves_out(night, mode))
                        continue;
                if (night_limit(night, night->biggest_percent, dwell_s))
                        return 0;
                err = measure(night, mode);
                if (err)
                        return err;
        }
        return 0;
}

/* Then once more what waited for the access point. */
static int run_pass(struct night *night, uint32_t pass)
{
        int err;

        night->pass = pass;
        night->n_order = plan_order(&night->plan, night->run.seed, pass, night->last, true, night->order);
        night->n_postponed = 0;
        err = run_order(night);
        if (!err && !night->stopped && night_take_postponed(night))
                err = run_order(night);
        if (!err && !night->stopped)
                progress_pass(night->progress, night);
        return err;
}

/* An interrupted run is completed; a finished one gets as many passes again. */
static void passes(const struct night *night, uint32_t *first, uint32_t *end)
{
        uint32_t done = 0;

        for (size_t i = 0; i < night->n_before; i++)
                done = MAX(done, night->before[i].pass + 1);
        *first = 0;
        *end = night->options->passes;
        if (night->was_finished) {
                *first = done;
                *end = done + night->options->passes;
        } else {
                *end = MAX(*end, done);
        }
}

static int learn(struct night *night)
{
        const struct mode *burn = &night->plan.modes[night->plan.burn].mode;
        int err = runner_learn_gauge(&night->runner, burn);

        while (err == -EAGAIN) {
                err = night_pause(night);
                if (err)
                        return err;
                err = runner_learn_gauge(&night->runner, burn);
        }
        if (err == -ETIMEDOUT) {
                log_bug_firmware(night->log, "power_now did not change for 5 minutes of full load");
                err = -EPROTO;
        }
        if (err == -EIO)
                log_error(night->log, "%s: %s", burn->name, night->runner.reason);
        return err;
}

int night_gauge(struct night *night)
{
        uint32_t first, end;
        int err = learn(night);

        if (err)
                return err;
        passes(night, &first, &end);
        for (uint32_t pass = first; pass < end && !night->stopped; pass++) {
                err = run_pass(night, pass);
                if (err)
                        return err;
        }
        if (!night->stopped)
                night->stopped = "all passes made";
        return 0;
}
