/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Closed hours become periods of an hour, closed days periods of a day: one
 * transaction, integers only, so totals are conserved exactly and a crash
 * leaves all or nothing. What was rolled up stays until its own retention ends.
 * How far it has come is one row of marks; an interval that comes late for its
 * hour (the clock was put back) is added to the periods at once.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

int store_marks_read(struct store *store, struct marks *ret)
{
        sqlite3_stmt *row = store_statement(store, SQL_MARKS);
        int more = row ? store_step(store, row) : -EBADMSG;
        struct marks marks;

        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        marks.hour_done_ns = sqlite3_column_int64(row, 0);
        marks.day_done_ns = MIN(sqlite3_column_int64(row, 1), marks.hour_done_ns);
        marks.raw_gone_ns = MIN(sqlite3_column_int64(row, 2), marks.hour_done_ns);
        marks.hour_gone_ns = MIN(sqlite3_column_int64(row, 3), marks.raw_gone_ns);
        marks.hour_gone_ns = MIN(marks.hour_gone_ns, marks.day_done_ns);
        sqlite3_reset(row);
        *ret = marks;
        return 0;
}

static int marks_write(struct store *store, const struct marks *marks)
{
        sqlite3_stmt *set = store_statement(store, SQL_SET_MARKS);

        if (!set)
                return -EBADMSG;
        sqlite3_bind_int64(set, 1, marks->hour_done_ns);
        sqlite3_bind_int64(set, 2, marks->day_done_ns);
        sqlite3_bind_int64(set, 3, marks->raw_gone_ns);
        sqlite3_bind_int64(set, 4, marks->hour_gone_ns);
        return store_step(store, set);
}

static int drop_period(struct store *store, int64_t period)
{
        static const enum statement drops[] = { SQL_DROP_PERIOD_USAGE, SQL_DROP_PERIOD };
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

static int add_times(struct times *to, const struct times *from)
{
        to->start_ns = MIN(to->start_ns, from->start_ns);
        to->end_ns = MAX(to->end_ns, from->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(to->sums); i++)
                if (__builtin_add_overflow(to->sums[i], from->sums[i], &to->sums[i]))
                        return -EBADMSG;
        return 0;
}

static int write_usages(struct store *store, const struct totals *totals, int64_t period)
{
        int err = 0;

        for (size_t i = 0; !err && i < totals->n; i++) {
                const struct total *total = &totals->list[i];

                if (total->active_ns == 0 && usage_is_empty(&total->usage))
                        continue;
                err = store_insert_usages(store, SQL_ADD_PERIOD_USAGE,
                                          &(struct store_usage){ period, store->apps[total->app].id, total->state,
                                                                 total->active_ns, &total->usage, false }, 1);
        }
        return err;
}

static int write_period(struct store *store, enum store_grain grain, int64_t bucket_ns,
                        const struct times *times, struct totals *totals)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_PERIOD);
        int err = store_cut_apps(store, totals);

        if (err || !add)
                return err ? err : -EBADMSG;
        sqlite3_bind_int64(add, 1, grain);
        sqlite3_bind_int64(add, 2, bucket_ns);
        sqlite3_bind_int64(add, 3, times->start_ns);
        sqlite3_bind_int64(add, 4, times->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(times->sums); i++)
                sqlite3_bind_int64(add, 5 + (int)i, times->sums[i]);
        err = store_step(store, add);
        return err ? err : write_usages(store, totals, sqlite3_last_insert_rowid(store->db));
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
                        err = add_times(times, &old);
                if (!err)
                        err = totals_add_period(store, totals, id);
                if (!err)
                        err = drop_period(store, id);
        }
        if (!err)
                err = write_period(store, grain, bucket_ns, times, totals);
        totals_reset(totals);
        return err;
}

/* A sum that is being made of rows in the order of time. */
struct folding {
        bool open;
        enum store_grain grain;
        int64_t bucket_ns;
        struct times times;
};

static int close_bucket(struct store *store, struct folding *folding)
{
        if (!folding->open)
                return 0;
        folding->open = false;
        return add_to_period(store, folding->grain, folding->bucket_ns, &folding->times, &store->totals);
}

static int next_part(struct store *store, struct folding *folding, int64_t bucket_ns,
                     const struct times *part)
{
        int err;

        if (folding->open && folding->bucket_ns == bucket_ns)
                return add_times(&folding->times, part);
        err = close_bucket(store, folding);
        folding->open = true;
        folding->bucket_ns = bucket_ns;
        folding->times = *part;
        return err;
}

/* An interval into its hour ... */
static int fold_interval(struct store *store, struct folding *hour, sqlite3_stmt *row)
{
        const struct times part = store_times_of_interval(row);
        int err = next_part(store, hour, bucket_of(part.end_ns, HOUR_NS), &part);

        return err ? err : totals_add_interval(store, &store->totals, row);
}

/* ... and an hour into its day. */
static int fold_hour(struct store *store, struct folding *day, sqlite3_stmt *row)
{
        int64_t id = sqlite3_column_int64(row, 0), bucket_ns = sqlite3_column_int64(row, 1);
        struct times part;
        int err = store_times_of_period(store, id, &part);

        if (!err)
                err = next_part(store, day, bucket_of(bucket_ns + HOUR_NS, DAY_NS), &part);
        return err ? err : totals_add_period(store, &store->totals, id);
}

