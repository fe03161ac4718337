/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The traps of clocks and of the machine's totals, one function each: two or more samples in, rows out. */

#include "interval-fixture.h"

static void first_sample_has_no_interval(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 5 * S);
        check_int(poll(&f), -ENODATA);
        process(after(&f, 30), 10, 1, "a", 7 * S);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 30 * S);
        check_int(f.interval.end_realtime_ns - f.interval.start_realtime_ns, 30 * S);
        check_int(busy(&f, "a"), 2 * S);
        check_text(f.interval.rows[0].app, "");
        check_int(f.interval.rows[0].usage.time_ns, 30 * S);
        check_int(active(&f, "a", STATE_BACKGROUND), 30 * S);
        check_int(row(&f, "a", STATE_BACKGROUND)->usage.cpu.list[0].khz, KHZ_UNKNOWN);
        teardown(&f);
}

/* A build's processes are there for one poll, and so is the memory for them. */
static void a_burst_leaves_no_room_behind(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 5 * S);
        check_int(poll(&f), -ENODATA);
        for (int round = 0; round < 2; round++) {
                after(&f, 30);
                for (pid_t pid = 10; pid < 3000; pid++)
                        process(&f.sample, pid, 1, "a", (uint64_t)(6 + round) * S);
                check_int(poll(&f), 0);
        }
        check(f.sample.capacity.processes > 2000);
        for (int round = 0; round < 4; round++) { /* two samples take turns */
                process(after(&f, 30), 10, 1, "a", (uint64_t)(8 + round) * S);
                check_int(poll(&f), 0);
                check_int(busy(&f, "a"), S);
        }
        check(f.sample.capacity.processes < 100);
        sample_reset(&f.sample);
        process(after(&f, 30), 10, 1, "a", 12 * S);
        check_int(poll(&f), 0);
        check(f.sample.capacity.processes < 100);
        teardown(&f);
}

static void machine_total_backward_is_a_gap(void)
{
        struct fixture f;
        const uint64_t total[] = { 500, 700, 100, 150 }, want[] = { 0, 200, 0, 50 };

        setup(&f);
        for (int i = 0; i < 4; i++) {
                after(&f, 30)->have |= USAGE_DISK;
                f.sample.read_bytes = total[i];
                poll(&f);
                if (i > 0)
                        check_int(f.interval.rows[0].usage.read_bytes, want[i]);
        }
        teardown(&f);
}

static void reboot_starts_anew(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 50 * S);
        poll(&f);
        process(after(&f, 30), 10, 1, "a", 60 * S);
        strcpy(f.sample.boot_id, "another boot");
        check_int(poll(&f), -ENODATA);
        check_int(f.interval.n_rows, 0);
        process(after(&f, 30), 10, 1, "a", 61 * S);
        strcpy(f.sample.boot_id, "another boot");
        check_int(poll(&f), 0);
        check_int(busy(&f, "a"), 1 * S);
        teardown(&f);
}

static void clock_step_tears_no_hole(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        f.realtime_ns -= 3600 * (int64_t)S;
        after(&f, 30);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 30 * S);
        check_int(f.interval.end_realtime_ns - f.interval.start_realtime_ns, 30 * S);
        teardown(&f);
}

/* Only a clock that was set does not go on where the last one ended: realtime is read some us after boottime. */
static void intervals_meet_unless_the_clock_was_set(void)
{
        const int64_t off_ns[] = { 0, 11000, -11000, 900 * (int64_t)NS_PER_MS, 3652 * 86400 * (int64_t)S,
                                   -3652 * 86400 * (int64_t)S };
        struct fixture f;

        setup(&f);
        for (size_t i = 0; i < sizeof(off_ns) / sizeof(off_ns[0]); i++) {
                int64_t end_ns, set_ns = i < 4 ? 0 : off_ns[i];

                after(&f, 30);
                poll(&f);
                end_ns = f.interval.end_realtime_ns;
                f.realtime_ns += off_ns[i];
                after(&f, 30);
                check_int(poll(&f), 0);
                check_int(f.interval.clock_step_ns, i ? set_ns : 0);
                if (i)
                        check_int(f.interval.start_realtime_ns, end_ns + set_ns);
        }
        teardown(&f);
}

static void suspend_is_boottime_without_monotonic(void)
{
        struct fixture f;

        setup(&f);
        screen(after(&f, 0), "a", true, 10);
        poll(&f);
        f.boottime_ns += 100 * S; /* asleep */
        f.realtime_ns += 100 * (int64_t)S;
        screen(after(&f, 20), "a", true, 10);
        f.sample.monotonic_ns += 3; /* clocks are not read at the same moment */
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 120 * S);
        check_near((double)f.interval.suspend_ns, 100e9, 10);
        check_near((double)f.interval.rows[0].usage.time_ns, 20e9, 10);
        check_int(f.interval.rows[0].usage.suspend_ns + f.interval.rows[0].usage.time_ns, 120 * S);
        check_near((double)usage_screen_ns(&row(&f, "a", STATE_FOREGROUND)->usage), 20e9, 10);
        teardown(&f);
}

