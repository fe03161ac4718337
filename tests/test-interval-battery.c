/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the battery lost, by each kind of gauge. */

#include "interval-fixture.h"

struct discharge_case {
        const char *what;
        struct battery a, b;
        uint32_t have;
        double uj, percent;
};

#define LEVELS (BATTERY_CHARGE_NOW | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE)
#define D .status = BATTERY_DISCHARGING

static const struct discharge_case discharge_cases[] = {
        { "charge times mean voltage",
          { LEVELS, D, 0, 1000000, 2000000, 0, 0, 4000000 }, { LEVELS, D, 0, 990000, 2000000, 0, 0, 3800000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 10000 * 3.9 * 3600, 0.5 },
        { "energy",
          { BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, D, 0, 0, 0, 5000000, 10000000 },
          { BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, D, 0, 0, 0, 4900000, 10000000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 100000 * 3600.0, 1 },
        { "percent steps of a known charge",
          { BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE, D, 50, 0, 2000000, 0, 0, 4000000 },
          { BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE, D, 48, 0, 2000000, 0, 0, 4000000 },
          INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 40000 * 4 * 3600.0, 2 },
        { "percent alone has no joules",
          { BATTERY_CAPACITY, D, 50 }, { BATTERY_CAPACITY, D, 49 }, INTERVAL_DISCHARGE_PERCENT, 0, 1 },
        { "a level that did not move",
          { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 }, { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 },
          INTERVAL_DISCHARGE, 0, 0 },
        { "plugged in at the end",
          { BATTERY_ENERGY_NOW, D, 0, 0, 0, 5000000 },
          { BATTERY_ENERGY_NOW, .status = BATTERY_CHARGING, 0, 0, 0, 4900000 }, 0, 0, 0 },
        { "no level at all", { 0, D }, { 0, D }, 0, 0, 0 },
};

static void discharge_by_each_gauge(void)
{
        for (size_t i = 0; i < sizeof(discharge_cases) / sizeof(discharge_cases[0]); i++) {
                const struct discharge_case *c = &discharge_cases[i];
                int failures = check_failures;
                struct fixture f;

                setup(&f);
                after(&f, 0)->have |= SAMPLE_BATTERY;
                f.sample.battery = c->a;
                poll(&f);
                after(&f, 30)->have |= SAMPLE_BATTERY;
                f.sample.battery = c->b;
                check_int(poll(&f), 0);
                check_int(f.interval.battery_have, c->have);
                check_near((double)f.interval.discharge_uj, c->uj, 1);
                check_near(f.interval.discharge_percent, c->percent, 1e-9);
                if (check_failures > failures)
                        fprintf(stderr, "in: %s\n", c->what);
                teardown(&f);
        }
}

static void flickering_gauge_counts_once(void)
{
        struct fixture f;
        const uint64_t level[] = { 1000000, 999000, 999500, 999000, 998500 };
        uint64_t sum = 0;

        setup(&f);
        for (int i = 0; i < 5; i++) {
                after(&f, 30)->have |= SAMPLE_BATTERY;
                f.sample.battery = (struct battery){ .have = BATTERY_ENERGY_NOW, D, .energy_now_uwh = level[i] };
                poll(&f);
                sum += f.interval.discharge_uj;
        }
        check_int(sum, 1500 * 3600);
        teardown(&f);
}

/* Energy of one step of the level that counts, in uJ. */
static void step_of_each_gauge(void)
{
        static const struct battery full = { .have = BATTERY_CAPACITY | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE, D,
                                             .charge_full_uah = 4000000, .voltage_uv = 3800000 };
        struct battery battery = full, step = { 0 };

        check_near(interval_step_uj(&battery, &step), 4 * 3.8 * 36 * 1e6, 1); /* one percent */
        step = (struct battery){ .have = BATTERY_CAPACITY, .capacity_percent = 5 };
        check_near(interval_step_uj(&battery, &step), 5 * 4 * 3.8 * 36 * 1e6, 1);
        battery.have |= BATTERY_CHARGE_NOW;
        check(isnan(interval_step_uj(&battery, &step))); /* it has not moved yet */
        step.have |= BATTERY_CHARGE_NOW;
        step.charge_now_uah = 4000;
        check_near(interval_step_uj(&battery, &step), 0.004 * 3.8 * 3600 * 1e6, 1);
        battery.have |= BATTERY_ENERGY_NOW;
        step.have |= BATTERY_ENERGY_NOW;
        step.energy_now_uwh = 10000;
        check_near(interval_step_uj(&battery, &step), 36e6, 1);
        battery.have = BATTERY_CAPACITY;
        check(isnan(interval_step_uj(&battery, &step)));
}

/* What a source left in the sample without saying that it read it is not stored as read. */
static void an_unread_battery_is_none(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0)->have |= SAMPLE_BATTERY;
        f.sample.battery = (struct battery){ .have = BATTERY_ENERGY_NOW, D, .energy_now_uwh = 1000000 };
        poll(&f);
        after(&f, 30);
        f.sample.battery = (struct battery){ .have = BATTERY_ENERGY_NOW, D, .energy_now_uwh = 999000 };
        check_int(poll(&f), 0);
        check_int(f.interval.battery.have, 0);
        check_int(f.interval.battery_have, 0);
        teardown(&f);
}

int main(void)
{
        discharge_by_each_gauge();
        flickering_gauge_counts_once();
        step_of_each_gauge();
        an_unread_battery_is_none();
        return check_result();
}
