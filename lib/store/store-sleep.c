/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sleeps. Intervals go after two days and hours sum up what was awake with what was not, so each long suspend
 * has a small row of its own: what the device draws while it sleeps is learnt from many of them.
 */

#include <errno.h>
#include <math.h>

#include "store-private.h"
#include "util/tuning.h"
#include "util/util.h"

/*
 * Also without a known discharge there is nothing to learn:
 * it was on a charger, or its battery says nothing.
 */
static bool is_sleep(const struct interval *interval)
{
        return interval->suspend_ns >= TUNING_SLEEP_NS && interval->suspend_ns <= interval->elapsed_ns &&
               interval->elapsed_ns <= INT64_MAX &&
               (interval->battery_have & (INTERVAL_DISCHARGE | INTERVAL_DISCHARGE_PERCENT));
}

static int drop_old(struct store *store, int64_t recorded_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_SLEEPS);

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, recorded_ns - TUNING_SLEEP_DAYS * DAY_NS);
        return store_step(store, drop);
}

int sleep_put(struct store *store, const struct interval *interval, int64_t end_ns, int64_t recorded_ns)
{
        sqlite3_stmt *add;
        int err;

        if (!is_sleep(interval))
                return 0;
        err = store_begin(store);
        if (err)
                return err;
        add = store_statement(store, SQL_ADD_SLEEP);
        if (!add)
                return -EBADMSG;
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, end_ns);
        sqlite3_bind_int64(add, 2, (int64_t)interval->elapsed_ns);
        sqlite3_bind_int64(add, 3, (int64_t)interval->suspend_ns);
        if (interval->battery_have & INTERVAL_DISCHARGE)
                sqlite3_bind_int64(add, 4, (int64_t)MIN(interval->discharge_uj, (uint64_t)INT64_MAX));
        if (interval->battery_have & INTERVAL_DISCHARGE_PERCENT)
                sqlite3_bind_int64(add, 5, llround(interval->discharge_percent * 1e9));
        sqlite3_bind_int64(add, 6, recorded_ns);
        err = store_step(store, add);
        return err ? err : drop_old(store, recorded_ns);
}

/* NaN: NULL, or what no writer wrote. */
static double number_of(sqlite3_stmt *row, int column, double unit)
{
        int64_t value = sqlite3_column_int64(row, column);

        return sqlite3_column_type(row, column) == SQLITE_INTEGER && value >= 0 ? (double)value * unit : NAN;
}

static bool read_sleep(sqlite3_stmt *row, struct store_sleep *ret)
{
        int64_t elapsed_ns = sqlite3_column_int64(row, 1), suspend_ns = sqlite3_column_int64(row, 2);

        if (suspend_ns <= 0 || elapsed_ns < suspend_ns)
                return false;
        *ret = (struct store_sleep){
                .end_ns = sqlite3_column_int64(row, 0),
                .elapsed_ns = (uint64_t)elapsed_ns,
                .suspend_ns = (uint64_t)suspend_ns,
                .discharge_j = number_of(row, 3, 1e-6),
                .discharge_percent = number_of(row, 4, 1e-9),
        };
        return true;
}

int store_sleeps(struct store *store, int64_t from_ns, int64_t to_ns,
                 int (*each)(void *data, const struct store_sleep *sleep), void *data)
{
        sqlite3_stmt *rows = store_statement(store, SQL_SLEEPS);
        int more = 0, stop = 0;

        if (!rows)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, from_ns);
        sqlite3_bind_int64(rows, 2, to_ns);
        while (!stop && (more = store_step(store, rows)) == 1) {
                struct store_sleep sleep;

                if (read_sleep(rows, &sleep))
                        stop = each(data, &sleep);
        }
        sqlite3_reset(rows);
        return more < 0 ? more : stop;
}
