/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The store: what goes in comes out, at every grain, whatever was rolled up, dropped, broken or locked. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "store.h"
#include "tuning.h"
#include "units.h"
#include "util.h"

#define S ((int64_t)NS_PER_S)
#define HOUR (3600 * S)
#define DAY (24 * HOUR)
#define START (20000 * DAY + 7 * HOUR + 13 * S)

static char path[64];

static void remove_database(void)
{
        static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
        char name[80];

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                snprintf(name, sizeof(name), "%s%s", path, ends[i]);
                unlink(name);
        }
}

static struct store *open_store(enum store_mode mode)
{
        struct store *store = NULL;

        check_int(store_open(path, mode, NULL, &store), 0);
        return store;
}

static uint64_t draw(void)
{
        static uint64_t state = 88172645463325252u;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}

static struct interval_row *add_row(struct interval *interval, pid_t pid, const char *app, enum app_state state)
{
        struct interval_row *row;

        util_grow(&interval->rows, &interval->capacity.rows, interval->n_rows + 1, sizeof(*interval->rows));
        row = &interval->rows[interval->n_rows++];
        *row = (struct interval_row){ .pid = pid, .start_time = (uint64_t)pid * 7, .uid = 1000, .state = state };
        snprintf(row->app, sizeof(row->app), "%s", app);
        snprintf(row->comm, sizeof(row->comm), "%s", app);
        if (pid == 0)
                row->uid = (uid_t)-1;
        return row;
}

static void add_alive(struct interval *interval, const char *app, enum app_state state, uint64_t active_ns)
{
        struct interval_alive *alive;

        util_grow(&interval->alive, &interval->capacity.alive, interval->n_alive + 1, sizeof(*interval->alive));
        alive = &interval->alive[interval->n_alive++];
        *alive = (struct interval_alive){ .uid = 1000, .state = state, .active_ns = active_ns };
        snprintf(alive->app, sizeof(alive->app), "%s", app);
}

static void fill_randomly(struct usage *usage)
{
        usage->have = USAGE_ALL;
        for (uint32_t i = 0; i < draw() % 5; i++)
                usage_add_cpu(usage, i % 2 * 4, 300000 + i * 100000, draw() % (30 * NS_PER_S), draw() % NS_PER_S);
        usage->read_bytes = draw() % 3 ? 0 : draw() % 1000000;
        usage->write_bytes = draw() % 3 ? 0 : draw() >> 30;
        usage->wifi_rx_bytes = draw() % 100000;
        usage->wifi_wakes = draw() % 4;
        usage->gpu_busy_ns = draw() % 1000;
        if (draw() % 3 == 0)
                usage_add_screen(usage, draw() % 2 ? BRIGHTNESS_UNKNOWN : 100, draw() % NS_PER_S);
}

static void make_interval(struct interval *interval, int64_t end_ns, uint64_t elapsed_ns, unsigned n_apps)
{
        for (size_t i = 0; i < interval->n_rows; i++)
                usage_clear(&interval->rows[i].usage);
        interval->n_rows = interval->n_alive = 0;
        interval->end_realtime_ns = end_ns;
        interval->start_realtime_ns = end_ns - (int64_t)elapsed_ns;
        interval->elapsed_ns = elapsed_ns;
        interval->split_by = end_ns / S % 2 ? SPLIT_COUNTED : SPLIT_SHARED;
        interval->have = SAMPLE_BATTERY;
        interval->battery = (struct battery){ .have = BATTERY_CAPACITY, .status = BATTERY_DISCHARGING,
                                              .capacity_percent = (uint32_t)(draw() % 101) };
        interval->battery_have = draw() % 2 ? INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT : 0;
        interval->discharge_uj = draw() % 100000000;
        interval->discharge_percent = (double)(draw() % 1000) / 1000;
        add_row(interval, 0, "", STATE_BACKGROUND)->usage.time_ns = elapsed_ns;
        fill_randomly(&interval->rows[0].usage);
        for (unsigned i = 0; i < n_apps; i++) {
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                if (draw() % 2)
                        fill_randomly(&add_row(interval, 100 + (pid_t)i, app, draw() % 2)->usage);
                if (draw() % 4)
                        add_alive(interval, app, STATE_BACKGROUND, elapsed_ns);
                else
                        add_alive(interval, app, STATE_FOREGROUND, draw() % elapsed_ns);
        }
}

