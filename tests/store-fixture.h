/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A database of a test's own, intervals drawn at random to put into it, and sums to compare what comes out:
 * what the tests of the store share.
 */

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "store/store-checksum.h"
#include "store/store.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define S ((int64_t)NS_PER_S)
#define HOUR (3600 * S)
#define DAY (24 * HOUR)
#define START (20000 * DAY + 7 * HOUR + 13 * S)

static char path[64];
static char path_folder[48];

static inline void remove_folder(void)
{
        rmdir(path_folder);
}

/* In a folder of its own: the store refuses one where others can write. */
static inline void name_database(void)
{
        /* In memory: hundreds of databases are made, and a disk that is busy takes its time for each. */
        snprintf(path_folder, sizeof(path_folder), "%s/joulecast-test-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (int)getpid());
        snprintf(path, sizeof(path), "%s/usage.db", path_folder);
        check_int(mkdir(path_folder, 0700), 0);
        atexit(remove_folder);
}

static inline void remove_database(void)
{
        static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
        char name[80];

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                snprintf(name, sizeof(name), "%s%s", path, ends[i]);
                unlink(name);
        }
}

static inline struct store *open_store(enum store_mode mode)
{
        struct store *store = NULL;

        check_int(store_open(path, mode, NULL, &store), 0);
        return store;
}

static inline uint64_t draw(void)
{
        static uint64_t state = 88172645463325252u;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}

/* An app of user 1000; "" is the base. */
static inline struct interval_row *add_row(struct interval *interval, const char *app, enum app_state state,
                                           uint64_t active_ns)
{
        struct interval_row *row;

        util_grow(&interval->rows, &interval->capacity, interval->n_rows + 1, sizeof(*interval->rows));
        row = &interval->rows[interval->n_rows++];
        *row = (struct interval_row){ .uid = *app ? 1000 : (uid_t)-1, .state = state, .active_ns = active_ns };
        snprintf(row->app, sizeof(row->app), "%s", app);
        return row;
}

static inline void fill_randomly(struct usage *usage)
{
        usage->have = draw() % 8 ? USAGE_ALL : USAGE_ALL & (uint32_t)draw();
        for (uint32_t i = 0; i < draw() % 5; i++)
                usage_add_cpu(usage, i % 2 * 4, 300000 + i * 100000, draw() % (30 * NS_PER_S),
                              draw() % NS_PER_S);
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                usage->amount[i] = draw() % 3 ? 0 : draw() >> (30 + draw() % 30);
        if (draw() % 3 == 0)
                usage_add_screen(usage, draw() % 2 ? BRIGHTNESS_UNKNOWN : 100, draw() % NS_PER_S);
        for (uint64_t i = draw() % 8; i > 0; i--) /* cells of radios */
                usage_add_point(usage, KEYED_RADIO, &(struct point){ .group = draw() % AIR_COUNT, .key = draw() % 1865,
                                                                     .amount = 1 + draw() % 100000 });
}

static inline void make_interval(struct interval *interval, int64_t end_ns, uint64_t elapsed_ns,
                                 unsigned n_apps)
{
        for (size_t i = 0; i < interval->n_rows; i++)
                usage_clear(&interval->rows[i].usage);
        interval->n_rows = 0;
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
        add_row(interval, "", STATE_BACKGROUND, 0)->usage.time_ns = elapsed_ns;
        fill_randomly(&interval->rows[0].usage);
        for (unsigned i = 0; i < n_apps; i++) {
                struct interval_row *row;
                char app[16];

                snprintf(app, sizeof(app), "app-%u", i);
                if (draw() % 4)
                        row = add_row(interval, app, STATE_BACKGROUND, draw() % 8 ? elapsed_ns : draw() % elapsed_ns);
                else
                        row = add_row(interval, app, STATE_FOREGROUND, draw() % elapsed_ns);
                if (draw() % 2)
                        fill_randomly(&row->usage);
        }
}

struct sum {
        struct usage usage;
        uint64_t active_ns;
        size_t rows;
        int64_t last_start_ns;
        bool ascending;
};

