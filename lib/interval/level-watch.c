/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "level-watch.h"

#include <math.h>
#include <string.h>

#include "source/battery.h"
#include "util/units.h"
#include "util/util.h"

#define MINUTE_NS (60 * NS_PER_S)

/* No load empties a battery in ten minutes, and no charger fills it so fast. */
#define MOST_PER_MINUTE 0.1

/* A reading may be late by one step, or early: that many of full, unless the gauge is known to be coarser. */
#define USUAL_STEP 0.01

#define HOLD_NS (3 * MINUTE_NS)

/* Most delay of a gauge after a suspend. After a shorter suspend it has nothing to catch up with. */
#define LATE_NS MINUTE_NS

/* If the full charge changes by more than this part, it is another battery, or the gauge has relearnt it. */
#define SAME_FULL 0.02

static double distance(uint64_t a, uint64_t b)
{
        return fabs((double)a - (double)b);
}

/* The most that a level may move in @ns, over this number of readings. */
static double most_moved(const struct level_watch *watch, double full, uint64_t ns, unsigned readings)
{
        return MOST_PER_MINUTE * full * (double)ns / MINUTE_NS + readings * fmax(watch->step, USUAL_STEP * full);
}

static void start(struct level_watch *watch, const struct level_reading *reading)
{
        *watch = (struct level_watch){ .started = true, .level = reading->level, .level_ns = reading->ns,
                                       .seen = reading->level, .seen_ns = reading->ns,
                                       .highest = (double)reading->level };
}

static void fall_asleep(struct level_watch *watch, const struct level_reading *reading)
{
        watch->slept = true;
        watch->moved = false;
        watch->before = watch->level;
        watch->before_ns = watch->level_ns;
        watch->resumed_ns = reading->ns;
        watch->held = false;
}

/* The step of a gauge is its smallest fall; only a level that stayed shows that the gauge is coarse at all. */
static void learn_step(struct level_watch *watch, uint64_t level, bool stayed)
{
        double fall = level < watch->level ? (double)(watch->level - level) : 0;

        if (fall > 0 && (stayed || watch->step > 0))
                watch->step = watch->step > 0 ? fmin(watch->step, fall) : fall;
}

static void take(struct level_watch *watch, const struct level_reading *reading)
{
        watch->moved = watch->moved || reading->level < watch->level;
        watch->held = false;
        watch->level = reading->level;
        watch->level_ns = reading->ns;
        watch->readings = 0;
}

/* After a suspend: is this the energy of the suspend, which the gauge shows late, or a correction of that energy? */
static bool belongs_to_sleep(const struct level_watch *watch, const struct level_reading *reading, double full,
                             bool leapt)
{
        uint64_t ns = reading->ns - watch->resumed_ns, most_ns = reading->ns - watch->before_ns;

        if (!watch->slept || ns == 0 || watch->held)
                return false;
        if (reading->level < watch->level)
                return ns <= LATE_NS && (leapt || !watch->moved) &&
                       distance(reading->level, watch->before) <= most_moved(watch, full, most_ns, 1);
        return watch->moved && leapt && ns <= HOLD_NS &&
               (double)reading->level <= (double)watch->before + most_moved(watch, full, 0, 1);
}

/* The reading is elsewhere than the level that counts: has it been there for long enough? */
static bool has_stayed(struct level_watch *watch, const struct level_reading *reading, double full)
{
        double moved = distance(reading->level, watch->seen);

        if (!watch->held || moved > most_moved(watch, full, reading->ns - watch->seen_ns, 1))
                watch->held_ns = reading->ns;
        watch->held = true;
        return reading->ns - watch->held_ns >= HOLD_NS;
}

static bool agrees(const struct level_watch *watch, const struct level_reading *reading, double full)
{
        double away = distance(reading->level, watch->level);

        return away <= most_moved(watch, full, reading->ns - watch->level_ns, watch->readings) &&
               (!watch->held || away < distance(reading->level, watch->seen));
}

uint64_t level_watch_see(struct level_watch *watch, const struct level_reading *reading, double *slept)
{
        double full = reading->full;
        bool agreed, stayed = false;

        *slept = 0;
        if (!watch->started || reading->ns < watch->seen_ns)
                start(watch, reading);
        if (reading->asleep_ns >= LATE_NS)
                fall_asleep(watch, reading);
        watch->highest = fmax(watch->highest, (double)reading->level);
        watch->readings++;
        if (!(full > 0))
                full = watch->highest;
        agreed = agrees(watch, reading, full);
        if (belongs_to_sleep(watch, reading, full, !agreed)) {
                *slept = (double)watch->level - (double)reading->level;
                take(watch, reading);
        } else {
                stayed = !agreed && has_stayed(watch, reading, full);
                if ((agreed || stayed) && reading->asleep_ns < LATE_NS)
                        learn_step(watch, reading->level, stayed);
                if (agreed || stayed)
                        take(watch, reading);
        }
        watch->seen = reading->level;
        watch->seen_ns = reading->ns;
        return watch->level;
}