struct sum {
        struct usage usage;
        uint64_t active_ns;
        size_t rows;
        int64_t last_start_ns;
        bool ascending;
};

static int add_up(void *data, const struct store_row *row)
{
        struct sum *sum = data;

        sum->ascending = sum->ascending && row->start_ns >= sum->last_start_ns;
        sum->last_start_ns = row->start_ns;
        sum->active_ns += row->active_ns;
        sum->rows++;
        check(row->end_ns >= row->start_ns);
        return usage_add(&sum->usage, row->usage);
}

static struct sum total(struct store *store, int64_t from_ns, int64_t to_ns, enum store_grain grain, const char *app)
{
        const struct store_query query = { from_ns, to_ns, grain, app, -1 };
        struct sum sum = { .last_start_ns = INT64_MIN, .ascending = true };

        check_int(store_rows(store, &query, add_up, &sum), 0);
        check(sum.ascending);
        return sum;
}

static size_t count_rows(struct store *store, const char *app)
{
        struct sum sum = total(store, INT64_MIN, INT64_MAX, STORE_BEST, app);

        usage_clear(&sum.usage);
        return sum.rows;
}

static bool same(const struct sum *a, const struct sum *b)
{
        bool equal = a->active_ns == b->active_ns && a->usage.n_cpu == b->usage.n_cpu &&
                     a->usage.n_screen == b->usage.n_screen && a->usage.time_ns == b->usage.time_ns &&
                     a->usage.read_bytes == b->usage.read_bytes && a->usage.write_bytes == b->usage.write_bytes &&
                     a->usage.wifi_rx_bytes == b->usage.wifi_rx_bytes && a->usage.wifi_wakes == b->usage.wifi_wakes &&
                     a->usage.gpu_busy_ns == b->usage.gpu_busy_ns && a->usage.have == b->usage.have;

        for (size_t i = 0; equal && i < a->usage.n_cpu; i++)
                equal = memcmp(&a->usage.cpu[i], &b->usage.cpu[i], sizeof(a->usage.cpu[i])) == 0;
        for (size_t i = 0; equal && i < a->usage.n_screen; i++)
                equal = a->usage.screen[i].brightness == b->usage.screen[i].brightness &&
                        a->usage.screen[i].on_ns == b->usage.screen[i].on_ns;
        return equal;
}

static void sum_clear(struct sum *sum)
{
        usage_clear(&sum->usage);
}

static void check_same(struct sum a, struct sum b, const char *what)
{
        check(same(&a, &b));
        if (!same(&a, &b))
                fprintf(stderr, "in: %s (%zu against %zu rows)\n", what, a.rows, b.rows);
        sum_clear(&a);
        sum_clear(&b);
}

static void append_days(struct store *store, int64_t start_ns, int64_t end_ns, int64_t step_ns)
{
        struct interval interval = { 0 };

        for (int64_t end = start_ns + step_ns; end <= end_ns; end += step_ns) {
                make_interval(&interval, end, (uint64_t)step_ns, 5);
                check_int(store_append(store, &interval), 0);
        }
        interval_clear(&interval);
}

/* Proportions as time_in_state makes them, with what breaks them: a missing point, any beyond busy, huge numbers. */
static void fill_in_shape(struct usage *usage, uint64_t busy_ns, unsigned round)
{
        usage->have = USAGE_CPU;
        for (uint32_t i = 0; i < 20; i++) {
                uint64_t part_ns = busy_ns / 210 * (i + 1) + draw() % 3;

                if (round % 3 == 1 && i == round % 20)
                        continue;
                if (round % 7 == 2 && i == 4)
                        part_ns = draw() >> 9;
                usage_add_cpu(usage, i / 10 * 4, 300000 + i * 100000, part_ns, round % 5 == 3 ? part_ns * 2 : part_ns / 3);
        }
}

