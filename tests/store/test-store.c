/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The store: what goes in comes out, for one writer and many readers, all of an interval or nothing. */

#include <errno.h>

#include "store-fixture.h"

/* The machine's proportions, as time_in_state makes them, with a point that no core was busy at. */
static void make_shape(struct points *shape)
{
        struct usage usage = { 0 };

        for (uint32_t i = 0; i < 20; i++)
                usage_add_cpu(&usage, i / 10 * 4, 300000 + i * 100000, 1 + (draw() >> 20), i == 4 ? 0 : draw() >> 21);
        *shape = usage.cpu;
}

/* Shared CPU times are stored as a sum and a shape, others in full; both are read back to the ns. */
static void shaped_usages_come_back_exactly(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };
        struct sum want = { .active_ns = 60 * NS_PER_S }, got;

        make_interval(&interval, START, NS_PER_S, 0);
        make_shape(&interval.shape);
        for (unsigned i = 0; i < 60; i++) {
                struct usage *usage;
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                usage = &add_row(&interval, app, STATE_BACKGROUND, NS_PER_S)->usage;
                usage->have = USAGE_CPU;
                check_int(usage_points_share(&interval.shape, draw() % NS_PER_S, &usage->cpu), 0);
                interval.rows[interval.n_rows - 1].shaped = i % 3 != 1 && i % 7 != 2;
                if (i % 3 == 1)
                        usage->cpu.list[draw() % usage->cpu.n].any_ns += 1;
                if (i % 7 == 2)
                        check_int(usage_add_cpu(usage, 0, 300000, draw() >> 9, draw() >> 9), 0);
        }
        for (size_t i = 0; i < interval.n_rows; i++)
                check_int(usage_add(&want.usage, &interval.rows[i].usage), 0);
        check_int(store_append(store, &interval), 0);
        check_int(count_in_file("usage WHERE cpu_busy_ns > 0 AND cpu IS NULL") >= 30, true);
        for (unsigned i = 0; i < 60; i += 7) {
                struct sum one = { .active_ns = NS_PER_S };
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                check_int(usage_copy(&one.usage, &interval.rows[1 + i].usage), 0);
                got = total(store, INT64_MIN, INT64_MAX, STORE_RAW, app);
                check_same(got, one, app);
        }
        got = total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL);
        check_same(got, want, "shaped");
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

/* Each amount can be read with sqlite3 from the column named by its word, and is NULL if it was not counted. */
static void amounts_are_named_columns(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };
        struct usage *usage;

        make_interval(&interval, START, NS_PER_S, 0);
        usage = &add_row(&interval, "game", STATE_FOREGROUND, NS_PER_S)->usage;
        usage->have = USAGE_ALL & ~USAGE_GPU;
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (i != AMOUNT_gpu_busy_ns)
                        usage->amount[i] = 1000 + i;
        usage_add_cpu(usage, 0, 300000, 77, 70);
        usage_add_screen(usage, 100, 88);
        check_int(store_append(store, &interval), 0);
        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                char where[120];

                snprintf(where, sizeof(where), "usage JOIN app ON app.id = usage.app WHERE app.app = 'game' AND %s %s",
                         amount_kinds[i].word, i == AMOUNT_gpu_busy_ns ? "IS NULL" : "");
                if (i != AMOUNT_gpu_busy_ns)
                        snprintf(where + strlen(where), sizeof(where) - strlen(where), "= %zu", 1000 + i);
                check_int(count_in_file(where), 1);
        }
        check_int(count_in_file("usage WHERE cpu_busy_ns = 77 AND screen_on_ns = 88 AND active_ns = 1000000000"), 1);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

static void keep_sentence(void *data, enum log_level level, const char *sentence)
{
        snprintf(data, 256, "%s", sentence);
}

