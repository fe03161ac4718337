/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rolling up and dropping rows: totals stay the same at every grain, whenever the process is killed. */

#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "forecast/history.h"
#include "store-fixture.h"

static void totals_survive_every_roll_up(void)
{
        const int64_t end = START + 4 * DAY, step = 600 * S;
        /* Spans on and off the edges of hours and days. */
        const int64_t spans[][2] = {
                { INT64_MIN, INT64_MAX },
                { START + HOUR, START + 3 * DAY + 100 * S },
                { 20001 * DAY, 20003 * DAY },
                { 20001 * DAY + 1, 20003 * DAY - 1 },
                { START + 5 * step, START + 6 * step },
                { 20001 * DAY + 3 * HOUR, 20001 * DAY + 5 * HOUR + 20 * 60 * S },
        };
        struct store *store = open_store(STORE_WRITE);
        struct sum before[ARRAY_SIZE(spans)], one = { 0 };
        struct store_battery battery, again;

        append_days(store, START, end, step);
        for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
                before[i] = total(store, spans[i][0], spans[i][1], STORE_RAW, NULL);
        one = total(store, INT64_MIN, INT64_MAX, STORE_BEST, "app-3");
        check(before[0].rows > 1000 && one.rows > 100);
        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        check_int(store_roll_up(store, end, &keep_all), 0);
        check_int(store_roll_up(store, end, &keep_all), 0);
        check_int(store_roll_up(store, end + HOUR, &keep_all), 0);
        check_int(store_battery(store, INT64_MIN, INT64_MAX, &again), 0);
        check_int(again.discharge_uj, battery.discharge_uj);
        check_near(again.discharge_percent, battery.discharge_percent, 1e-9);
        check_int(again.known_ns, battery.known_ns);
        check_int(again.elapsed_ns, 4 * DAY);
        check_int(again.first_ns, START);
        check_int(again.last_ns, end);
        check_int(again.last.capacity_percent, battery.last.capacity_percent);
        for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
                struct sum best = total(store, spans[i][0], spans[i][1], STORE_BEST, NULL);

                check(best.rows < before[i].rows || i >= 4);
                check_same(best, before[i], "best");
        }
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, "app-3"), one, "one app");
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_HOUR, NULL),
                   total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL), "hours");
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_DAY, NULL),
                   total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL), "days");
        store_close(store);
        remove_database();
}

static void retention_drops_details_and_keeps_totals(void)
{
        const int64_t end = START + 6 * DAY;
        const struct store_retention retention = { 24, 3, 0 }, short_days = { 24, 3, 5 };
        const int64_t cut = 20002 * DAY + 12 * HOUR;
        struct store *store = open_store(STORE_WRITE);
        struct sum all, left, right;

        append_days(store, START, end, 900 * S);
        all = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        /* Rolls up while time passes, and not only at the end: rows folded by one call are dropped by a later one. */
        for (int64_t now = START; now <= end; now += 7 * HOUR)
                check_int(store_roll_up(store, now, &retention), 0);
        check_int(store_roll_up(store, end, &retention), 0);
        check(count_in_file("interval") <= 24 * 4 + 8);
        check(count_in_file("period") <= 7 + 4 * 24);
        left = total(store, INT64_MIN, cut, STORE_BEST, NULL);
        right = total(store, cut, INT64_MAX, STORE_BEST, NULL);
        check_int(usage_add(&left.usage, &right.usage), 0);
        left.active_ns += right.active_ns;
        check(same(&left, &all)); /* two spans that meet miss nothing, even where only the day is left */
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL), all, "the finest there is");
        check_int(store_roll_up(store, end + DAY, &short_days), 0);
        check(count_in_file("period") < 7 + 4 * 24);
        sum_clear(&left);
        sum_clear(&right);
        store_close(store);
        remove_database();
}

static void late_interval_counts_once(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct sum all;

        append_days(store, START, START + 2 * DAY, 1800 * S);
        check_int(store_roll_up(store, START + 2 * DAY, &keep_all), 0);
        append_days(store, START + 3 * HOUR, START + 5 * HOUR, 1800 * S); /* the clock was put back */
        all = total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL);
        check_int(all.usage.time_ns, 50 * HOUR);
        check_int(store_roll_up(store, START + 2 * DAY + HOUR, &keep_all), 0);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), all, "late");
        store_close(store);
        remove_database();
}

static uint64_t time_of(struct store *store, int64_t from_ns, int64_t to_ns, enum store_grain grain)
{
        struct sum sum = total(store, from_ns, to_ns, grain, NULL);
        uint64_t time_ns = sum.usage.time_ns;

        sum_clear(&sum);
        return time_ns;
}