static inline int add_up(void *data, const struct store_row *row)
{
        struct sum *sum = data;

        sum->ascending = sum->ascending && row->start_ns >= sum->last_start_ns;
        sum->last_start_ns = row->start_ns;
        sum->active_ns += row->active_ns;
        sum->rows++;
        check(row->end_ns >= row->start_ns);
        return usage_add(&sum->usage, row->usage);
}

static inline struct sum total(struct store *store, int64_t from_ns, int64_t to_ns, enum store_grain grain,
                               const char *app)
{
        const struct store_query query = { from_ns, to_ns, grain, app, -1 };
        struct sum sum = { .last_start_ns = INT64_MIN, .ascending = true };

        check_int(store_rows(store, &query, add_up, &sum), 0);
        check(sum.ascending);
        return sum;
}

static inline size_t count_rows(struct store *store, const char *app)
{
        struct sum sum = total(store, INT64_MIN, INT64_MAX, STORE_BEST, app);

        usage_clear(&sum.usage);
        return sum.rows;
}

static inline bool same(const struct sum *a, const struct sum *b)
{
        bool equal = a->active_ns == b->active_ns && a->usage.have == b->usage.have &&
                     memcmp(a->usage.amount, b->usage.amount, sizeof(a->usage.amount)) == 0;

        for (size_t k = 0; equal && k < KEYED_COUNT; k++) {
                const struct points *one = &a->usage.keyed[k], *other = &b->usage.keyed[k];

                equal = one->n == other->n &&
                        (one->n == 0 || memcmp(one->list, other->list, one->n * sizeof(*one->list)) == 0);
        }
        return equal;
}

static inline void sum_clear(struct sum *sum)
{
        usage_clear(&sum->usage);
}

static inline void check_same(struct sum a, struct sum b, const char *what)
{
        check(same(&a, &b));
        if (!same(&a, &b))
                fprintf(stderr, "in: %s (%zu against %zu rows)\n", what, a.rows, b.rows);
        sum_clear(&a);
        sum_clear(&b);
}

static inline void append_days(struct store *store, int64_t start_ns, int64_t end_ns, int64_t step_ns)
{
        struct interval interval = { 0 };

        for (int64_t end = start_ns + step_ns; end <= end_ns; end += step_ns) {
                make_interval(&interval, end, (uint64_t)step_ns, 5);
                check_int(store_append(store, &interval), 0);
        }
        interval_clear(&interval);
}

static const struct store_retention keep_all = { 1000000, 100000, 0 };

/* With checksums that are right. */
static inline void run_sql(const char *text)
{
        sqlite3 *db;

        check_int(store_register_vfs(), SQLITE_OK);
        check_int(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, STORE_VFS), SQLITE_OK);
        check_int(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

static inline int64_t count_in_file(const char *table)
{
        sqlite3_stmt *statement;
        sqlite3 *db;
        char text[200];
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

static inline struct store_battery battery_of_all(struct store *store)
{
        struct store_battery battery = { 0 };

        check_int(store_battery(store, INT64_MIN, INT64_MAX, &battery), 0);
        return battery;
}

static inline int copy_sleeps(void *data, const struct store_sleep *sleep)
{
        struct store_sleep **to = data;

        *(*to)++ = *sleep;
        return 0;
}

static inline size_t read_sleeps(struct store *store, struct store_sleep *ret)
{
        struct store_sleep *end = ret;

        check_int(store_sleeps(store, INT64_MIN, INT64_MAX, copy_sleeps, &end), 0);
        return (size_t)(end - ret);
}

static inline void append_sleep(struct store *store, int64_t end_ns, uint64_t suspend_ns,
                                uint32_t battery_have)
{
        struct interval interval = { .end_realtime_ns = end_ns, .elapsed_ns = suspend_ns + 30 * NS_PER_S,
                                     .suspend_ns = suspend_ns, .battery_have = battery_have, .have = SAMPLE_BATTERY,
                                     .discharge_uj = 900000000, .discharge_percent = 2.5 };

        interval.start_realtime_ns = end_ns - (int64_t)interval.elapsed_ns;
        add_row(&interval, "", STATE_BACKGROUND, 0);
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
}
