/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "refuse.h"
#include "util/units.h"
#include "util/util.h"

int runner_open(struct hardware *hardware, const struct hardware_description *description,
                const volatile sig_atomic_t *stop, bool fine, struct runner *ret)
{
        struct runner runner = {
                .hardware = hardware,
                .description = description,
                .stop = stop,
                .fine = fine,
                .step_percent = NAN,
                .gauge_period_s = NAN,
                .gauge_quantum_mw = NAN,
                .daemons_tau_s = DAEMONS_TAU_S,
                .deadline_ns = UINT64_MAX,
        };
        int err = interval_maker_new(&runner.maker);

        if (err)
                return err;
        refresh_start(&runner.refresh);
        *ret = runner;
        err = runner_look(ret);
        if (err) {
                runner_close(ret);
                return err;
        }
        ret->first = ret->look;
        ret->drawn_percent = isnan(runner_full_mwh(ret)) || isnan(ret->look.power_mw) ? NAN : 0;
        return 0;
}

void runner_close(struct runner *runner)
{
        sample_clear(&runner->sample);
        sample_clear(&runner->battery_sample);
        interval_clear(&runner->interval);
        interval_maker_free(runner->maker);
        usage_clear(&runner->span.usage);
        *runner = (struct runner){ 0 };
}

double runner_used_percent(const struct runner *runner)
{
        double fallen = runner->first.capacity_percent - runner->look.capacity_percent;

        if (!isnan(runner->drawn_percent))
                return runner->used_before + runner->drawn_percent;
        return runner->used_before + (fallen > 0 ? fallen - 0.5 : 0);
}

void runner_pause(struct runner *runner)
{
        runner->used_before = runner_used_percent(runner);
}

void runner_go_on(struct runner *runner)
{
        runner->first = runner->look;
        if (!isnan(runner->drawn_percent))
                runner->drawn_percent = 0;
}

int runner_span_begin(struct runner *runner)
{
        int err = runner_looks_are_cheap(runner) ? 0 : runner_count(runner); /* ends the usage of the mode before */

        if (err)
                return err;
        usage_clear(&runner->span.usage);
        runner->changed[0] = '\0';
        runner->span = (struct span){
                .start_ns = runner->look.at_ns,
                .start_realtime_ns = runner->first.realtime_ns +
                                     (int64_t)(runner->look.at_ns - runner->first.at_ns),
        };
        signal_mean_add(&runner->span.signal, &runner->interval.signal, 1);
        return 0;
}

double runner_span_seconds(const struct runner *runner)
{
        return (double)(runner->look.at_ns - runner->span.start_ns) / (double)NS_PER_S;
}

/* Waits once. A signal that does not ask to stop (job control) only ends the wait. */
static int wait_until(struct runner *runner, uint64_t until_ns)
{
        int err;

        if (*runner->stop)
                return -EINTR;
        if (runner->look.at_ns >= runner->deadline_ns)
                return -ETIME;
        err = runner->hardware->ops->wait(runner->hardware, until_ns);
        return err && (err != -EINTR || *runner->stop) ? err : runner_look(runner);
}

int runner_wait(struct runner *runner, double seconds, double poll_s)
{
        uint64_t end = runner->look.at_ns + (uint64_t)(seconds * (double)NS_PER_S);

        while (runner->look.at_ns < end) {
                int err;

                if (runner->look.capacity_percent <= refuse_floor_percent(runner->description))
                        return -EDQUOT;
                err = wait_until(runner,
                                 MIN(end, runner->look.at_ns + (uint64_t)(poll_s * (double)NS_PER_S)));
                if (!err)
                        err = runner->hindrance;
                if (err)
                        return err;
        }
        return *runner->stop ? -EINTR : 0;
}

int runner_wait_aside(struct runner *runner, double seconds)
{
        uint64_t end = runner->look.at_ns + (uint64_t)(seconds * (double)NS_PER_S);

        return wait_until(runner, end);
}

bool runner_hindered(int err)
{
        return err == -EAGAIN || err == -EIO;
}

int runner_hold(struct runner *runner, const struct mode *mode)
{
        int err = runner->hardware->ops->apply(runner->hardware, mode);

        runner->hindrance = 0;
        if (!err || err == -EOPNOTSUPP || err == -ENOTCONN) /* not at all, or not now */
                return err;
        if (err == -EINTR && *runner->stop)
                return err;
        runner->hindrance = -EIO;
        snprintf(runner->reason, sizeof(runner->reason), "it cannot be held: %s", strerror(-err));
        return runner->hindrance;
}

static int look_back(struct runner *runner)
{
        const struct hardware_ops *ops = runner->hardware->ops;
        int err = ops->look_back ? ops->look_back(runner->hardware, runner->changed, sizeof(runner->changed)) : 0;

        return err == -EIO ? 0 : err;
}

int runner_span_fill(struct runner *runner, const struct mode *mode, enum observation_method method,
              struct observation *observation)
{
        const struct span *span = &runner->span;
        int err = runner_looks_are_cheap(runner) ? 0 : runner_count(runner);

        if (!err)
                err = look_back(runner);
        if (err)
                return err;
        *observation = (struct observation){
                .method = method,
                .start_realtime_ns = span->start_realtime_ns,
                .elapsed_ns = runner->look.at_ns - span->start_ns,
                .percent = NAN,
                .steps = NAN,
                .charge_full_uah = runner->look.charge_full_uah,
                .voltage_mv = span->voltage_s > 0 ? span->voltage_mv_s / span->voltage_s : NAN,
                .power_mw = span->power_s > 0 ? span->power_mj / span->power_s : NAN,
                .refresh_s = NAN,
                .drawn_j = NAN,
                .counted_j = NAN,
                .temperature_c = runner->look.temperature_c,
                .wifi_signal_dbm = signal_mean_wifi_dbm(&span->signal),
                .cellular_signal_percent = signal_mean_cellular_percent(&span->signal),
                .usage = span->usage, /* moved */
                .held_back = mode->held_back,
        };
        snprintf(observation->mode, sizeof(observation->mode), "%s", mode->name);
        snprintf(observation->kind, sizeof(observation->kind), "%s", mode->kind);
        runner->span.usage = (struct usage){ 0 };
        runner_reject(runner, mode, observation);
        return 0;
}
