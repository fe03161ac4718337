/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the device, and adds up the changes of its counters. */

#include "runner-private.h"

#include <errno.h>
#include <math.h>

#include "util/units.h"
#include "util/util.h"

static uint32_t counted(uint32_t sample_have)
{
        return (sample_have & USAGE_ALL) | (sample_have & SAMPLE_OPPS ? USAGE_CPU : 0) |
               (sample_have & SAMPLE_SCREEN ? USAGE_DISPLAY : 0) | (sample_have & SAMPLE_BURSTS ? USAGE_RADIO : 0);
}

/* All rows of an interval, attributed or not, are the whole machine. */
static int count(struct runner *runner)
{
        const struct interval *interval = &runner->interval;
        struct usage *usage = &runner->span.usage;
        uint32_t before = usage->time_ns || usage->have ? usage->have : USAGE_ALL;

        for (size_t i = 0; i < interval->n_rows; i++) {
                int err = usage_add(usage, &interval->rows[i].usage);

                if (err)
                        return err;
        }
        usage->have = before & counted(interval->have);
        signal_mean_add(&runner->span.signal, &interval->signal, 1);
        runner->span.suspend_ns += interval->suspend_ns;
        return 0;
}

static void integrate(struct span *span, const struct look *before, const struct look *now)
{
        double seconds = (double)(now->at_ns - before->at_ns) / (double)NS_PER_S;

        if (isfinite(now->voltage_mv)) {
                span->voltage_mv_s += now->voltage_mv * seconds;
                span->voltage_s += seconds;
        }
        if (isfinite(now->power_mw)) {
                span->power_mj += now->power_mw * seconds;
                span->power_s += seconds;
        }
        if (now->status != BATTERY_DISCHARGING && now->status != BATTERY_UNKNOWN)
                span->disturbed = true;
}

double runner_full_mwh(const struct runner *runner)
{
        double charge_mwh = runner->look.charge_full_uah * runner->look.voltage_mv / 1e6;

        return isnan(charge_mwh) ? runner->description->energy_full_mwh : charge_mwh;
}

bool runner_looks_are_cheap(const struct runner *runner)
{
        return !runner->hardware->ops->read_battery;
}

/* Reads everything and adds it up, apart from the looks at the battery. */
int runner_count(struct runner *runner)
{
        int err;

        sample_reset(&runner->sample);
        err = runner->hardware->ops->read(runner->hardware, &runner->sample);
        if (!err)
                err = interval_make(runner->maker, &runner->sample, &runner->interval);
        if (err)
                return err == -ENODATA ? 0 : err; /* the first */
        return count(runner);
}

static void see(struct runner *runner, struct sample *sample)
{
        level_watch_battery(&runner->watch, sample);
        runner->span.disturbed = runner->span.disturbed || runner->watch.changed;
        runner->watch.changed = false;
        look_at(sample, runner->fine, &runner->look);
        runner->hindrance = 0;
        if (runner->hardware->ops->may_go_on)
                runner->hindrance = runner->hardware->ops->may_go_on(runner->hardware, sample, runner->reason,
                                                                     sizeof(runner->reason));
}

/* If more time passed between two looks, the machine slept. */
#define COMPARED_S 60.0

static void compare(struct compared *compared, const struct look *before, const struct look *now, double full_mwh)
{
        double seconds = (double)(now->at_ns - before->at_ns) / (double)NS_PER_S;
        double drawn_j = now->power_mw * 1e-3 * seconds;
        double counted_j = (before->fine_percent - now->fine_percent) * J_PER_PERCENT(full_mwh);

        if (before->status != BATTERY_DISCHARGING || now->status != BATTERY_DISCHARGING || seconds > COMPARED_S ||
            !isfinite(drawn_j) || !isfinite(counted_j))
                return;
        compared->drawn_j += drawn_j;
        compared->counted_j += counted_j;
        compared->step_j = fmax(compared->step_j, fabs(counted_j));
}

static void draw(struct runner *runner, const struct look *before)
{
        integrate(&runner->span, before, &runner->look);
        compare(&runner->compared, before, &runner->look, runner_full_mwh(runner));
        runner->drawn_percent += runner->look.power_mw / runner_full_mwh(runner) * 100 *
                                 ((double)(runner->look.at_ns - before->at_ns) / (double)NS_PER_S / 3600);
}

static int look_at_all(struct runner *runner)
{
        struct look before = runner->look;
        int err;

        sample_reset(&runner->sample);
        err = runner->hardware->ops->read(runner->hardware, &runner->sample);
        if (err)
                return err;
        see(runner, &runner->sample);
        err = interval_make(runner->maker, &runner->sample, &runner->interval);
        if (err == -ENODATA)
                return 0; /* the first */
        if (err)
                return err;
        draw(runner, &before);
        return count(runner);
}

int runner_look(struct runner *runner)
{
        struct look before = runner->look;
        int err;

        if (runner_looks_are_cheap(runner) || before.at_ns == 0)
                return look_at_all(runner);
        sample_reset(&runner->battery_sample);
        err = runner->hardware->ops->read_battery(runner->hardware, &runner->battery_sample);
        if (err)
                return err;
        see(runner, &runner->battery_sample);
        draw(runner, &before);
        return 0;
}
