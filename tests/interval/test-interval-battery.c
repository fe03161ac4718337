/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The battery's discharge, by each kind of gauge. */

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

/* Battery values are ignored if the source did not set SAMPLE_BATTERY for this sample. */
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

static void see_two(struct fixture *f, uint64_t name, uint64_t full_uwh, uint64_t now_uwh)
{
        struct sample *sample = after(f, 30);

        sample->have |= SAMPLE_BATTERY;
        sample->members[0] = (struct battery_member){ .name = 1, .energy_full_uwh = 24000000 };
        sample->members[1] = (struct battery_member){ .name = name, .energy_full_uwh = full_uwh };
        sample->n_members = name ? 2 : 1;
        sample->battery = (struct battery){ .have = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL, D,
                                            .energy_full_uwh = 24000000 + full_uwh, .energy_now_uwh = now_uwh };
        poll(f);
}

/* Two batteries of 24 and 48 Wh hold 30 Wh; then the second one is exchanged, and counting restarts. */
static void other_batteries_are_no_discharge(void)
{
        static const struct {
                uint64_t name, full_uwh, now_uwh;
                uint32_t have;
                double percent;
        } cases[] = {
                { 2, 48000000, 29280000, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 1 },
                /* The full charge is learnt again, 1.5 % lower. */
                { 2, 47280000, 29280000, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT, 1 },
                { 2, 46800000, 29280000, 0, 0 },
                { 3, 48000000, 29280000, 0, 0 },
                { 0, 0, 10000000, 0, 0 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                uint64_t full_uwh = 24000000 + cases[i].full_uwh;
                struct fixture f;

                setup(&f);
                see_two(&f, 2, 48000000, 30000000);
                see_two(&f, cases[i].name, cases[i].full_uwh, cases[i].now_uwh);
                check_int(f.interval.battery_have, cases[i].have);
                check_near(f.interval.discharge_percent, cases[i].percent, 1e-9);
                check_near((double)f.interval.discharge_uj, cases[i].percent * 720000 * 3600, 1);
                see_two(&f, cases[i].name, cases[i].full_uwh, cases[i].now_uwh - full_uwh / 100);
                check_int(f.interval.battery_have, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT);
                check_near(f.interval.discharge_percent, 1, 1e-9);
                teardown(&f);
        }
}

int main(void)
{
        other_batteries_are_no_discharge();
        discharge_by_each_gauge();
        flickering_gauge_counts_once();
        step_of_each_gauge();
        an_unread_battery_is_none();
        return check_result();
}