static void an_older_database_is_kept_aside(void)
{
        char sentence[256] = "", *aside, *end;
        const struct log log = { keep_sentence, sentence };
        struct store *store = open_store(STORE_WRITE);

        append_days(store, START, START + 600 * S, 60 * S);
        store_close(store);
        run_sql("PRAGMA user_version = 2");
        check_int(store_open(path, STORE_READ, &log, &store), -EBADMSG);
        check(strstr(sentence, "an older one made it"));
        check_int(store_open(path, STORE_WRITE, &log, &store), 0);
        check_int(count_rows(store, NULL), 0);
        store_close(store);
        aside = strstr(sentence, path);
        end = aside ? strchr(aside, ',') : NULL;
        check(end && strstr(aside, ".older-"));
        if (end) {
                *end = '\0';
                check_int(unlink(aside), 0);
        }
        remove_database();
}

static void empty_and_missing(void)
{
        struct store *store = NULL;
        struct store_battery battery;

        check_int(store_open(path, STORE_READ, NULL, &store), -ENOENT);
        store = open_store(STORE_WRITE);
        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), -ENODATA);
        check_int(count_rows(store, NULL), 0);
        store_close(store);
        remove_database();
}

struct seen {
        size_t n, unknown;
        double joules;
        int64_t last_ns;
};

static int see_level(void *data, const struct store_poll *level)
{
        struct seen *seen = data;

        check(level->start_ns < level->end_ns && level->end_ns > seen->last_ns);
        check(level->battery.have == (BATTERY_CAPACITY | BATTERY_CHARGE_NOW));
        seen->n++;
        seen->unknown += isnan(level->discharge_j);
        seen->joules += isnan(level->discharge_j) ? 0 : level->discharge_j;
        seen->last_ns = level->end_ns;
        return 0;
}

/* The smallest fall between two polls on battery, of each level; a stretch ends at a gap or at the charger. */
static void steps_of_the_gauge(void)
{
        static const struct { int64_t gap_s; bool plugged; uint32_t percent; uint64_t uah; } polls[] = {
                { 0, false, 90, 3000000 }, { 0, false, 90, 2996000 }, { 0, false, 85, 2994000 },
                { 0, true, 86, 2993500 },  { 0, false, 85, 2990000 }, { 60, false, 80, 2986000 },
        };
        struct store *store = open_store(STORE_WRITE);
        struct battery step = { 0 };
        struct store_battery battery;
        struct seen seen = { .last_ns = INT64_MIN };
        int64_t at_ns = START;

        check_int(store_battery_step(store, &step), 0);
        check_int(step.have, 0);
        for (size_t i = 0; i < ARRAY_SIZE(polls); i++) {
                struct interval interval = { .have = SAMPLE_BATTERY, .elapsed_ns = 30 * NS_PER_S };

                at_ns += polls[i].gap_s * S;
                interval.start_realtime_ns = at_ns;
                at_ns = interval.end_realtime_ns = at_ns + 30 * S;
                interval.battery = (struct battery){ .have = BATTERY_CAPACITY | BATTERY_CHARGE_NOW,
                                                     .status = polls[i].plugged ? BATTERY_CHARGING
                                                                                : BATTERY_DISCHARGING,
                                                     .capacity_percent = polls[i].percent,
                                                     .charge_now_uah = polls[i].uah };
                interval.battery_have = polls[i].plugged ? 0 : INTERVAL_DISCHARGE;
                interval.discharge_uj = 10000000;
                check_int(store_append(store, &interval), 0);
        }
        check_int(store_battery_step(store, &step), 0);
        check_int(step.have, BATTERY_CAPACITY | BATTERY_CHARGE_NOW);
        check_int(step.capacity_percent, 5);
        check_int(step.charge_now_uah, 2000);
        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        check_int(battery.stretches, 3);
        check_int(store_levels(store, INT64_MIN, INT64_MAX, see_level, &seen), 0);
        check(seen.n == ARRAY_SIZE(polls) && seen.unknown == 1);
        check_near(seen.joules, 50, 1e-9);
        store_close(store);
        remove_database();
}