/* The clock was years ahead for one poll: what comes after that is kept as finely as ever. */
static void clock_that_was_ahead(void)
{
        const struct store_retention retention = { 24, 3, 0 };
        const int64_t ahead = START + 2 * DAY + 1000 * DAY;
        struct store *store = open_store(STORE_WRITE);
        int64_t now = START;

        for (int hour = 0; hour < 4 * 24; hour++, now += HOUR) {
                append_days(store, now, now + HOUR, 1800 * S);
                check_int(store_roll_up(store, now + HOUR, &retention), 0);
                if (hour == 48) {
                        append_days(store, ahead, ahead + 1800 * S, 1800 * S);
                        check_int(store_roll_up(store, ahead + 1800 * S, &retention), 0);
                }
        }
        check_int(time_of(store, INT64_MIN, INT64_MAX, STORE_BEST), (uint64_t)(4 * DAY + 1800 * S));
        check_int(time_of(store, now - 2 * HOUR, now, STORE_RAW), (uint64_t)(2 * HOUR));
        check_int(time_of(store, now - 10 * HOUR, now - 4 * HOUR, STORE_HOUR), (uint64_t)(6 * HOUR));
        check_int(time_of(store, now - 10 * HOUR, now - 4 * HOUR, STORE_BEST), (uint64_t)(6 * HOUR));
        check(count_in_file("interval") >= 48 && count_in_file("interval") <= 56);
        store_close(store);
        remove_database();
}

/* A forecast reads days, then hours, then intervals: each moment once, wherever in a day it ends. */
static void a_history_has_every_moment_once(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct profile *profile;
        int64_t now = START;

        check_int(profile_new("", 1, &profile), 0);
        append_days(store, now, now + 9 * DAY, 1800 * S);
        now += 9 * DAY;
        for (int hour = 0; hour < 24; hour += 5, now += 5 * HOUR) {
                struct history *history = NULL;

                check_int(store_roll_up(store, now, &keep_all), 0);
                check_int(history_read(profile, store, &history), 0);
                if (history)
                        check_near(history->awake_s, (double)((now - START) / S), 1e-3);
                history_free(history);
                append_days(store, now, now + 5 * HOUR, 1800 * S);
        }
        profile_free(profile);
        store_close(store);
        remove_database();
}

/* A history of the last days suffices, and all days can be read by a caller who asks for them. */
static void a_history_of_the_last_days(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct history *history = NULL;
        struct profile *profile;
        double whole_s;

        check_int(profile_new("", 1, &profile), 0);
        append_days(store, START, START + 100 * DAY, 6 * HOUR);
        check_int(store_roll_up(store, START + 100 * DAY, &keep_all), 0);
        check_int(history_read_for(profile, store, -1, HISTORY_WHOLE, &history), 0);
        whole_s = history ? history->awake_s : 0;
        history_free(history);
        check_near(whole_s, 100 * 86400, 1e-3);
        check_int(history_read_for(profile, store, -1, HISTORY_RECENT, &history), 0);
        check(history && history->awake_s < (TUNING_DAY_DAYS + TUNING_HOUR_DAYS + 2) * 86400.0);
        check(history && history->awake_s > (TUNING_DAY_DAYS + TUNING_HOUR_DAYS - 2) * 86400.0);
        history_free(history);
        profile_free(profile);
        store_close(store);
        remove_database();
}

/* One row that a clock years ahead dated is no part of a history; where all are ahead of the clock, all are. */
static void a_history_ahead_of_the_clock(void)
{
        for (int all = 0; all < 2; all++) {
                struct store *store = open_store(STORE_WRITE);
                struct history *history = NULL;
                struct profile *profile;
                int64_t from = START + (all ? 20000 * DAY : 0);

                check_int(profile_new("", 1, &profile), 0);
                append_days(store, START + 30000 * DAY, START + 30000 * DAY + 1800 * S, 1800 * S);
                append_days(store, from, from + 3 * HOUR, 1800 * S);
                check_int(history_read(profile, store, &history), 0);
                check_near(history ? history->awake_s : 0, 3 * 3600, 1e-3);
                check(history && history->blocks[history->n_blocks - 1].end_ns == from + 3 * HOUR);
                history_free(history);
                profile_free(profile);
                store_close(store);
                remove_database();
        }
}

static size_t history_blocks(const struct profile *profile, struct store *store)
{
        struct history *history = NULL;
        size_t ret;

        check_int(history_read(profile, store, &history), 0);
        ret = history ? history->n_blocks : 0;
        history_free(history);
        return ret;
}

