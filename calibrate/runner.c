/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "refuse.h"
#include "units.h"
#include "util.h"

/* What full charge holds at the voltage of now. */
static double full_mwh(const struct runner *runner)
{
        double charge_mwh = runner->look.charge_full_uah * runner->look.voltage_mv / 1e6;

        return isnan(charge_mwh) ? runner->description->energy_full_mwh : charge_mwh;
}

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
        ret->drawn_percent = isnan(full_mwh(ret)) || isnan(ret->look.power_mw) ? NAN : 0;
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

static double known(uint32_t have, uint32_t bit, double value)
{
        return have & bit ? value : NAN;
}

/* The finest level that the battery shows, in percent. */
static double fine_level(const struct battery *battery)
{
        uint32_t charge = BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL, energy = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL;

        if ((battery->have & charge) == charge && battery->charge_full_uah)
                return 100.0 * (double)battery->charge_now_uah / (double)battery->charge_full_uah;
        if ((battery->have & energy) == energy && battery->energy_full_uwh)
                return 100.0 * (double)battery->energy_now_uwh / (double)battery->energy_full_uwh;
        return NAN;
}

void look_at(const struct sample *sample, bool fine, struct look *look)
{
        const struct battery *battery = &sample->battery;
        uint32_t have = sample->have & SAMPLE_BATTERY ? battery->have : 0;

        *look = (struct look){
                .at_ns = sample->boottime_ns,
                .realtime_ns = sample->realtime_ns,
                .status = have ? battery->status : BATTERY_UNKNOWN,
                .capacity_percent = known(have, BATTERY_CAPACITY, battery->capacity_percent),
                .charge_full_uah = known(have, BATTERY_CHARGE_FULL, (double)battery->charge_full_uah),
                .voltage_mv = known(have, BATTERY_VOLTAGE, (double)battery->voltage_uv / 1e3),
                .power_mw = known(have, BATTERY_POWER, (double)battery->power_uw / 1e3),
                .temperature_c = known(have, BATTERY_TEMPERATURE, battery->temperature_dc / 10.0),
        };
        look->level_percent = have && fine ? fine_level(battery) : look->capacity_percent;
}

static uint32_t counted(uint32_t sample_have)
{
        static const struct {
                uint32_t sample, usage;
        } pairs[] = {
                { SAMPLE_OPPS, USAGE_CPU }, { SAMPLE_DISK, USAGE_DISK }, { SAMPLE_WIFI, USAGE_WIFI },
                { SAMPLE_GPU, USAGE_GPU }, { SAMPLE_SCREEN, USAGE_DISPLAY },
        };
        uint32_t have = 0;

        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                if (sample_have & pairs[i].sample)
                        have |= pairs[i].usage;
        return have;
}

/* All rows of an interval, nobody's too, are the whole machine. */
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
                span->power_mw_s += now->power_mw * seconds;
                span->power_s += seconds;
        }
        if (now->status != BATTERY_DISCHARGING && now->status != BATTERY_UNKNOWN)
                span->disturbed = true;
        span->looks++;
}

static bool looks_are_cheap(const struct runner *runner)
{
        return !runner->hardware->ops->read_battery;
}

/* Reads everything and counts it, apart from the looks. */
static int count_on(struct runner *runner)
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

static void see(struct runner *runner, const struct sample *sample)
{
        look_at(sample, runner->fine, &runner->look);
        runner->hindrance = 0;
        if (runner->hardware->ops->may_go_on)
                runner->hindrance = runner->hardware->ops->may_go_on(runner->hardware, sample, runner->reason,
                                                                     sizeof(runner->reason));
}

static void draw(struct runner *runner, const struct look *before)
{
        integrate(&runner->span, before, &runner->look);
        runner->drawn_percent += runner->look.power_mw / full_mwh(runner) * 100 *
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

        if (looks_are_cheap(runner) || before.at_ns == 0)
                return look_at_all(runner);
        sample_reset(&runner->battery_sample);
        err = runner->hardware->ops->read_battery(runner->hardware, &runner->battery_sample);
        if (err)
                return err;
        see(runner, &runner->battery_sample);
        draw(runner, &before);
        return 0;
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

int span_begin(struct runner *runner)
{
        int err = looks_are_cheap(runner) ? 0 : count_on(runner); /* up to here it is another's */

        if (err)
                return err;
        usage_clear(&runner->span.usage);
        runner->span = (struct span){
                .start_ns = runner->look.at_ns,
                .start_realtime_ns = runner->first.realtime_ns + (int64_t)(runner->look.at_ns - runner->first.at_ns),
        };
        return 0;
}

double span_seconds(const struct runner *runner)
{
        return (double)(runner->look.at_ns - runner->span.start_ns) / (double)NS_PER_S;
}

/* Once. A signal that is none to stop (the machine's job control) only ends the wait. */
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
                err = wait_until(runner, MIN(end, runner->look.at_ns + (uint64_t)(poll_s * (double)NS_PER_S)));
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
        if (!err || err == -EOPNOTSUPP || err == -ENOTCONN) /* not in this night, or not now */
                return err;
        runner->hindrance = -EIO;
        snprintf(runner->reason, sizeof(runner->reason), "it cannot be held: %s", strerror(-err));
        return runner->hindrance;
}

