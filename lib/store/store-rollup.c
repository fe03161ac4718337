/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Closed hours become periods of an hour and part of the period of their day: one transaction, integers only, so
 * totals are conserved exactly and a crash leaves all or nothing. What was rolled up stays until its own retention
 * ends. All goes in the order in which it was recorded, whatever the clock said meanwhile: an hour that comes again
 * is added to what is there, and retention is time that was recorded.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

int store_marks_read(struct store *store, struct marks *ret)
{
        sqlite3_stmt *row = store_statement(store, SQL_MARKS);
        int more = row ? store_step(store, row) : -EBADMSG;

        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        *ret = (struct marks){ sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1) };
        sqlite3_reset(row);
        return 0;
}

int store_marks_write(struct store *store, const struct marks *marks)
{
        sqlite3_stmt *set = store_statement(store, SQL_SET_MARKS);

        if (!set)
                return -EBADMSG;
        sqlite3_bind_int64(set, 1, marks->folded_ns);
        sqlite3_bind_int64(set, 2, marks->open_ns);
        return store_step(store, set);
}

int store_drop_period(struct store *store, int64_t period)
{
        static const enum statement drops[] = { SQL_DROP_SUMMARY, SQL_DROP_PERIOD };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(drops); i++) {
                sqlite3_stmt *drop = store_statement(store, drops[i]);

                if (!drop)
                        return -EBADMSG;
                sqlite3_bind_int64(drop, 1, period);
                err = store_step(store, drop);
        }
        return err;
}

int store_add_times(struct times *to, const struct times *from)
{
        to->start_ns = MIN(to->start_ns, from->start_ns);
        to->end_ns = MAX(to->end_ns, from->end_ns);
        to->recorded_ns = MAX(to->recorded_ns, from->recorded_ns);
        to->details = to->details && from->details;
        for (size_t i = 0; i < ARRAY_SIZE(to->sums); i++)
                if (__builtin_add_overflow(to->sums[i], from->sums[i], &to->sums[i]))
                        return -EBADMSG;
        return 0;
}

int store_write_period(struct store *store, enum store_grain grain, int64_t bucket_ns,
                        const struct times *times, struct totals *totals)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_PERIOD);
        struct times written = *times;
        int err = store_cut_apps(store, totals);

        if (err || !add)
                return err ? err : -EBADMSG;
        store_drop_impossible_sum(&written);
        sqlite3_bind_int64(add, 1, grain);
        sqlite3_bind_int64(add, 2, bucket_ns);
        sqlite3_bind_int64(add, 3, times->start_ns);
        sqlite3_bind_int64(add, 4, times->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(times->sums); i++)
                sqlite3_bind_int64(add, 5 + (int)i, written.sums[i]);
        sqlite3_bind_int64(add, 5 + TIME_SUMS, times->recorded_ns);
        sqlite3_bind_int64(add, 6 + TIME_SUMS, times->details);
        err = store_step(store, add);
        return err ? err : store_add_summary(store, sqlite3_last_insert_rowid(store->db), totals);
}

/* Adds a sum to its bucket: to the period that is there, if there is one. Empties @totals. */
static int add_to_period(struct store *store, enum store_grain grain, int64_t bucket_ns, struct times *times,
                         struct totals *totals)
{
        sqlite3_stmt *find = store_statement(store, SQL_FIND_PERIOD);
        struct times old;
        int64_t id;
        int err;

        if (!find)
                return -EBADMSG;
        sqlite3_bind_int64(find, 1, grain);
        sqlite3_bind_int64(find, 2, bucket_ns);
        err = store_step(store, find);
        if (err == 1) {
                id = sqlite3_column_int64(find, 0);
                sqlite3_reset(find);
                err = store_times_of_period(store, id, &old);
                if (!err)
                        err = store_add_times(times, &old);
                if (!err)
                        err = totals_add_period(store, totals, id);
                if (!err)
                        err = store_drop_period(store, id);
        }
        if (!err)
                err = store_write_period(store, grain, bucket_ns, times, totals);
        totals_reset(totals);
        return err;
}

/* A sum that is being made of rows in the order in which they were recorded. */
struct bucket {
        bool open;
        enum store_grain grain;
        int64_t start_ns;
        struct times times;
        struct totals totals;
};

struct folding {
        struct bucket hour, day;
};

static void folding_clear(struct folding *folding)
{
        totals_clear(&folding->hour.totals);
        totals_clear(&folding->day.totals);
}

