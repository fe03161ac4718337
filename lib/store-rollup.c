/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Closed hours become periods of an hour, closed days periods of a day: one
 * transaction, integers only, so totals are conserved exactly and a crash
 * leaves all or nothing. What was folded is marked, not deleted: details stay
 * until their own retention ends, and an interval that comes late for its hour
 * (the clock was put back) makes a second period of the same hour. Readers add
 * them up.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util.h"

int marks_read(struct store *store, struct marks *ret)
{
        sqlite3_stmt *marks = store_statement(store, SQL_MARKS);
        int more = marks ? store_step(store, marks) : -EBADMSG;

        if (more < 0)
                return more;
        *ret = (struct marks){ INT64_MIN, INT64_MIN };
        if (more) {
                ret->raw_ns = sqlite3_column_int64(marks, 0);
                ret->hour_ns = MIN(sqlite3_column_int64(marks, 1), ret->raw_ns);
        }
        sqlite3_reset(marks);
        return 0;
}

/* A period that is being summed up. */
struct period {
        bool open;
        int64_t bucket_ns;
        int64_t start_ns, end_ns;
        int64_t sums[5]; /* elapsed_ns, known_ns, percent_known_ns, discharge_uj, discharge_npercent: as the columns */
};

static int write_usages(struct store *store, int64_t period)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_PERIOD_USAGE);
        int err = add ? 0 : -EBADMSG;

        for (size_t i = 0; !err && i < store->totals.n; i++) {
                const struct total *total = &store->totals.list[i];

                store->bytes.n = 0;
                err = put_usage(store, &store->bytes, &total->usage);
                if (err)
                        break;
                sqlite3_bind_int64(add, 1, period);
                sqlite3_bind_int64(add, 2, store->apps[total->app].id);
                sqlite3_bind_int64(add, 3, total->state);
                sqlite3_bind_int64(add, 4, (int64_t)MIN(total->active_ns, (uint64_t)INT64_MAX));
                sqlite3_bind_blob(add, 5, store->bytes.data, (int)store->bytes.n, SQLITE_STATIC);
                err = store_step(store, add);
        }
        return err;
}

static int close_period(struct store *store, struct period *period, enum store_grain grain)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_PERIOD);
        int err;

        if (!period->open)
                return 0;
        if (!add)
                return -EBADMSG;
        sqlite3_bind_int64(add, 1, grain);
        sqlite3_bind_int64(add, 2, period->bucket_ns);
        sqlite3_bind_int64(add, 3, period->start_ns);
        sqlite3_bind_int64(add, 4, period->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(period->sums); i++)
                sqlite3_bind_int64(add, 5 + (int)i, period->sums[i]);
        err = store_step(store, add);
        if (!err)
                err = write_usages(store, sqlite3_last_insert_rowid(store->db));
        totals_reset(&store->totals);
        *period = (struct period){ 0 };
        return err;
}

/* Adds a part to the period of its bucket; a part of the next bucket closes the one before. */
static int add_part(struct store *store, struct period *period, enum store_grain grain, const struct period *part)
{
        int err = 0;

        if (period->open && period->bucket_ns != part->bucket_ns)
                err = close_period(store, period, grain);
        if (err)
                return err;
        if (!period->open) {
                *period = *part;
                period->open = true;
                return 0;
        }
        period->start_ns = MIN(period->start_ns, part->start_ns);
        period->end_ns = MAX(period->end_ns, part->end_ns);
        for (size_t i = 0; i < ARRAY_SIZE(period->sums); i++)
                if (__builtin_add_overflow(period->sums[i], part->sums[i], &period->sums[i]))
                        return -EBADMSG;
        return 0;
}

static int fold_intervals(struct store *store, int64_t until_ns, bool *any)
{
        sqlite3_stmt *due = store_statement(store, SQL_DUE_INTERVALS), *mark;
        struct period hour = { 0 };
        int more, err = 0;

        if (!due)
                return -EBADMSG;
        sqlite3_bind_int64(due, 1, until_ns);
        while ((more = store_step(store, due)) == 1) {
                int64_t elapsed_ns = sqlite3_column_int64(due, 6);
                struct period part = {
                        .start_ns = sqlite3_column_int64(due, 4),
                        .end_ns = sqlite3_column_int64(due, 5),
                        .sums = { elapsed_ns,
                                  sqlite3_column_type(due, 7) != SQLITE_NULL ? elapsed_ns : 0,
                                  sqlite3_column_type(due, 8) != SQLITE_NULL ? elapsed_ns : 0,
                                  sqlite3_column_int64(due, 7), sqlite3_column_int64(due, 8) },
                };

                part.bucket_ns = bucket_of(part.end_ns, HOUR_NS);
                err = add_part(store, &hour, STORE_HOUR, &part);
                if (!err)
                        err = totals_add_interval(store, &store->totals, due);
                if (err)
                        break;
                *any = true;
        }
        sqlite3_reset(due);
        if (!err)
                err = more;
        if (!err)
                err = close_period(store, &hour, STORE_HOUR);
        totals_reset(&store->totals);
        mark = store_statement(store, SQL_FOLD_INTERVAL);
        if (err || !mark)
                return err ? err : -EBADMSG;
        sqlite3_bind_int64(mark, 1, until_ns);
        return store_step(store, mark);
}