/* Looks at the level this often until its refresh is known, so that this can be learnt. Fine levels are fresher. */
#define POLL_UNKNOWN_S 0.5
#define POLL_UNKNOWN_FINE_S 0.2
#define POLLS_PER_REFRESH 5
#define POLL_MIN_S 0.2
#define POLL_MAX_S 5.0

static double poll_s(const struct runner *runner)
{
        if (isnan(runner->refresh.period_s))
                return runner->fine ? POLL_UNKNOWN_FINE_S : POLL_UNKNOWN_S;
        return fmin(fmax(runner->refresh.period_s / POLLS_PER_REFRESH, POLL_MIN_S), POLL_MAX_S);
}

/* A fine level that stands still while the percentage falls by so many is stuck. */
#define STUCK_PERCENT 2

/* Waits for the level to change; @fallen gets by how much (below 0: it rose). -EPROTO: it is stuck. */
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
        if (*fallen > 0)
                runner->step_percent = fmin(isnan(runner->step_percent) ? INFINITY : runner->step_percent, *fallen);
        return 0;
}

int span_fill(struct runner *runner, const struct mode *mode, enum observation_method method,
              struct observation *observation)
{
        const struct span *span = &runner->span;
        int err = looks_are_cheap(runner) ? 0 : count_on(runner);

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
                .power_mw = NAN,
                .refresh_s = NAN,
                .temperature_c = runner->look.temperature_c,
                .usage = span->usage, /* moves */
                .held_back = mode->held_back,
        };
        snprintf(observation->mode, sizeof(observation->mode), "%s", mode->name);
        snprintf(observation->kind, sizeof(observation->kind), "%s", mode->kind);
        runner->span.usage = (struct usage){ 0 };
        refuse_observation(runner, mode, observation);
        return 0;
}

/*
 * From here on the span is this mode's. What has a state and no counter (screen, association) counts as it was found at
 * either end of an interval, so the change from one mode to the other gets an interval of its own.
 */
static int begin_mode(struct runner *runner, const struct mode *mode)
{
        int err = span_begin(runner);

        if (!err)
                err = runner_hold(runner, mode);
        return err || looks_are_cheap(runner) ? err : count_on(runner);
}

int runner_burn(struct runner *runner, const struct mode *mode, struct observation *ret)
{
        double fallen = 0;
        int err;

        refresh_gap(&runner->refresh);
        err = begin_mode(runner, mode);
        if (!err && !looks_are_cheap(runner))
                err = runner_look(runner); /* a step while the mode was set up was not seen when it came */
        if (!err)
                err = wait_step(runner, &fallen);
        if (err && !runner_hindered(err))
                return err;
        err = span_fill(runner, mode, runner->fine ? METHOD_TICKS : METHOD_PERCENT, ret);
        if (err)
                return err;
        ret->burn = true;
        ret->percent = runner->look.level_percent;
        ret->refresh_s = runner->refresh.period_s;
        return 0;
}

/* A mode must last this many refreshes, else the refresh decides its length and not its power. */
#define REFRESHES_PERCENT 10
#define REFRESHES_TICKS 20

static double shortest_s(const struct runner *runner, double min_s)
{
        double refreshes = runner->fine ? REFRESHES_TICKS : REFRESHES_PERCENT;

        return isnan(runner->refresh.period_s) ? min_s : fmax(min_s, refreshes * runner->refresh.period_s);
}

int runner_steps(struct runner *runner, const struct mode *mode, double steps_percent, double min_s,
                 struct observation *ret)
{
        double level = runner->look.level_percent, fallen = 0, jump = 0, biggest = 0, steps = 0;
        int err = begin_mode(runner, mode);

        while (!err && (fallen < steps_percent * 0.999 || span_seconds(runner) < shortest_s(runner, min_s))) {
                err = wait_step(runner, &jump);
                if (err || runner->span.disturbed || !(jump > 0))
                        break;
                fallen = level - runner->look.level_percent;
                biggest = fmax(biggest, jump);
                steps++;
        }
        if (err && !runner_hindered(err))
                return err;
        err = span_fill(runner, mode, runner->fine ? METHOD_TICKS : METHOD_PERCENT, ret);
        if (err)
                return err;
        /* Full steps were shown at both ends: just below the upper edge of one, down to the same of another. */
        ret->percent = level + (isnan(runner->step_percent) ? 0 : runner->step_percent) - fallen / 2;
        ret->refresh_s = runner->refresh.period_s;
        ret->steps = fallen;
        refuse_steps(runner, jump, biggest, steps, ret);
        return 0;
}