/* A clock that stood still while the other one went on is broken: there was no suspend. */
static void a_clock_that_stands_is_no_suspend(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        after(&f, 30)->monotonic_ns -= 30 * S;
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 30 * S);
        check_int(f.interval.suspend_ns, 0);
        teardown(&f);
}

static void jitter_is_no_suspend(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        after(&f, 30)->boottime_ns += 50000;
        check_int(poll(&f), 0);
        check_int(f.interval.suspend_ns, 0);
        check_int(f.interval.split_by, SPLIT_UNKNOWN);
        teardown(&f);
}

static void what_the_machine_did_not_do_no_process_did(void)
{
        struct fixture f;

        setup(&f);
        for (int i = 0; i < 3; i++) {
                process(after(&f, 30), 10, 1, "a", (uint64_t)i * S);
                f.sample.have |= USAGE_WIFI;
                f.sample.wifi_on = i > 0;
                f.sample.wifi_rx_bytes = i == 2 ? 10 : 0;
                poll(&f);
                if (i > 0)
                        check_int(row(&f, "a", STATE_BACKGROUND)->usage.have & USAGE_WIFI,
                                  i == 1 ? USAGE_WIFI : 0);
                if (i > 0)
                        check_int(f.interval.rows[0].usage.wifi_on_ns, i == 1 ? 15 * S : 30 * S);
        }
        check_int(f.interval.rows[0].usage.wifi_rx_bytes, 10);
        teardown(&f);
}

/* The signal is that at the end, like the battery's level, whether or not it was known before. */
static void the_signal_is_that_of_the_end(void)
{
        struct fixture f;

        setup(&f);
        after(&f, 0);
        poll(&f);
        after(&f, 30)->signal = (struct signal){ SIGNAL_WIFI, -55, 0 };
        check_int(poll(&f), 0);
        check_int(f.interval.signal.have, SIGNAL_WIFI);
        check_int(f.interval.signal.wifi_signal_dbm, -55);
        after(&f, 30);
        check_int(poll(&f), 0);
        check_int(f.interval.signal.have, 0);
        teardown(&f);
}

/* A skipped sample does not count, except for the screen events that only it has. */
static void a_skipped_sample_is_in_the_next_interval(void)
{
        struct fixture f;

        setup(&f);
        process(after(&f, 0), 10, 1, "a", 5 * S);
        screen(&f.sample, "", true, 100);
        check_int(poll(&f), -ENODATA);
        screen(after(&f, 30), "a", true, 100);
        event(&f.sample, f.boottime_ns - 10 * S, "a", true, 100);
        f.sample.have &= ~(uint32_t)SAMPLE_PROCESSES;
        check_int(interval_skip(f.maker, &f.sample), 0);
        process(after(&f, 30), 10, 1, "a", 9 * S);
        screen(&f.sample, "", true, 100);
        event(&f.sample, f.boottime_ns - 25 * S, "", true, 100);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 60 * S);
        check_int(busy(&f, "a"), 4 * S);
        check_int(active(&f, "a", STATE_FOREGROUND), 15 * S);
        for (int i = 0; i < 3000; i++) { /* after any time it stays small, and the last event holds */
                after(&f, 1);
                event(&f.sample, f.boottime_ns, "a", true, 100);
                check_int(interval_skip(f.maker, &f.sample), 0);
        }
        process(after(&f, 10), 10, 1, "a", 9 * S);
        check_int(poll(&f), 0);
        check_int(f.interval.elapsed_ns, 3010 * S);
        check_int(active(&f, "a", STATE_FOREGROUND), 3009 * S);
        check(f.sample.n_events == 1 || f.sample.capacity.events < 5000);
        teardown(&f);
}

static void what_was_charged_in_a_skipped_sample_is_unknown(void)
{
        struct fixture f;
        const uint64_t charge_uwh[] = { 9000000, 9500000, 8900000 };

        for (int charger = 0; charger < 2; charger++) {
                setup(&f);
                for (int i = 0; i < 3; i++) {
                        process(after(&f, 30), 10, 1, "a", 5 * S);
                        f.sample.have |= SAMPLE_BATTERY;
                        f.sample.battery = (struct battery){ .have = BATTERY_ENERGY_NOW,
                                                             .status = BATTERY_DISCHARGING,
                                                             .energy_now_uwh = charge_uwh[i] };
                        if (i == 1 && charger)
                                f.sample.battery.status = BATTERY_CHARGING;
                        check_int(i == 1 ? interval_skip(f.maker, &f.sample) : poll(&f), i == 0 ? -ENODATA : 0);
                }
                check_int(f.interval.battery_have & INTERVAL_DISCHARGE, charger ? 0 : INTERVAL_DISCHARGE);
                teardown(&f);
        }
}

int main(void)
{
        a_skipped_sample_is_in_the_next_interval();
        what_was_charged_in_a_skipped_sample_is_unknown();
        first_sample_has_no_interval();
        a_burst_leaves_no_room_behind();
        machine_total_backward_is_a_gap();
        reboot_starts_anew();
        clock_step_tears_no_hole();
        intervals_meet_unless_the_clock_was_set();
        suspend_is_boottime_without_monotonic();
        a_clock_that_stands_is_no_suspend();
        jitter_is_no_suspend();
        what_the_machine_did_not_do_no_process_did();
        the_signal_is_that_of_the_end();
        return check_result();
}