static int close_bucket(struct store *store, struct bucket *bucket)
{
        if (!bucket->open)
                return 0;
        bucket->open = false;
        return add_to_period(store, bucket->grain, bucket->start_ns, &bucket->times, &bucket->totals);
}

static int next_part(struct store *store, struct bucket *bucket, int64_t start_ns, const struct times *part)
{
        int err;

        if (bucket->open && bucket->start_ns == start_ns)
                return store_add_times(&bucket->times, part);
        err = close_bucket(store, bucket);
        bucket->open = true;
        bucket->start_ns = start_ns;
        bucket->times = *part;
        return err;
}

/* Closes the open hour, and adds its sums to its day. */
static int close_hour(struct store *store, struct folding *folding)
{
        const struct bucket *hour = &folding->hour;
        int err;

        if (!hour->open)
                return 0;
        err = next_part(store, &folding->day, bucket_of(hour->start_ns + HOUR_NS, DAY_NS), &hour->times);
        if (!err)
                err = totals_add(store, &folding->day.totals, &hour->totals);
        return err ? err : close_bucket(store, &folding->hour);
}

static int fold_interval(struct store *store, struct folding *folding, sqlite3_stmt *row)
{
        struct times part;
        int err = store_times_of_interval(row, &part);
        int64_t start_ns = err ? 0 : bucket_of(part.end_ns, HOUR_NS);

        if (!err && folding->hour.open && folding->hour.start_ns != start_ns)
                err = close_hour(store, folding);
        if (!err)
                err = next_part(store, &folding->hour, start_ns, &part);
        return err ? err : totals_add_interval(store, &folding->hour.totals, row);
}

/* All that was recorded after marks->folded_ns, until @until_ns. */
static int fold(struct store *store, const struct marks *marks, int64_t until_ns)
{
        _cleanup_(folding_clear) struct folding folding = { { .grain = STORE_HOUR }, { .grain = STORE_DAY } };
        sqlite3_stmt *due = store_statement(store, SQL_DUE);
        int more = 0, err = 0;

        if (!due)
                return -EBADMSG;
        sqlite3_bind_int64(due, 1, marks->open_ns);
        sqlite3_bind_int64(due, 2, marks->folded_ns);
        sqlite3_bind_int64(due, 3, until_ns);
        while (!err && (more = store_step(store, due)) == 1)
                err = fold_interval(store, &folding, due);
        sqlite3_reset(due);
        if (!err)
                err = more;
        if (!err)
                err = close_hour(store, &folding);
        return err ? err : close_bucket(store, &folding.day);
}

/* One number, or @otherwise where there is none. */
static int number_of(struct store *store, sqlite3_stmt *statement, int64_t otherwise, int64_t *ret)
{
        int more = store_step(store, statement);

        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        *ret = sqlite3_column_type(statement, 0) == SQLITE_NULL ? otherwise : sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
        return 0;
}

/* Until what recorded time hours are closed: those that the clock does not show now. */
static int find_closed(struct store *store, const struct marks *marks, int64_t hour_ns, int64_t *ret)
{
        sqlite3_stmt *closed = store_statement(store, SQL_CLOSED);

        if (!closed)
                return -EBADMSG;
        sqlite3_bind_int64(closed, 1, marks->open_ns);
        sqlite3_bind_int64(closed, 2, marks->folded_ns);
        sqlite3_bind_int64(closed, 3, store_certain_ns(store));
        sqlite3_bind_int64(closed, 4, hour_ns);
        sqlite3_bind_int64(closed, 5, hour_ns + HOUR_NS);
        return number_of(store, closed, marks->folded_ns, ret);
}

static int fold_closed(struct store *store, int64_t hour_ns, struct marks *marks)
{
        sqlite3_stmt *open;
        int64_t until_ns = 0, first_ns = 0;
        int err = find_closed(store, marks, hour_ns, &until_ns);

        if (err || until_ns == marks->folded_ns)
                return err;
        err = fold(store, marks, until_ns);
        open = err ? NULL : store_statement(store, SQL_OPEN);
        if (!open)
                return err ? err : -EBADMSG;
        sqlite3_bind_int64(open, 1, marks->open_ns);
        sqlite3_bind_int64(open, 2, until_ns);
        err = number_of(store, open, hour_ns + 1, &first_ns);
        *marks = (struct marks){ until_ns, MIN(first_ns - 1, hour_ns) };
        return err;
}

static int drop_details(struct store *store, enum store_grain grain, int64_t bucket_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_DETAILS);

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, grain);
        sqlite3_bind_int64(drop, 2, bucket_ns);
        return store_step(store, drop);
}