static void shaped_usages_come_back_exactly(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };
        struct sum want = { .active_ns = 0 }, got;

        make_interval(&interval, START, NS_PER_S, 0);
        for (unsigned i = 0; i < 60; i++) {
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                fill_in_shape(&add_row(&interval, 100 + (pid_t)i, app, STATE_BACKGROUND)->usage, draw() % NS_PER_S, i);
        }
        for (size_t i = 0; i < interval.n_rows; i++)
                check_int(usage_add(&want.usage, &interval.rows[i].usage), 0);
        check_int(store_append(store, &interval), 0);
        for (unsigned i = 0; i < 60; i += 7) {
                struct sum one = { .usage = { 0 } };
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

static const struct store_retention keep_all = { 1000000, 100000, 0 };

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

static int64_t count_in_file(const char *table)
{
        sqlite3_stmt *statement;
        sqlite3 *db;
        char text[64];
        int64_t n;

        snprintf(text, sizeof(text), "SELECT count(*) FROM %s", table);
        sqlite3_open(path, &db);
        check_int(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
        check_int(sqlite3_step(statement), SQLITE_ROW);
        n = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        sqlite3_close(db);
        return n;
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
        /* As it goes, and not only at the end: what is folded by one call is dropped by a later one. */
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

static void one_writer_many_readers(void)
{
        struct store *writer = open_store(STORE_WRITE), *second = NULL, *reader;

        check_int(store_open(path, STORE_WRITE, NULL, &second), -EBUSY);
        append_days(writer, START, START + 10 * S, 10 * S);
        reader = open_store(STORE_READ);
        check_int(count_rows(reader, ""), 1);
        append_days(writer, START + 10 * S, START + 20 * S, 10 * S);
        check_int(count_rows(reader, ""), 2);
        check_int(store_append(reader, &(struct interval){ 0 }), -EROFS);
        store_close(writer);
        writer = open_store(STORE_WRITE);
        store_close(writer);
        store_close(reader);
        remove_database();
}

static void run_sql(const char *text)
{
        sqlite3 *db;

        sqlite3_open(path, &db);
        check_int(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

/* An interval and the names that came with it are there at once, or not at all; and so is one that brings no names. */
static void failed_append_leaves_nothing(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START, .start_realtime_ns = START - S, .elapsed_ns = NS_PER_S };

        add_row(&interval, 0, "", STATE_BACKGROUND);
        check_int(store_append(store, &interval), 0);
        run_sql("CREATE UNIQUE INDEX one_length ON interval (elapsed_ns)");
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), -EBADMSG); /* it is all there is to write */
        add_row(&interval, 7, "new", STATE_BACKGROUND)->usage.read_bytes = 5;
        add_alive(&interval, "new", STATE_BACKGROUND, NS_PER_S);
        check_int(store_append(store, &interval), -EBADMSG);
        check_int(count_in_file("interval"), 1);
        check_int(count_in_file("process"), 0);
        check_int(count_in_file("app"), 1); /* nobody */
        run_sql("DROP INDEX one_length");
        check_int(store_append(store, &interval), 0);
        interval.end_realtime_ns += S;
        check_int(store_append(store, &interval), 0); /* no new name: alone */
        check_int(count_in_file("interval"), 3);
        check_int(count_in_file("process"), 1);
        check_int(count_rows(store, "new"), 2);
        interval_clear(&interval);
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
                pid_t child = fork();

                if (child == 0) {
                        if (store_open(path, STORE_WRITE, NULL, &store) == 0)
                                store_roll_up(store, START + 4 * DAY, &retention);
                        _exit(0);
                }
                usleep(wait);
                kill(child, SIGKILL);
                waitpid(child, NULL, 0);
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

static void hostile_names_come_back_printable(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START, .start_realtime_ns = START - S, .elapsed_ns = NS_PER_S };
        struct sum sum;

        add_row(&interval, 0, "", STATE_BACKGROUND);
        add_row(&interval, 7, "a) R 1 (\x1b[31m", STATE_BACKGROUND)->usage.read_bytes = UINT64_MAX;
        check_int(store_append(store, &interval), 0);
        sum = total(store, INT64_MIN, INT64_MAX, STORE_RAW, "a) R 1 (?[31m");
        check(sum.usage.read_bytes == UINT64_MAX);
        sum_clear(&sum);
        interval_clear(&interval);
        store_close(store);
        remove_database();
}

/* Whoever starts a program of a new name each second does not fill the disk. */
static void a_flood_of_names_ends_in_one_row(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { .end_realtime_ns = START, .start_realtime_ns = START - S, .elapsed_ns = NS_PER_S };
        struct sum all;
        char app[32];

        add_row(&interval, 0, "", STATE_BACKGROUND);
        for (int i = 0; i < TUNING_STORE_APPS + 500; i++) {
                snprintf(app, sizeof(app), "flood-%d", i);
                add_row(&interval, 1 + i, app, STATE_BACKGROUND)->usage.read_bytes = 1;
        }
        check_int(store_append(store, &interval), 0);
        check(count_in_file("app") <= TUNING_STORE_APPS + 1);
        all = total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL);
        check_int(all.usage.read_bytes, TUNING_STORE_APPS + 500);
        sum_clear(&all);
        all = total(store, INT64_MIN, INT64_MAX, STORE_RAW, TUNING_OTHER_APPS);
        check_int(all.usage.read_bytes, 501);
        sum_clear(&all);
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

static void count_sentences(void *data, enum log_level level, const char *sentence)
{
        (*(int *)data)++;
}

static int ignore(void *data, const struct store_row *row)
{
        return 0;
}

/* Opens and reads all of a database that somebody else wrote: an error and a sentence, or rows; never a crash. */
static int read_all(int *sentences)
{
        const struct log log = { count_sentences, sentences };
        const struct store_query query = { INT64_MIN, INT64_MAX, STORE_BEST, NULL, -1 };
        struct store_battery battery;
        struct store *store = NULL;
        int err;

        *sentences = 0;
        err = store_open(path, STORE_READ, &log, &store);
        if (err)
                return err;
        err = store_rows(store, &query, ignore, NULL);
        store_battery(store, INT64_MIN, INT64_MAX, &battery);
        store_close(store);
        return err;
}

static struct store_battery battery_of_all(struct store *store)
{
        struct store_battery battery = { 0 };

        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        return battery;
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
        check(count_in_file("interval") == 1);
        after = battery_of_all(store);
        check_int(after.counted_ns, before.counted_ns);
        check_int(after.shared_ns, before.shared_ns);
        store_close(store);
        remove_database();
}

static int copy_sleeps(void *data, const struct store_sleep *sleep)
{
        struct store_sleep **to = data;

        *(*to)++ = *sleep;
        return 0;
}

static size_t read_sleeps(struct store *store, struct store_sleep *ret)
{
        struct store_sleep *end = ret;

        check_int(store_sleeps(store, INT64_MIN, INT64_MAX, copy_sleeps, &end), 0);
        return (size_t)(end - ret);
}

static void append_sleep(struct store *store, int64_t end_ns, uint64_t suspend_ns, uint32_t battery_have)
{
        struct interval interval = { .end_realtime_ns = end_ns, .elapsed_ns = suspend_ns + 30 * NS_PER_S,
                                     .suspend_ns = suspend_ns, .battery_have = battery_have, .have = SAMPLE_BATTERY,
                                     .discharge_uj = 900000000, .discharge_percent = 2.5 };

        interval.start_realtime_ns = end_ns - (int64_t)interval.elapsed_ns;
        add_row(&interval, 0, "", STATE_BACKGROUND);
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
}

/* Long enough and on battery: kept when its interval is long gone, for half a year. */
static void sleeps_are_kept(void)
{
        const uint64_t night_ns = 8 * 3600 * NS_PER_S;
        struct store *store = open_store(STORE_WRITE);
        struct store_sleep sleeps[8];

        append_sleep(store, START, night_ns, INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT);
        append_sleep(store, START + 24 * HOUR, night_ns, INTERVAL_DISCHARGE_PERCENT);
        append_sleep(store, START + 48 * HOUR, night_ns, 0);
        append_sleep(store, START + 72 * HOUR, 600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 30 * 24 * HOUR, &(struct store_retention){ 1, 1, 1 }), 0);
        check_int(read_sleeps(store, sleeps), 2);
        check_int(sleeps[0].end_ns, START);
        check_int(sleeps[0].suspend_ns, night_ns);
        check_int(sleeps[0].elapsed_ns, night_ns + 30 * NS_PER_S);
        check_near(sleeps[0].discharge_j, 900, 1e-6);
        check_near(sleeps[0].discharge_percent, 2.5, 1e-6);
        check(isnan(sleeps[1].discharge_j));
        append_sleep(store, START + 180 * 24 * HOUR + S, night_ns, INTERVAL_DISCHARGE);
        check_int(read_sleeps(store, sleeps), 2);
        check_int(sleeps[0].end_ns, START + 24 * HOUR);
        store_close(store);
        remove_database();
}

/* What the first version of the schema had not. */
static const char to_version_1[] =
        "ALTER TABLE interval DROP COLUMN split_by; ALTER TABLE period DROP COLUMN counted_ns;"
        "ALTER TABLE period DROP COLUMN shared_ns; DROP TABLE sleep; PRAGMA user_version = 1";

static void older_databases_are_read_and_migrated(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct store_battery now, old;
        struct store_sleep sleeps[8];
        struct sum totals;

        append_days(store, START, START + 30 * HOUR, 301 * S);
        append_sleep(store, START + 40 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 30 * HOUR, &keep_all), 0);
        now = battery_of_all(store);
        totals = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        store_close(store);
        run_sql(to_version_1);

        store = open_store(STORE_READ);
        old = battery_of_all(store);
        check_int(old.elapsed_ns, now.elapsed_ns);
        check_int(old.discharge_uj, now.discharge_uj);
        check_int(old.counted_ns, 0);
        check_int(old.shared_ns, 0);
        check_int(read_sleeps(store, sleeps), 0);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), totals, "version 1, read");
        totals = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        store_close(store);

        store = open_store(STORE_WRITE);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), totals, "version 1, migrated");
        append_days(store, START + 50 * HOUR, START + 50 * HOUR + 10 * 301 * S, 301 * S);
        append_sleep(store, START + 60 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_roll_up(store, START + 72 * HOUR, &keep_all), 0);
        check_int(battery_of_all(store).counted_ns, 5 * 301 * NS_PER_S);
        check_int(read_sleeps(store, sleeps), 1);
        store_close(store);
        store = open_store(STORE_WRITE); /* once is enough */
        store_close(store);
        remove_database();
}