static uint64_t elapsed_s(struct store *store)
{
        struct store_battery battery = { 0 };

        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        return battery.elapsed_ns / NS_PER_S;
}

static void one_writer_many_readers(void)
{
        struct store *writer = open_store(STORE_WRITE), *second = NULL, *reader;

        check_int(store_open(path, STORE_WRITE, NULL, &second), -EBUSY);
        append_days(writer, START, START + 10 * S, 10 * S);
        reader = open_store(STORE_READ);
        check_int(count_rows(reader, ""), 1);
        check_int(elapsed_s(reader), 10);
        check_int(elapsed_s(writer), 10);
        append_days(writer, START + 10 * S, START + 20 * S, 10 * S);
        check_int(count_rows(reader, ""), 2);
        check_int(elapsed_s(reader), 20);
        check_int(elapsed_s(writer), 20);
        check_int(store_append(reader, &(struct interval){ 0 }), -EROFS);
        store_close(writer);
        writer = open_store(STORE_WRITE);
        store_close(writer);
        store_close(reader);
        remove_database();
}

/*
 * An interval and the names that came with it are there at once,
 * or not at all; and so is one that brings no names.
 */
static void failed_append_leaves_nothing(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START,
                                     .start_realtime_ns = START - S,
                                     .elapsed_ns = NS_PER_S };

        add_row(&interval, "", STATE_BACKGROUND, 0);
        check_int(store_append(store, &interval), 0);
        run_sql("CREATE UNIQUE INDEX one_length ON interval (elapsed_ns)");
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), -EBADMSG);
        add_row(&interval, "new", STATE_BACKGROUND, NS_PER_S)->usage.read_bytes = 5;
        check_int(store_append(store, &interval), -EBADMSG);
        check_int(count_in_file("interval"), 1);
        check_int(count_in_file("usage"), 1);
        check_int(count_in_file("app"), 1); /* the base */
        run_sql("DROP INDEX one_length");
        check_int(store_append(store, &interval), 0);
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), 0);
        check_int(count_in_file("interval"), 3);
        check_int(count_in_file("usage"), 5);
        check_int(count_rows(store, "new"), 2);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

static int count_uid(void *data, const struct store_row *row)
{
        check_int(row->uid, 1000);
        (*(int *)data)++;
        return *(int *)data == 3 ? 42 : 0;
}

static void rows_of_one_user_until_told_to_stop(void)
{
        struct store *store = open_store(STORE_WRITE);
        const struct store_query query = { INT64_MIN, INT64_MAX, STORE_RAW, NULL, 1000 };
        int n = 0;

        append_days(store, START, START + 600 * S, 60 * S);
        check_int(store_rows(store, &query, count_uid, &n), 42);
        check_int(n, 3);
        append_days(store, START + 600 * S, START + 660 * S, 60 * S); /* no transaction is left open */
        store_close(store);
        remove_database();
}

/* Expected battery values, poll by poll, and the sum of the rows of all polls. */
struct polls {
        const struct interval *want;
        size_t n, stop_at;
        struct sum sum;
};

static int look_at_poll(void *data, const struct store_poll *poll)
{
        struct polls *polls = data;
        const struct interval *want = &polls->want[polls->n++];
        bool known = want->battery_have & INTERVAL_DISCHARGE;

        check_int(poll->start_ns, want->start_realtime_ns);
        check_int(poll->end_ns, want->end_realtime_ns);
        check_int(poll->elapsed_ns, want->elapsed_ns);
        check_int(poll->suspend_ns, want->suspend_ns);
        check_int(poll->split_by, want->split_by);
        check_int(isnan(poll->discharge_j), !known);
        check_int(isnan(poll->discharge_percent), !known);
        if (known) {
                check_near(poll->discharge_j, (double)want->discharge_uj / 1e6, 1e-9);
                check_near(poll->discharge_percent, want->discharge_percent, 1e-9);
        }
        check_int(poll->battery.status, want->battery.status);
        check_int(poll->battery.have, want->battery.have);
        check_int(poll->battery.capacity_percent, want->battery.capacity_percent);
        check_int(poll->battery.power_uw, want->battery.power_uw);
        check_int(poll->signal.have, want->signal.have);
        check_int(poll->signal.wifi_signal_dbm, want->signal.wifi_signal_dbm);
        check_int(poll->signal.cellular_signal_percent, want->signal.cellular_signal_percent);
        for (size_t i = 0; i < poll->n_rows; i++)
                check_int(add_up(&polls->sum, &poll->rows[i]), 0);
        return polls->n == polls->stop_at ? 42 : 0;
}