/* One interval that was dated decades from now does not make a forecast coarse, and is no part of it. */
static void a_history_after_a_clock_that_was_ahead(void)
{
        const int64_t ahead = START + 10000 * DAY;
        struct store *store = open_store(STORE_WRITE);
        struct profile *profile;
        size_t blocks;

        check_int(profile_new("", 1, &profile), 0);
        append_days(store, START, START + 4 * DAY, 300 * S);
        check_int(store_roll_up(store, START + 4 * DAY, &keep_all), 0);
        blocks = history_blocks(profile, store);
        check(blocks > 4 * DAY / HOUR); /* finer than hours */
        append_days(store, ahead, ahead + 1800 * S, 1800 * S);
        check_int(history_blocks(profile, store), blocks);
        profile_free(profile);
        store_close(store);
        remove_database();
}

/* Killed at any moment, a roll-up has happened or has not. */
static void killed_in_roll_up(void)
{
        struct store *store = open_store(STORE_WRITE);
        const struct store_retention retention = { 24, 2, 0 };
        struct sum all;

        append_days(store, START, START + 4 * DAY, 300 * S);
        all = total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL);
        store_close(store);
        for (useconds_t wait = 0; wait < 30000; wait += 1500) {
                pid_t child = start_child();

                if (child == 0) {
                        if (store_open(path, STORE_WRITE, NULL, &store) == 0)
                                store_roll_up(store, START + 4 * DAY, &retention);
                        _exit(0);
                }
                usleep(wait);
                end_child(child);
                store = open_store(STORE_READ);
                check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL),
                           total(store, INT64_MIN, INT64_MAX, STORE_DAY, NULL), "killed");
                store_close(store);
        }
        store = open_store(STORE_WRITE);
        check_int(store_roll_up(store, START + 4 * DAY, &retention), 0);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), all, "after kills");
        store_close(store);
        remove_database();
}

static void append_with_signal(struct store *store, int64_t end_ns, uint64_t elapsed_ns, uint64_t suspend_ns,
                               const struct signal *signal)
{
        struct interval interval = { 0 };

        make_interval(&interval, end_ns, elapsed_ns, 1);
        interval.suspend_ns = suspend_ns;
        interval.signal = *signal;
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
}

/* The mean of the time awake in which it is known: -50 dBm for a minute and -80 dBm for two. */
static void signal_survives_the_roll_up(void)
{
        const struct signal near = { SIGNAL_WIFI, -50, 0 }, none = { 0 };
        const struct signal far = { SIGNAL_WIFI | SIGNAL_CELLULAR, -80, 12 };
        const int64_t hour = (START / HOUR + 1) * HOUR;
        struct store *store = open_store(STORE_WRITE);
        struct store_battery before, after;

        append_with_signal(store, hour + 60 * S, 60 * NS_PER_S, 0, &none);
        before = battery_of_all(store);
        check(isnan(before.wifi_signal_dbm) && isnan(before.cellular_signal_percent));
        append_with_signal(store, hour + 120 * S, 60 * NS_PER_S, 0, &near);
        append_with_signal(store, hour + HOUR + 60 * S, 600 * NS_PER_S, 480 * NS_PER_S, &far);
        for (int i = 2; i < 6; i++) /* the clock of the last hour may be set */
                append_with_signal(store, hour + i * HOUR, (uint64_t)HOUR, 0, &none);
        for (int rolled_up = 0; rolled_up < 2; rolled_up++) {
                if (rolled_up)
                        check_int(store_roll_up(store, hour + 3 * DAY, &(struct store_retention){ 0, 1, 0 }), 0);
                after = battery_of_all(store);
                check_near(after.wifi_signal_dbm, -70, 1e-9);
                check_near(after.cellular_signal_percent, 12, 1e-9);
                check_int(store_battery(store, INT64_MIN, hour + HOUR, &before), 0);
                check_near(before.wifi_signal_dbm, -50, 1e-9);
        }
        check(count_in_file("interval") <= 2 && count_in_file("period") > 3);
        store_close(store);
        remove_database();
}

/* Polls of 301 s: one is counted by the kernel, the next shared. */
static void split_is_told_and_survives_the_roll_up(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct store_battery before, after;

        append_days(store, START, START + 100 * 301 * S, 301 * S);
        before = battery_of_all(store);
        check_int(before.counted_ns, 50 * 301 * NS_PER_S);
        check_int(before.shared_ns, 50 * 301 * NS_PER_S);
        check_int(store_roll_up(store, START + 72 * HOUR, &(struct store_retention){ 1, 1, 0 }), 0);
        check(count_in_file("interval") <= 13);
        after = battery_of_all(store);
        check_int(after.counted_ns, before.counted_ns);
        check_int(after.shared_ns, before.shared_ns);
        store_close(store);
        remove_database();
}