/*
 * Bytes as they were before any_ns was told by a difference and before shared weights stood in an interval: by hand, from
 * the comment in store-blob.c. The first usage has two operating points in full, (100, 50) and (200, 25) ns; the other
 * is 600 ns in the shape of the first.
 */
static void older_bytes_are_read(void)
{
        static const char text[] =
                "DELETE FROM opp; INSERT INTO opp VALUES (1, 0, 300000), (2, 0, 600000);"
                "UPDATE interval SET usage = x'02009f800404016432' || x'02c80119' || x'03009f800401d8040004'";
        struct store *store = open_store(STORE_WRITE);
        struct sum sum;

        append_days(store, START, START + 60 * S, 60 * S);
        store_close(store);
        run_sql(text);
        run_sql(to_version_1);
        for (unsigned i = 0; i < 2; i++) { /* read as it is; migrated and rolled up */
                store = open_store(i == 0 ? STORE_READ : STORE_WRITE);
                if (i == 1)
                        check_int(store_roll_up(store, START + 30 * HOUR, &keep_all), 0);
                sum = total(store, INT64_MIN, INT64_MAX, i == 0 ? STORE_BEST : STORE_HOUR, NULL);
                check_int(sum.usage.n_cpu, 2);
                check_int(sum.usage.n_cpu > 1 && sum.usage.cpu[1].khz == 600000, true);
                for (size_t j = 0; j < sum.usage.n_cpu && j < 2; j++) {
                        check_int(sum.usage.cpu[j].busy_ns, j == 0 ? 300 : 600);
                        check_int(sum.usage.cpu[j].any_ns, j == 0 ? 150 : 75);
                }
                sum_clear(&sum);
                store_close(store);
        }
        remove_database();
}