static int fold_hours(struct store *store, int64_t until_ns, bool *any)
{
        sqlite3_stmt *due = store_statement(store, SQL_DUE_HOURS), *mark;
        struct period day = { 0 };
        int more, err = 0;

        if (!due)
                return -EBADMSG;
        sqlite3_bind_int64(due, 1, until_ns);
        while ((more = store_step(store, due)) == 1) {
                struct period part = {
                        .bucket_ns = bucket_of(sqlite3_column_int64(due, 1) + HOUR_NS, DAY_NS),
                        .start_ns = sqlite3_column_int64(due, 2),
                        .end_ns = sqlite3_column_int64(due, 3),
                };

                for (size_t i = 0; i < ARRAY_SIZE(part.sums); i++)
                        part.sums[i] = sqlite3_column_int64(due, 4 + (int)i);
                err = add_part(store, &day, STORE_DAY, &part);
                if (!err)
                        err = totals_add_period(store, &store->totals, sqlite3_column_int64(due, 0));
                if (err)
                        break;
                *any = true;
        }
        sqlite3_reset(due);
        if (!err)
                err = more;
        if (!err)
                err = close_period(store, &day, STORE_DAY);
        totals_reset(&store->totals);
        mark = store_statement(store, SQL_FOLD_HOUR);
        if (err || !mark)
                return err ? err : -EBADMSG;
        sqlite3_bind_int64(mark, 1, until_ns);
        return store_step(store, mark);
}

static int drop_periods(struct store *store, enum store_grain grain, int64_t length_ns, int64_t until_ns)
{
        static const enum statement drops[] = { SQL_DROP_PERIOD_USAGE, SQL_DROP_PERIODS };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(drops); i++) {
                sqlite3_stmt *drop = store_statement(store, drops[i]);

                if (!drop)
                        return -EBADMSG;
                sqlite3_bind_int64(drop, 1, grain);
                sqlite3_bind_int64(drop, 2, length_ns);
                sqlite3_bind_int64(drop, 3, until_ns);
                err = store_step(store, drop);
        }
        return err;
}

static int drop_intervals(struct store *store, int64_t until_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_INTERVALS);
        int err;

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, until_ns);
        err = store_step(store, drop);
        if (!err)
                err = store_run(store, SQL_DROP_ALIVE);
        if (!err)
                err = names_drop_processes(store);
        return err;
}

static int write_marks(struct store *store, const struct marks *marks)
{
        sqlite3_stmt *set = store_statement(store, SQL_SET_MARKS);

        if (!set)
                return -EBADMSG;
        sqlite3_bind_int64(set, 1, marks->raw_ns);
        sqlite3_bind_int64(set, 2, marks->hour_ns);
        return store_step(store, set);
}

/* Where each retention ends. Hours never go before their details do, nor details before the hours know of them. */
static int drop_old(struct store *store, int64_t now_ns, const struct store_retention *retention)
{
        struct marks marks;
        int64_t raw_ns = floor_to(now_ns - (int64_t)retention->raw_hours * HOUR_NS, HOUR_NS);
        int64_t hour_ns = floor_to(now_ns - (int64_t)retention->hour_days * DAY_NS, DAY_NS);
        int err = marks_read(store, &marks);

        if (err)
                return err;
        marks.raw_ns = MAX(marks.raw_ns, raw_ns);
        marks.hour_ns = MAX(marks.hour_ns, MIN(hour_ns, bucket_of(marks.raw_ns + 1, DAY_NS)));
        err = write_marks(store, &marks);
        if (!err)
                err = drop_intervals(store, marks.raw_ns);
        if (!err)
                err = drop_periods(store, STORE_HOUR, HOUR_NS, marks.hour_ns);
        if (!err && retention->day_days > 0)
                err = drop_periods(store, STORE_DAY, DAY_NS,
                                   floor_to(now_ns - (int64_t)retention->day_days * DAY_NS, DAY_NS));
        return err;
}

int store_roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention)
{
        int64_t hour_ns = floor_to(now_ns, HOUR_NS);
        bool any = false;
        int err;

        if (store->mode != STORE_WRITE)
                return -EROFS;
        if (store->checked_ns == hour_ns)
                return 0;
        err = store_run(store, SQL_BEGIN_WRITE);
        if (err)
                return err;
        err = fold_intervals(store, hour_ns, &any);
        if (!err)
                err = fold_hours(store, floor_to(now_ns, DAY_NS), &any);
        if (!err)
                err = drop_old(store, now_ns, retention);
        err = store_finish(store, err);
        totals_reset(&store->totals);
        if (!err)
                store->checked_ns = hour_ns;
        else
                names_load(store);
        return err;
}