/* A value that is not shown now counts as unchanged. */
static bool is_same_full(uint64_t before, uint64_t *now)
{
        if (*now == 0)
                *now = before;
        return before == 0 || distance(before, *now) <= SAME_FULL * (double)before;
}

static bool is_same(const struct battery_member *before, struct battery_member *now)
{
        bool charge = is_same_full(before->charge_full_uah, &now->charge_full_uah),
             energy = is_same_full(before->energy_full_uwh, &now->energy_full_uwh);

        if (now->pack == 0)
                now->pack = before->pack;
        return before->name == now->name && (before->pack == 0 || before->pack == now->pack) && charge && energy;
}

/* All together have full charges, too; a source may know no more. */
static struct battery_member together(const struct battery *battery)
{
        return (struct battery_member){
                .charge_full_uah = battery->have & BATTERY_CHARGE_FULL ? battery->charge_full_uah : 0,
                .energy_full_uwh = battery->have & BATTERY_ENERGY_FULL ? battery->energy_full_uwh : 0,
        };
}

/* Other batteries have other levels: levels of the previous ones that were held back are dropped. */
static void know_members(struct battery_watch *watch, const struct sample *sample)
{
        struct battery_member members[ARRAY_SIZE(watch->members)] = { 0 };
        size_t n = sample->n_members;
        bool same = n == watch->n_members;

        memcpy(members, sample->members, n * sizeof(*members));
        members[n] = together(&sample->battery);
        for (size_t i = 0; same && i <= n; i++)
                same = is_same(&watch->members[i], &members[i]);
        if (watch->started && !same) {
                watch->changed = true;
                memset(watch->levels, 0, sizeof(watch->levels));
        }
        watch->n_members = n;
        memcpy(watch->members, members, sizeof(members));
}

static uint64_t growth_of(uint64_t before, uint64_t now)
{
        return now > before ? now - before : 0;
}

static uint64_t see(struct battery_watch *watch, int which, const struct level_reading *reading)
{
        return level_watch_see(&watch->levels[which], reading, &watch->slept[which]);
}

static double full_of(const struct battery *battery, uint32_t bit, uint64_t full)
{
        return battery->have & bit && full > 0 ? (double)full : NAN;
}

static void see_levels(struct battery_watch *watch, struct battery *battery, struct level_reading reading)
{
        if (battery->have & BATTERY_CAPACITY) {
                reading.level = battery->capacity_percent;
                reading.full = 100;
                battery->capacity_percent = (uint32_t)see(watch, WATCHED_CAPACITY, &reading);
        }
        if (battery->have & BATTERY_CHARGE_NOW) {
                reading.level = battery->charge_now_uah;
                reading.full = full_of(battery, BATTERY_CHARGE_FULL, battery->charge_full_uah);
                battery->charge_now_uah = see(watch, WATCHED_CHARGE, &reading);
        }
        if (battery->have & BATTERY_ENERGY_NOW) {
                reading.level = battery->energy_now_uwh;
                reading.full = full_of(battery, BATTERY_ENERGY_FULL, battery->energy_full_uwh);
                battery->energy_now_uwh = see(watch, WATCHED_ENERGY, &reading);
        }
}

void level_watch_battery(struct battery_watch *watch, struct sample *sample)
{
        uint64_t elapsed_ns = growth_of(watch->boottime_ns, sample->boottime_ns),
                 running_ns = growth_of(watch->monotonic_ns, sample->monotonic_ns);

        memset(watch->slept, 0, sizeof(watch->slept));
        if (!(sample->have & SAMPLE_BATTERY))
                return;
        know_members(watch, sample);
        see_levels(watch, &sample->battery,
                   (struct level_reading){ .ns = sample->boottime_ns,
                                           .asleep_ns = watch->started ? growth_of(running_ns, elapsed_ns) : 0 });
        watch->started = true;
        watch->boottime_ns = sample->boottime_ns;
        watch->monotonic_ns = sample->monotonic_ns;
}

bool level_watch_doubts(const struct battery *counted, const struct battery *now, uint64_t ns)
{
        const struct level_watch watch = { .step = 1 };

        return fabs(battery_percent(counted) - battery_percent(now)) > most_moved(&watch, 100, ns, 1) + watch.step;
}
