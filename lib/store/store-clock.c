/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Clocks that are set. Which time was wrong, the one before or the one after, shows by how long each lasted: what
 * was recorded under one that did not last an hour gets the times of the next, and through several steps those of the
 * last. A jump that is taken back leaves nothing, and what a machine records until a time server tells it the year is
 * dated right. Beyond that rows keep the dates they got.
 */

#include <errno.h>

#include "store-private.h"
#include "util/tuning.h"
#include "util/util.h"
#include "util/words.h"

/* A clock that leaps more often than every hour: what is older than a day keeps its dates. */
#define MOST_DOUBT_NS DAY_NS

struct doubtful {
        int64_t end_ns, start_ns, first_usage, n_usages;
};

struct doubtful_list {
        struct doubtful *list;
        size_t n, capacity;
};

static void list_clear(struct doubtful_list *list)
{
        free(list->list);
}

/* Since when a step shows dates to be wrong. A clock that is set a little all the time was right each time. */
static int64_t since_ns(const struct store *store, int64_t step_ns)
{
        bool little = llabs(step_ns) < TUNING_CLOCK_TOLD_NS;

        return MAX(store->doubt.from_ns,
                   store->recorded_ns - (little ? (int64_t)TUNING_CLOCK_DOUBT_NS : MOST_DOUBT_NS));
}

static int list_doubtful(struct store *store, int64_t from_ns, struct doubtful_list *ret)
{
        sqlite3_stmt *rows = store_statement(store, SQL_DOUBTFUL);
        int more = 0, err = 0;

        if (!rows)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, store->marks.open_ns);
        sqlite3_bind_int64(rows, 2, from_ns);
        while (!err && (more = store_step(store, rows)) == 1) {
                err = util_grow(&ret->list, &ret->capacity, ret->n + 1, sizeof(*ret->list));
                if (!err)
                        ret->list[ret->n++] = (struct doubtful){ sqlite3_column_int64(rows, 0),
                                                                 sqlite3_column_int64(rows, 1),
                                                                 sqlite3_column_int64(rows, 2),
                                                                 sqlite3_column_int64(rows, 3) };
        }
        sqlite3_reset(rows);
        return err ? err : more;
}

static int run_with(struct store *store, enum statement which, const int64_t *numbers, int n)
{
        sqlite3_stmt *statement = store_statement(store, which);

        if (!statement)
                return -EBADMSG;
        for (int i = 0; i < n; i++)
                sqlite3_bind_int64(statement, i + 1, numbers[i]);
        return store_step(store, statement);
}

static int redate(struct store *store, const struct doubtful *row, int64_t start_ns, int64_t end_ns)
{
        int64_t interval[] = { row->end_ns, end_ns, start_ns }, charge[] = { row->start_ns, start_ns },
                usage[] = { row->end_ns, end_ns, row->first_usage, row->first_usage + row->n_usages };
        int err = store_find_key(store, &interval[1]);

        usage[1] = interval[1];
        if (!err)
                err = run_with(store, SQL_REDATE_INTERVAL, interval, 3);
        if (!err)
                err = run_with(store, SQL_REDATE_USAGE, usage, 4);
        if (!err)
                err = run_with(store, SQL_REDATE_SLEEP, interval, 2);
        if (!err)
                err = run_with(store, SQL_REDATE_CHARGE, charge, 2);
        store->last_ns = MAX(store->last_ns, interval[1]);
        store->marks.open_ns = MIN(store->marks.open_ns, interval[1] - 1);
        return err;
}

/* The later ones first if all go forward, so that none takes the place of the next. */
static int redate_all(struct store *store, const struct doubtful_list *rows, int64_t before_ns, int64_t step_ns)
{
        int err = 0;

        for (size_t i = 0; !err && i < rows->n; i++) {
                size_t at = step_ns > 0 ? rows->n - 1 - i : i;
                const struct doubtful *row = &rows->list[at];
                int64_t start_ns, end_ns;

                if (__builtin_add_overflow(row->start_ns, step_ns, &start_ns) ||
                    __builtin_add_overflow(row->end_ns, step_ns, &end_ns))
                        return store_damaged(store);
                if (at == 0 && before_ns != INT64_MIN && before_ns <= end_ns &&
                    llabs(start_ns - before_ns) < TUNING_CLOCK_SET_NS)
                        start_ns = before_ns;
                err = redate(store, row, start_ns, end_ns);
        }
        return err;
}

static void print_step(int64_t step_ns, char *buf, size_t size)
{
        int64_t s = llabs(step_ns) / (int64_t)NS_PER_S;

        if (s >= 48 * 3600)
                snprintf(buf, size, "%lld d %lld h %s", (long long)(s / 86400), (long long)(s / 3600 % 24),
                         step_ns > 0 ? "ahead" : "back");
        else
                snprintf(buf, size, "%lld min %lld s %s", (long long)(s / 60), (long long)(s % 60),
                         step_ns > 0 ? "ahead" : "back");
}

static void tell(const struct store *store, int64_t step_ns, size_t n)
{
        char step[64];

        if (llabs(step_ns) < TUNING_CLOCK_TOLD_NS)
                return;
        print_step(step_ns, step, sizeof(step));
        if (n > 0)
                log_info(store->log,
                         words_counted("the clock was set %s; the %zu interval recorded since it was set "
                                       "last, or since the start, got the new times",
                                       "the clock was set %s; the %zu intervals recorded since it was set "
                                       "last, or since the start, got the new times", n), step, n);
        else
                log_warning(store->log,
                            "the clock was set %s; what is recorded from here on has the new times, and "
                            "others if it is set again within an hour", step);
}

int store_clock_was_set(struct store *store, const struct interval *interval)
{
        _cleanup_(list_clear) struct doubtful_list rows = { 0 };
        struct doubt *doubt = &store->doubt;
        int64_t step_ns = interval->clock_step_ns, open_ns = store->marks.open_ns;
        int err = 0;

        if (doubt->age_ns >= TUNING_CLOCK_DOUBT_NS) {
                *doubt = (struct doubt){ true, store->recorded_ns, interval->start_realtime_ns - step_ns, 0 };
        } else {
                int64_t from_ns = since_ns(store, step_ns);

                err = list_doubtful(store, from_ns, &rows);
                if (!err)
                        err = redate_all(store, &rows,
                                         from_ns == doubt->from_ns ? doubt->before_ns : INT64_MIN, step_ns);
                if (!err && store->marks.open_ns != open_ns)
                        err = store_marks_write(store, &store->marks);
                doubt->age_ns = 0;
                store->last_known = false;
        }
        if (!err)
                tell(store, step_ns, rows.n);
        return err;
}

int64_t store_certain_ns(const struct store *store)
{
        return store->last_known && store->doubt.age_ns < TUNING_CLOCK_DOUBT_NS ? store->doubt.from_ns : INT64_MAX;
}