static bool is_rated(const void *data, const struct store_poll *poll)
{
        return poll->battery.have & BATTERY_POWER;
}

static int count_needed(void *data, const struct store_poll *poll)
{
        size_t *n = data;

        check_int(poll->n_rows > 0, is_rated(NULL, poll));
        n[0]++;
        n[1] += poll->n_rows;
        return 0;
}

static int count_all(void *data, const struct store_poll *poll)
{
        size_t *n = data;

        *n += is_rated(NULL, poll) ? poll->n_rows : 0;
        return 0;
}

/* Only the polls that need their rows have them, and these all. */
static void polls_have_rows_as_needed(struct store *store, size_t n_polls)
{
        size_t n[2] = { 0 }, want = 0;

        check_int(store_polls_that(store, INT64_MIN, INT64_MAX, is_rated, count_needed, n), 0);
        check_int(store_polls(store, INT64_MIN, INT64_MAX, count_all, &want), 0);
        check_int(n[0], n_polls);
        check_int(n[1], want);
        check(want > 0);
}

static void polls_are_what_was_recorded(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval intervals[20] = { 0 };
        struct polls polls = { .want = intervals, .sum = { .last_start_ns = INT64_MIN, .ascending = true } };

        for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
                make_interval(&intervals[i], START + ((int64_t)i + 1) * 60 * S, 60 * NS_PER_S, 5);
                intervals[i].suspend_ns = i % 3 * NS_PER_S;
                if (i % 4 == 0) {
                        intervals[i].battery.have |= BATTERY_POWER;
                        intervals[i].battery.power_uw = 1000 * i;
                }
                if (i % 3 > 0)
                        intervals[i].signal = (struct signal){ .have = SIGNAL_WIFI, .wifi_signal_dbm = -40 - (int)i };
                if (i % 3 == 2) {
                        intervals[i].signal.have |= SIGNAL_CELLULAR;
                        intervals[i].signal.cellular_signal_percent = (uint32_t)(3 * i);
                }
                check_int(store_append(store, &intervals[i]), 0);
        }
        check_int(store_polls(store, INT64_MIN, INT64_MAX, look_at_poll, &polls), 0);
        check_int(polls.n, ARRAY_SIZE(intervals));
        check_same(polls.sum, total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL), "polls");
        polls = (struct polls){ .want = intervals + 4, .stop_at = 3, .sum = { .last_start_ns = INT64_MIN } };
        check_int(store_polls(store, intervals[3].end_realtime_ns, INT64_MAX, look_at_poll, &polls), 42);
        check_int(polls.n, 3);
        polls_have_rows_as_needed(store, ARRAY_SIZE(intervals));
        sum_clear(&polls.sum);
        check_int(store_append(store, &intervals[0]), 0); /* no transaction is left open */
        for (size_t i = 0; i < ARRAY_SIZE(intervals); i++)
                interval_clear(&intervals[i]);
        store_close(store);
        remove_database();
}

int main(void)
{
        name_database();
        shaped_usages_come_back_exactly();
        amounts_are_named_columns();
        an_older_database_is_kept_aside();
        empty_and_missing();
        steps_of_the_gauge();
        one_writer_many_readers();
        failed_append_leaves_nothing();
        rows_of_one_user_until_told_to_stop();
        polls_are_what_was_recorded();
        remove_database();
        return check_result();
}
