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

/* A gauge tells within a minute of the resume what it took, and takes it back within three; and a poll may be late. */
#define LATE_NS (INT64_C(300) * (int64_t)NS_PER_S)

/*
 * Also without a known discharge there is nothing to learn:
 * it was on a charger, or its battery says nothing.
 */
static bool is_sleep(const struct recorded *recorded)
{
        return recorded->suspend_ns >= (int64_t)TUNING_SLEEP_NS &&
               (recorded->discharge_uj != DISCHARGE_UNKNOWN || recorded->discharge_npercent != DISCHARGE_UNKNOWN);
}

static int drop_old(struct store *store, int64_t recorded_ns)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_SLEEPS);

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, recorded_ns - TUNING_SLEEP_DAYS * DAY_NS);
        return store_step(store, drop);
}

static void bind_discharge(sqlite3_stmt *statement, int column, int64_t discharge)
{
        if (discharge != DISCHARGE_UNKNOWN)
                sqlite3_bind_int64(statement, column, discharge);
}

int sleep_put(struct store *store, const struct recorded *recorded)
{
        sqlite3_stmt *add;
        int err;

        if (!is_sleep(recorded))
                return 0;
        add = store_statement(store, SQL_ADD_SLEEP);
        if (!add)
                return -EBADMSG;
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, recorded->end_ns);
        sqlite3_bind_int64(add, 2, recorded->elapsed_ns);
        sqlite3_bind_int64(add, 3, recorded->suspend_ns);
        bind_discharge(add, 4, recorded->discharge_uj);
        bind_discharge(add, 5, recorded->discharge_npercent);
        sqlite3_bind_int64(add, 6, recorded->recorded_ns);
        err = store_step(store, add);
        return err ? err : drop_old(store, recorded->recorded_ns);
}

/* The newest interval with a suspend, if the sums of hours do not have it yet. 1; 0: none; a negative errno. */
static int find_suspend(struct store *store, int64_t *end_ns)
{
        sqlite3_stmt *last = store_statement(store, SQL_LAST_SUSPEND);
        int more;

        if (!last)
                return -EBADMSG;
        sqlite3_bind_int64(last, 1, MAX(store->recorded_ns - LATE_NS, store->marks.folded_ns));
        more = store_step(store, last);
        if (more != 1)
                return more;
        *end_ns = sqlite3_column_int64(last, 0);
        sqlite3_reset(last);
        return 1;
}

static int add_late(struct store *store, enum statement which, int64_t end_ns, const struct interval *interval)
{
        sqlite3_stmt *add = store_statement(store, which);

        if (!add)
                return -EBADMSG;
        sqlite3_bind_int64(add, 1, end_ns);
        sqlite3_bind_int64(add, 2, interval->slept_uj);
        sqlite3_bind_int64(add, 3, llround(fmin(fmax(interval->slept_percent, -100), 100) * 1e9));
        return store_step(store, add);
}

/* Since the suspend the level was the one that is known now. */
static int set_levels(struct store *store, int64_t end_ns, const struct battery *battery)
{
        sqlite3_stmt *set = store_statement(store, SQL_SET_LEVELS);

        if (!set)
                return -EBADMSG;
        sqlite3_bind_int64(set, 1, end_ns);
        sqlite3_bind_int64(set, 2, battery->capacity_percent);
        sqlite3_bind_int64(set, 3, store_clamp(battery->charge_now_uah));
        sqlite3_bind_int64(set, 4, store_clamp(battery->energy_now_uwh));
        return store_step(store, set);
}

int sleep_add_late(struct store *store, struct interval *interval)
{
        int64_t end_ns = 0;
        int found, err;

        if (interval->slept_uj == 0 && interval->slept_percent == 0)
                return 0;
        found = find_suspend(store, &end_ns);
        if (found == 0)
                interval_add_slept(interval);
        if (found <= 0)
                return found;
        err = add_late(store, SQL_ADD_LATE, end_ns, interval);
        if (!err)
                err = add_late(store, SQL_ADD_LATE_SLEEP, end_ns, interval);
        return err ? err : set_levels(store, end_ns, &interval->battery);
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
        if (ret->discharge_percent > 100) /* older versions took another battery's level for it */
                ret->discharge_j = ret->discharge_percent = NAN;
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
