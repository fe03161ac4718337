/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When the battery was charged, full and unplugged, and when the machine woke, also long after the polls are gone. */

#include <errno.h>
#include <math.h>

#include "store-fixture.h"

#define POLL (30 * S)

struct device {
        struct store *store;
        struct interval interval;
        int64_t end_ns, step_ns;
};

static void poll_once(struct device *device, enum battery_status status, uint32_t percent)
{
        device->end_ns += POLL;
        make_interval(&device->interval, device->end_ns, POLL, 1);
        device->interval.battery.status = status;
        device->interval.battery.capacity_percent = percent;
        device->interval.clock_step_ns = device->step_ns;
        device->step_ns = 0;
        check_int(store_append(device->store, &device->interval), 0);
}

static void begin(struct device *device)
{
        *device = (struct device){ .store = open_store(STORE_WRITE), .end_ns = START };
}

static void end(struct device *device)
{
        interval_clear(&device->interval);
        store_close(device->store);
        remove_database();
}

static int64_t since(struct device *device, enum store_event event)
{
        int64_t time_ns = -1;
        int err = store_since(device->store, event, &time_ns);

        check(err == 0 || err == -ENODATA);
        return err ? err : time_ns;
}

static int copy(void *data, const struct store_charge *charge)
{
        struct store_charge **to = data;

        *(*to)++ = *charge;
        return 0;
}

static size_t list(struct device *device, struct store_charge *ret)
{
        struct store_charge *to = ret;

        check_int(store_charges(device->store, INT64_MIN, INT64_MAX, copy, &to), 0);
        return (size_t)(to - ret);
}

static void a_day(void)
{
        struct store_charge charges[16];
        struct device device;
        int64_t plugged_ns, full_ns, unplugged_ns;

        begin(&device);
        check_int(since(&device, STORE_SINCE_FULL), -ENODATA);
        poll_once(&device, BATTERY_DISCHARGING, 50);
        check_int(since(&device, STORE_SINCE_UNPLUG), -ENODATA); /* it was on battery from the first poll on */
        plugged_ns = device.end_ns;
        for (uint32_t percent = 50; percent < 100; percent++)
                poll_once(&device, BATTERY_CHARGING, percent);
        check_int(since(&device, STORE_SINCE_FULL), -ENODATA);
        full_ns = device.end_ns;
        poll_once(&device, BATTERY_FULL, 100);
        check_int(since(&device, STORE_SINCE_FULL), device.end_ns); /* it still is */
        for (int i = 0; i < 5; i++) { /* topped up now and then */
                poll_once(&device, BATTERY_CHARGING, 99);
                poll_once(&device, BATTERY_FULL, 100);
        }
        unplugged_ns = device.end_ns;
        poll_once(&device, BATTERY_DISCHARGING, 100);
        poll_once(&device, BATTERY_UNKNOWN, 99);
        poll_once(&device, BATTERY_DISCHARGING, 99);
        check_int(since(&device, STORE_SINCE_FULL), unplugged_ns);
        check_int(since(&device, STORE_SINCE_UNPLUG), unplugged_ns);
        poll_once(&device, BATTERY_CHARGING, 99);
        check_int(since(&device, STORE_SINCE_FULL), unplugged_ns);
        check_int(since(&device, STORE_SINCE_UNPLUG), unplugged_ns);
        check_int(list(&device, charges), 5);
        check_int(charges[1].state, STORE_CHARGING);
        check_int(charges[1].start_ns, plugged_ns);
        check_near(charges[1].level_percent, 50, 1e-9);
        check_int(charges[2].state, STORE_FULL);
        check_int(charges[2].start_ns, full_ns);
        check(isnan(charges[2].energy_full_uwh));
        end(&device);
}

/* It was charged while nothing was recorded; the last state is known to whoever opens the database next. */
static void unseen(void)
{
        struct store_charge charges[16];
        struct device device;
        int64_t gone_ns;

        begin(&device);
        poll_once(&device, BATTERY_DISCHARGING, 20);
        gone_ns = device.end_ns;
        store_close(device.store);
        device.store = open_store(STORE_WRITE);
        device.end_ns += 8 * HOUR;
        poll_once(&device, BATTERY_DISCHARGING, 20);
        check_int(list(&device, charges), 1);
        store_close(device.store);
        device.store = open_store(STORE_WRITE);
        device.end_ns += 8 * HOUR;
        gone_ns = device.end_ns;
        poll_once(&device, BATTERY_DISCHARGING, 100);
        check_int(list(&device, charges), 3);
        check_int(charges[1].state, STORE_FULL);
        check_int(since(&device, STORE_SINCE_FULL), gone_ns);
        check_int(since(&device, STORE_SINCE_UNPLUG), gone_ns);
        end(&device);
}