static int fold(struct store *store, enum store_grain grain, int64_t from_ns, int64_t to_ns)
{
        bool hours = grain == STORE_HOUR;
        sqlite3_stmt *due = store_statement(store, hours ? SQL_INTERVALS : SQL_DUE_HOURS);
        struct folding folding = { .grain = grain };
        int more = 0, err = 0;

        if (!due)
                return -EBADMSG;
        sqlite3_bind_int64(due, 1, from_ns);
        sqlite3_bind_int64(due, 2, to_ns);
        while (!err && (more = store_step(store, due)) == 1)
                err = hours ? fold_interval(store, &folding, due) : fold_hour(store, &folding, due);
        sqlite3_reset(due);
        if (!err)
                err = more;
        return err ? err : close_bucket(store, &folding);
}

/* What closed since @done_ns, which becomes how far it has come. */
static int fold_closed(struct store *store, enum store_grain grain, int64_t closed_ns, int64_t *done_ns)
{
        int64_t from_ns = *done_ns;

        if (closed_ns <= from_ns)
                return 0;
        *done_ns = closed_ns;
        return fold(store, grain, from_ns, closed_ns);
}

int store_roll_up_late(struct store *store, int64_t end_ns)
{
        int64_t hour_ns = bucket_of(end_ns, HOUR_NS);
        struct totals alone = { 0 };
        sqlite3_stmt *row = store_statement(store, SQL_INTERVALS);
        struct times times, again;
        int err;

        if (!row)
                return -EBADMSG;
        sqlite3_bind_int64(row, 1, end_ns - 1);
        sqlite3_bind_int64(row, 2, end_ns);
        if (store_step(store, row) != 1)
                return -EBADMSG;
        again = times = store_times_of_interval(row);
        err = totals_add_interval(store, &store->totals, row);
        if (!err && hour_ns + HOUR_NS <= store->marks.day_done_ns)
                err = totals_add_interval(store, &alone, row);
        sqlite3_reset(row);
        if (!err)
                err = add_to_period(store, STORE_HOUR, hour_ns, &times, &store->totals);
        if (!err && hour_ns + HOUR_NS <= store->marks.day_done_ns)
                err = add_to_period(store, STORE_DAY, bucket_of(end_ns, DAY_NS), &again, &alone);
        totals_reset(&store->totals);
        totals_clear(&alone);
        return err;
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
                int64_t id = sqlite3_column_int64(old, 0);

                sqlite3_reset(old); /* start over: the list changes under it */
                err = drop_period(store, id);
        }
        sqlite3_reset(old);
        return err ? err : more;
}

static int drop_intervals(struct store *store, int64_t until_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_INTERVALS);
        int err;

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, until_ns);
        err = store_step(store, drop);
        if (err || sqlite3_changes(store->db) == 0)
                return err;
        err = store_run(store, SQL_DROP_ALIVE);
        return err ? err : store_run(store, SQL_DROP_USAGE);
}

/*
 * The clock was ahead when it was decided what is gone, and has been put back since: what is recorded from
 * here on is kept like everything else, and not dropped until that time comes.
 */
static void marks_follow_clock(struct marks *marks, int64_t now_ns)
{
        if (marks->raw_gone_ns > now_ns)
                marks->raw_gone_ns = floor_to(now_ns, HOUR_NS);
        if (marks->hour_gone_ns > now_ns)
                marks->hour_gone_ns = floor_to(now_ns, DAY_NS);
}

/*
 * Where each retention ends. Hours never go before their details,
 * nor either before what sums them up is done.
 */
static int drop_old(struct store *store, int64_t now_ns, const struct store_retention *retention,
                    struct marks *marks)
{
        int64_t raw_ns = floor_to(now_ns - (int64_t)retention->raw_hours * HOUR_NS, HOUR_NS);
        int64_t hour_ns = floor_to(now_ns - (int64_t)retention->hour_days * DAY_NS, DAY_NS);
        int err;

        marks_follow_clock(marks, now_ns);
        marks->raw_gone_ns = MAX(marks->raw_gone_ns, MIN(raw_ns, marks->hour_done_ns));
        hour_ns = MIN(hour_ns, floor_to(MAX(marks->raw_gone_ns, -INT64_MAX / 2), DAY_NS));
        hour_ns = MIN(hour_ns, marks->day_done_ns);
        marks->hour_gone_ns = MAX(marks->hour_gone_ns, hour_ns);
        err = drop_intervals(store, marks->raw_gone_ns);
        if (!err)
                err = drop_periods(store, STORE_HOUR, marks->hour_gone_ns);
        if (!err && retention->day_days > 0)
                err = drop_periods(store, STORE_DAY,
                                   MIN(floor_to(now_ns - (int64_t)retention->day_days * DAY_NS, DAY_NS),
                                       marks->hour_gone_ns));
        return err;
}

static int roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention,
                   struct marks *marks)
{
        int err = fold_closed(store, STORE_HOUR, floor_to(now_ns, HOUR_NS), &marks->hour_done_ns);

        if (!err)
                err = fold_closed(store, STORE_DAY, floor_to(now_ns, DAY_NS), &marks->day_done_ns);
        if (!err)
                err = drop_old(store, now_ns, retention, marks);
        if (!err)
                err = store_prune_apps(store);
        return err ? err : marks_write(store, marks);
}

int store_roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention)
{
        struct marks marks = store->marks;
        int err;

        if (store->mode == STORE_READ)
                return -EROFS;
        if (now_ns >= INT64_MAX / 2 || now_ns <= -INT64_MAX / 2)
                return -ERANGE;
        if (store->checked_ns == floor_to(now_ns, HOUR_NS))
                return 0;
        err = store_run(store, SQL_BEGIN_WRITE);
        if (err)
                return err;
        err = roll_up(store, now_ns, retention, &marks);
        totals_reset(&store->totals);
        err = store_finish(store, err);
        if (err) {
                names_load(store); /* what was rolled back has no number any more */
                return err;
        }
        store->marks = marks;
        store->checked_ns = floor_to(now_ns, HOUR_NS);
        return 0;
}