static void hostile_databases_are_refused(void)
{
        static const char *const attacks[] = {
                "PRAGMA application_id = 1",
                "PRAGMA user_version = 99",
                "DROP TABLE usage",
                "CREATE VIEW v AS SELECT 1",
                "CREATE TRIGGER t AFTER INSERT ON app BEGIN DELETE FROM interval; END",
                "UPDATE interval SET usage = x'ffffffffffffffffffff'",
                "UPDATE interval SET usage = x'0200ff'",
                "UPDATE interval SET usage = randomblob(50)",
                "UPDATE interval SET active = x'80'",
                "UPDATE alive SET apps = x'ffffff'",
                "UPDATE interval SET elapsed_ns = -1",
                "DELETE FROM app",
                "ALTER TABLE interval DROP COLUMN discharge_uj",
                "DROP TABLE sleep",
                "PRAGMA user_version = 1",
        };

        for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
                struct store *store = open_store(STORE_WRITE);
                int sentences, err;

                append_days(store, START, START + 600 * S, 60 * S);
                store_close(store);
                check_int(read_all(&sentences), 0);
                run_sql(attacks[i]);
                err = read_all(&sentences);
                check_int(err, -EBADMSG);
                check_int(sentences >= 1, 1);
                if (err != -EBADMSG)
                        fprintf(stderr, "in: %s\n", attacks[i]);
                remove_database();
        }
}