/* A limit of 80 % is full, too; and all is known when the polls are gone. */
static void poll_of(struct device *device, uint64_t full_uwh, uint64_t now_uwh, bool known)
{
        device->end_ns += POLL;
        make_interval(&device->interval, device->end_ns, POLL, 1);
        device->interval.have |= SAMPLE_BATTERY;
        device->interval.battery_have = known ? INTERVAL_DISCHARGE : 0;
        device->interval.discharge_uj = 0;
        device->interval.battery = (struct battery){ .have = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL,
                                                     .status = BATTERY_DISCHARGING, .energy_full_uwh = full_uwh,
                                                     .energy_now_uwh = now_uwh };
        check_int(store_append(device->store, &device->interval), 0);
}

/*
 * A second battery that is put in did not charge the first; and its level is no step of a gauge when it is
 * taken out.
 */
static void other_batteries(void)
{
        struct store_charge charges[16];
        struct battery step;
        struct device device;

        begin(&device);
        poll_of(&device, 24000000, 12000000, true);
        poll_of(&device, 72000000, 52000000, false);
        poll_of(&device, 24000000, 11900000, false);
        check_int(list(&device, charges), 1);
        check_int(store_battery_step(device.store, &step), 0);
        check_int(step.have & BATTERY_ENERGY_NOW, 0);
        poll_of(&device, 24000000, 11800000, true);
        check_int(store_battery_step(device.store, &step), 0);
        check_int(step.energy_now_uwh, 100000);
        poll_of(&device, 24000000, 13800000, true);
        check_int(list(&device, charges), 3);
        end(&device);
}

static void kept(void)
{
        const struct store_retention short_one = { 1, 1, 1 };
        struct device device;
        int64_t full_ns, woke_ns;

        begin(&device);
        poll_once(&device, BATTERY_CHARGING, 79);
        poll_once(&device, BATTERY_NOT_CHARGING, 80);
        full_ns = device.end_ns;
        poll_once(&device, BATTERY_DISCHARGING, 80);
        device.end_ns += 10 * S;
        make_interval(&device.interval, device.end_ns, 10 * S, 1);
        device.interval.suspend_ns = 5 * S;
        check_int(store_append(device.store, &device.interval), 0);
        woke_ns = device.end_ns;
        check_int(since(&device, STORE_SINCE_RESUME), woke_ns);
        for (int i = 0; i < 600; i++)
                poll_once(&device, BATTERY_DISCHARGING, 79);
        check_int(store_roll_up(device.store, device.end_ns, &short_one), 0);
        check_int(since(&device, STORE_SINCE_FULL), full_ns);
        end(&device);
}

/* A clock that is set back within the hour dates the changes with their polls. */
static void clock_set(void)
{
        struct device device;

        begin(&device);
        poll_once(&device, BATTERY_CHARGING, 79);
        poll_once(&device, BATTERY_FULL, 80);
        poll_once(&device, BATTERY_DISCHARGING, 80);
        device.end_ns -= 10 * HOUR;
        device.step_ns = -10 * HOUR;
        poll_once(&device, BATTERY_DISCHARGING, 80);
        check_int(since(&device, STORE_SINCE_FULL), START + 2 * POLL - 10 * HOUR);
        end(&device);
}

/* A battery that changes its mind with every poll does not fill the disk. */
static void flapping(void)
{
        struct device device;

        begin(&device);
        for (int i = 0; i < 6; i++)
                poll_once(&device, i % 2 ? BATTERY_CHARGING : BATTERY_DISCHARGING, 50);
        store_close(device.store);
        run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)"
                " INSERT INTO charge SELECT i, i % 2, NULL, NULL, NULL FROM n");
        device.store = open_store(STORE_WRITE);
        poll_once(&device, BATTERY_DISCHARGING, 50);
        store_close(device.store);
        check_int(count_in_file("charge"), 10000);
        device.store = open_store(STORE_WRITE);
        end(&device);
}

int main(void)
{
        name_database();
        a_day();
        unseen();
        other_batteries();
        kept();
        clock_set();
        flapping();
        return check_result();
}
