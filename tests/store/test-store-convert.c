/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The previous version, with a row for each app of an hour or a day: every answer is the same before and after the
 * conversion.
 */

#include <errno.h>

#include "store-fixture.h"
#include "store/store-private.h"

static const struct store_retention retention = { 24, 3, 0 };
static const enum store_grain grains[] = { STORE_RAW, STORE_HOUR, STORE_DAY, STORE_BEST };

/* FNV-1a of all results of a query, in their order. */
struct told {
        uint64_t hash;
        size_t rows;
};

static void add_bytes(struct told *told, const void *data, size_t n)
{
        for (const unsigned char *at = data; n > 0; at++, n--)
                told->hash = (told->hash ^ *at) * UINT64_C(1099511628211);
}

static int tell(void *data, const struct store_row *row)
{
        const int64_t numbers[] = { row->start_ns, row->end_ns, row->uid, row->state,
                                    (int64_t)row->active_ns, row->usage->have };
        struct told *told = data;

        add_bytes(told, numbers, sizeof(numbers));
        add_bytes(told, row->app, strlen(row->app) + 1);
        add_bytes(told, row->usage->amount, sizeof(row->usage->amount));
        for (size_t k = 0; k < KEYED_COUNT; k++)
                add_bytes(told, row->usage->keyed[k].list, row->usage->keyed[k].n * sizeof(struct point));
        told->rows++;
        return 0;
}

static struct told ask(enum store_grain grain, bool times)
{
        const struct store_query query = { INT64_MIN, INT64_MAX, grain, NULL, -1, .times = times };
        struct told told = { .hash = 1 };
        struct store *store = open_store(STORE_READ);

        check_int(store_rows(store, &query, tell, &told), 0);
        store_close(store);
        return told;
}

static void ask_all(struct told *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(grains); i++)
                for (int times = 0; times < 2; times++)
                        *ret++ = ask(grains[i], times);
}

static void check_answers(const struct told *before, const char *when)
{
        struct told now[2 * ARRAY_SIZE(grains)];

        ask_all(now);
        for (size_t i = 0; i < ARRAY_SIZE(now); i++) {
                check_int(now[i].rows, before[i].rows);
                check(now[i].hash == before[i].hash);
                if (now[i].hash != before[i].hash)
                        fprintf(stderr, "in: grain %d, times %d, %s\n", grains[i / 2], (int)(i % 2), when);
        }
}

static void fill(void)
{
        const int64_t end = START + 6 * DAY;
        struct store *store = open_store(STORE_WRITE);

        append_days(store, START, end, 900 * S);
        store_close(store); /* else the last ones could get new dates */
        store = open_store(STORE_WRITE);
        check_int(store_roll_up(store, end, &retention), 0);
        store_close(store);
}

/* The rows of a period, in table usage: by the number of the period, below 0. */
static void unpack(struct store *store, int64_t period)
{
        totals_reset(&store->totals);
        check_int(totals_add_period(store, &store->totals, period), 0);
        for (size_t i = 0; i < store->totals.n; i++) {
                const struct total *total = &store->totals.list[i];

                check_int(store_insert_usages(store, SQL_ADD_USAGE,
                                              &(struct store_usage){ -period, store->apps[total->app].id, total->state,
                                                                     total->active_ns, &total->usage, false }, 1), 0);
        }
        totals_reset(&store->totals);
}

static int64_t number_in_file(const char *text)
{
        sqlite3_stmt *statement;
        sqlite3 *db;
        int64_t n;

        check_int(sqlite3_open(path, &db), SQLITE_OK);
        check_int(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
        check_int(sqlite3_step(statement), SQLITE_ROW);
        n = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        sqlite3_close(db);
        return n;
}

static int64_t read_version(void)
{
        return number_in_file("SELECT user_version FROM pragma_user_version");
}

/* Changes the database to the format of the previous version. */
static void make_older(void)
{
        int64_t last = number_in_file("SELECT max(id) FROM period"), version = read_version();
        struct store *store = open_store(STORE_WRITE);
        char text[64];

        for (int64_t period = 1; period <= last; period++) {
                snprintf(text, sizeof(text), "SELECT count(*) FROM period WHERE id = %d", (int)period);
                if (number_in_file(text))
                        unpack(store, period);
        }
        store_close(store);
        run_sql("CREATE TABLE period_usage AS SELECT * FROM usage WHERE interval < 0"
                " ORDER BY interval DESC, app, state;"
                "ALTER TABLE period_usage RENAME COLUMN interval TO period;"
                "UPDATE period_usage SET period = -period; DELETE FROM usage WHERE interval < 0; DROP TABLE summary");
        snprintf(text, sizeof(text), "PRAGMA user_version = %d", (int)version - 10000);
        run_sql(text);
}

static void every_answer_stays(void)
{
        struct told before[2 * ARRAY_SIZE(grains)];
        int64_t version;

        fill();
        version = read_version();
        ask_all(before);
        check(before[2].rows > 500); /* hours */
        make_older();
        check_int(read_version(), version - 10000);
        check(number_in_file("SELECT count(*) FROM period_usage") > 500);
        check_answers(before, "as it is");
        store_close(open_store(STORE_WRITE));
        check_int(read_version(), version);
        check_int(number_in_file("SELECT count(*) FROM sqlite_schema WHERE name = 'period_usage'"), 0);
        check_answers(before, "converted");
        remove_database();
}

/* A writer continues a converted database, and can forget apps in its hours and days. */
static void a_converted_one_is_as_any(void)
{
        const struct store_forget what = { INT64_MIN, INT64_MAX, -1, "app-3" };
        struct store_forgotten forgotten;
        struct store *store;
        struct sum all;

        fill();
        make_older();
        store = open_store(STORE_WRITE);
        append_days(store, START + 6 * DAY, START + 7 * DAY, 900 * S);
        all = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL);
        check_int(store_roll_up(store, START + 8 * DAY, &retention), 0);
        check_int(count_rows(store, "app-3") > 0, 1);
        check_int(store_forget(store, &what, &forgotten), 0);
        check_int(forgotten.apps, 1);
        check(forgotten.days > 0 && forgotten.hours > 0);
        check_int(count_rows(store, "app-3"), 0);
        all.active_ns = 0; /* several apps become one, which gets the longest of their times */
        check(all.usage.time_ns == (uint64_t)(7 * DAY));
        sum_clear(&all);
        store_close(store);
        remove_database();
}

/* Opening a damaged database for writing fails, and leaves the file unchanged. */
static void a_damaged_one_is_left(void)
{
        struct store *store = NULL;
        int64_t version;

        fill();
        make_older();
        version = read_version();
        run_sql("UPDATE period_usage SET active_ns = -1 WHERE period = (SELECT max(id) FROM period)");
        check_int(store_open(path, STORE_WRITE, NULL, &store), -EBADMSG);
        check_int(read_version(), version);
        check_int(number_in_file("SELECT count(*) FROM sqlite_schema WHERE name = 'summary'"), 0);
        remove_database();
}

int main(void)
{
        name_database();
        every_answer_stays();
        a_converted_one_is_as_any();
        a_damaged_one_is_left();
        return check_result();
}