static void damaged_files_do_not_crash(void)
{
        for (int round = 0; round < 60; round++) {
                struct store *store = open_store(STORE_WRITE);
                int fd, sentences;

                append_days(store, START, START + 3 * HOUR, 300 * S);
                check_int(store_roll_up(store, START + 4 * HOUR, &keep_all), 0);
                store_close(store);
                fd = open(path, O_RDWR);
                for (int i = 0; i < 40; i++) {
                        unsigned char byte = (unsigned char)draw();

                        check(pwrite(fd, &byte, 1, (off_t)(draw() % 60000) + (round % 2 ? 100 : 0)) == 1);
                }
                if (round % 5 == 0)
                        check_int(ftruncate(fd, (off_t)(draw() % 40000)), 0);
                close(fd);
                read_all(&sentences);
                if (store_open(path, STORE_WRITE, NULL, &store) == 0) {
                        struct interval interval = { 0 };

                        make_interval(&interval, START + 5 * HOUR, 1000, 3);
                        store_append(store, &interval);
                        store_roll_up(store, START + 9 * HOUR, &keep_all);
                        interval_clear(&interval);
                        store_close(store);
                }
                remove_database();
        }
}

int main(void)
{
        snprintf(path, sizeof(path), "/tmp/joulecast-test-%d.db", (int)getpid());
        totals_survive_every_roll_up();
        retention_drops_details_and_keeps_totals();
        late_interval_counts_once();
        shaped_usages_come_back_exactly();
        empty_and_missing();
        one_writer_many_readers();
        failed_append_leaves_nothing();
        killed_in_roll_up();
        hostile_names_come_back_printable();
        a_flood_of_names_ends_in_one_row();
        rows_of_one_user_until_told_to_stop();
        split_is_told_and_survives_the_roll_up();
        sleeps_are_kept();
        older_databases_are_read_and_migrated();
        older_bytes_are_read();
        hostile_databases_are_refused();
        damaged_files_do_not_crash();
        remove_database();
        return check_result();
}