static int drop_periods(struct store *store, enum store_grain grain, int64_t until_ns)
{
        sqlite3_stmt *old = store_statement(store, SQL_OLD_PERIODS);
        int more = 0, err = 0;

        if (!old)
                return -EBADMSG;
        sqlite3_bind_int64(old, 1, grain);
        sqlite3_bind_int64(old, 2, until_ns);
        while (!err && (more = store_step(store, old)) == 1) {
                int64_t id = sqlite3_column_int64(old, 0), bucket_ns = sqlite3_column_int64(old, 1);

                sqlite3_reset(old); /* start over: the list changes under it */
                if (grain == STORE_HOUR)
                        err = drop_details(store, STORE_DAY, bucket_of(bucket_ns + HOUR_NS, DAY_NS));
                if (!err)
                        err = store_drop_period(store, id);
        }
        sqlite3_reset(old);
        return err ? err : more;
}

/* The hours of what goes speak for it from now on. */
static int leave_to_hours(struct store *store, int64_t until_ns)
{
        sqlite3_stmt *old = store_statement(store, SQL_OLD_INTERVALS);
        int64_t bucket_ns = INT64_MIN;
        int more = 0, err = 0;

        if (!old)
                return -EBADMSG;
        sqlite3_bind_int64(old, 1, until_ns);
        sqlite3_bind_int64(old, 2, store->recorded_ns);
        while (!err && (more = store_step(store, old)) == 1) {
                int64_t next_ns = bucket_of(sqlite3_column_int64(old, 0), HOUR_NS);

                if (next_ns != bucket_ns)
                        err = drop_details(store, STORE_HOUR, next_ns);
                bucket_ns = next_ns;
        }
        sqlite3_reset(old);
        return err ? err : more;
}

/* The newest stays: it knows the battery. */
static int drop_intervals(struct store *store, int64_t until_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_INTERVALS);
        int err = leave_to_hours(store, until_ns);

        if (err || !drop)
                return err ? err : -EBADMSG;
        sqlite3_bind_int64(drop, 1, until_ns);
        sqlite3_bind_int64(drop, 2, store->recorded_ns);
        err = store_step(store, drop);
        if (err || sqlite3_changes(store->db) == 0)
                return err;
        err = store_run(store, SQL_DROP_ALIVE);
        return err ? err : store_run(store, SQL_DROP_USAGE);
}

/*
 * Where each retention ends, in recorded time. Hours never go before their
 * intervals, nor either before it is summed up.
 */
static int drop_old(struct store *store, const struct store_retention *retention, const struct marks *marks)
{
        int64_t raw_ns = MIN(store->recorded_ns - (int64_t)retention->raw_hours * HOUR_NS, marks->folded_ns);
        int64_t hour_ns = MIN(store->recorded_ns - (int64_t)retention->hour_days * DAY_NS, raw_ns);
        int64_t day_ns = MIN(store->recorded_ns - (int64_t)retention->day_days * DAY_NS, hour_ns);
        int err = drop_intervals(store, raw_ns);

        if (!err)
                err = drop_periods(store, STORE_HOUR, hour_ns);
        if (!err && retention->day_days > 0)
                err = drop_periods(store, STORE_DAY, day_ns);
        return err;
}

static int roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention,
                   struct marks *marks)
{
        int err = store_find_last(store);

        if (!err)
                err = fold_closed(store, floor_to(now_ns, HOUR_NS), marks);
        if (!err)
                err = drop_old(store, retention, marks);
        if (!err)
                err = store_prune_apps(store);
        return err ? err : store_marks_write(store, marks);
}

int store_roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention)
{
        struct marks marks = store->marks;
        int64_t hour_ns;
        int err;

        if (store->mode == STORE_READ)
                return -EROFS;
        if (now_ns >= INT64_MAX / 2 || now_ns <= -INT64_MAX / 2)
                return -ERANGE;
        hour_ns = floor_to(now_ns, HOUR_NS);
        if (store->checked_ns == hour_ns)
                return 0;
        err = store_run(store, SQL_BEGIN_WRITE);
        if (err)
                return err;
        err = store_finish(store, roll_up(store, now_ns, retention, &marks));
        totals_reset(&store->totals);
        if (err) {
                names_load(store); /* names that were added have no ids any more: they are rolled back, too */
                return err;
        }
        store->marks = marks;
        store->checked_ns = hour_ns;
        return 0;
}