/* Long enough and on battery: kept when its interval is long gone, for half a year. */
static void sleeps_are_kept(void)
{
        const uint64_t run_ns = 8 * 3600 * NS_PER_S;
        struct store *store = open_store(STORE_WRITE);
        struct store_sleep sleeps[8];

        append_sleep(store, START, run_ns, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT);
        append_sleep(store, START + 24 * HOUR, run_ns, INTERVAL_DISCHARGE_PERCENT);
        append_sleep(store, START + 48 * HOUR, run_ns, 0);
        append_sleep(store, START + 72 * HOUR, 600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 30 * 24 * HOUR, &(struct store_retention){ 1, 1, 1 }), 0);
        check_int(read_sleeps(store, sleeps), 2);
        check_int(sleeps[0].end_ns, START);
        check_int(sleeps[0].suspend_ns, run_ns);
        check_int(sleeps[0].elapsed_ns, run_ns + 30 * NS_PER_S);
        check_near(sleeps[0].discharge_j, 900, 1e-6);
        check_near(sleeps[0].discharge_percent, 2.5, 1e-6);
        check(isnan(sleeps[1].discharge_j));
        append_sleep(store, START + 10000 * 24 * HOUR, run_ns, INTERVAL_DISCHARGE); /* a clock that was set */
        check_int(read_sleeps(store, sleeps), 3);
        append_sleep(store, START + 180 * 24 * HOUR, 180 * 24 * 3600 * NS_PER_S - 2 * run_ns - run_ns / 2,
                     INTERVAL_DISCHARGE);
        check_int(read_sleeps(store, sleeps), 3);
        check_int(sleeps[0].end_ns, START + 24 * HOUR);
        store_close(store);
        remove_database();
}

/* Sums of apps with a name, whose usage a row of times does not contain. */
struct times {
        uint64_t active_ns, time_ns, suspend_ns, busy_ns;
        int64_t first_ns, last_ns;
        size_t rows;
};

static int add_times(void *data, const struct store_row *row)
{
        struct times *sum = data;

        sum->active_ns += row->active_ns;
        sum->time_ns += row->usage->time_ns;
        sum->suspend_ns += row->usage->suspend_ns;
        sum->busy_ns += usage_busy_ns(row->usage);
        sum->first_ns = sum->rows++ == 0 ? row->start_ns : sum->first_ns;
        sum->last_ns = row->end_ns;
        return 0;
}

/* Queries for times only give the same times as full queries, for polls, hours and days. */
static void times_alone_are_the_same_times(void)
{
        struct store *store = open_store(STORE_WRITE);

        append_days(store, START, START + 3 * DAY, 600 * S);
        check_int(store_roll_up(store, START + 3 * DAY, &keep_all), 0);
        for (enum store_grain grain = STORE_RAW; grain <= STORE_BEST; grain++) {
                struct store_query query = { INT64_MIN, INT64_MAX, grain, NULL, -1 };
                struct times all = { 0 }, times = { 0 };

                check_int(store_rows(store, &query, add_times, &all), 0);
                query.times = true;
                check_int(store_rows(store, &query, add_times, &times), 0);
                check(all.busy_ns > 0 && all.time_ns > 0);
                check_int(times.busy_ns, 0);
                check_int(times.rows, all.rows);
                check_int(times.active_ns, all.active_ns);
                check_int(times.time_ns, all.time_ns);
                check_int(times.suspend_ns, all.suspend_ns);
                check_int(times.first_ns, all.first_ns);
                check_int(times.last_ns, all.last_ns);
                query.times = false; /* the next query has all usage again */
                times = (struct times){ 0 };
                check_int(store_rows(store, &query, add_times, &times), 0);
                check_int(times.busy_ns, all.busy_ns);
        }
        store_close(store);
        remove_database();
}

int main(void)
{
        name_database();
        times_alone_are_the_same_times();
        totals_survive_every_roll_up();
        retention_drops_details_and_keeps_totals();
        late_interval_counts_once();
        clock_that_was_ahead();
        a_history_has_every_moment_once();
        a_history_of_the_last_days();
        a_history_ahead_of_the_clock();
        a_history_after_a_clock_that_was_ahead();
        killed_in_roll_up();
        split_is_told_and_survives_the_roll_up();
        signal_survives_the_roll_up();
        sleeps_are_kept();
        remove_database();
        return check_result();
}
