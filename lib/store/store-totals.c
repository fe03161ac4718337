/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums by app and state, of one interval or of a whole hour or day. */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

/* Columns of SQL_INTERVAL. */
enum {
        END, START, ELAPSED, SUSPEND, DISCHARGE_UJ, DISCHARGE_NPERCENT, FIRST_USAGE, N_USAGES, SHAPE, ALIVE, SPLIT_BY,
        RECORDED, WIFI_SIGNAL, CELLULAR_SIGNAL
};

void totals_reset(struct totals *totals)
{
        for (size_t i = 0; i < totals->n; i++)
                usage_clear(&totals->list[i].usage);
        totals->n = 0;
        if (totals->slots)
                memset(totals->slots, 0, totals->slots_capacity * sizeof(*totals->slots));
}

void totals_clear(struct totals *totals)
{
        totals_reset(totals);
        free(totals->list);
        free(totals->slots);
        *totals = (struct totals){ 0 };
}

/* Where the app of id @app_id is told of; NULL: -EBADMSG or -ENOMEM. */
static struct totals_slot *slot_of(const struct store *store, struct totals *totals, uint64_t app_id,
                                   enum app_state state, size_t *app, int *err)
{
        const struct app_name *name = names_find_app(store, app_id);
        size_t slot = name ? (size_t)(name - store->apps) * 2 + state : 0, had = totals->slots_capacity;

        *err = name ? util_grow(&totals->slots, &totals->slots_capacity, slot + 1, sizeof(*totals->slots)) : -EBADMSG;
        if (*err)
                return NULL;
        memset(totals->slots + had, 0, (totals->slots_capacity - had) * sizeof(*totals->slots));
        *app = slot / 2;
        return &totals->slots[slot];
}

struct total *totals_of(struct store *store, struct totals *totals, uint64_t app_id, enum app_state state,
                        int *err)
{
        size_t app = 0;
        struct totals_slot *slot = slot_of(store, totals, app_id, state, &app, err);

        if (!slot)
                return NULL;
        if (slot->total)
                return &totals->list[slot->total - 1];
        *err = util_grow(&totals->list, &totals->capacity, totals->n + 1, sizeof(*totals->list));
        if (*err)
                return NULL;
        totals->list[totals->n++] = (struct total){ .app = app, .state = state };
        slot->total = totals->n;
        return &totals->list[totals->n - 1];
}

static int add_active(struct store *store, struct totals *totals, uint64_t app, enum app_state state,
                      uint64_t ns)
{
        struct total *total;
        int err;

        total = totals_of(store, totals, app, state, &err);
        if (err)
                return err;
        return __builtin_add_overflow(total->active_ns, ns, &total->active_ns) ? -EBADMSG : 0;
}

int totals_add(struct store *store, struct totals *to, const struct totals *from)
{
        int err = 0;

        for (size_t i = 0; !err && i < from->n; i++) {
                const struct total *part = &from->list[i];
                uint64_t app = (uint64_t)store->apps[part->app].id;

                struct total *sum = totals_of(store, to, app, part->state, &err);

                if (sum && __builtin_add_overflow(sum->active_ns, part->active_ns, &sum->active_ns))
                        err = -EBADMSG;
                if (!err && !usage_is_empty(&part->usage))
                        err = usage_add(&sum->usage, &part->usage);
        }
        return err;
}

int totals_add_usage(struct store *store, struct totals *totals, uint64_t app, enum app_state state, uint64_t active_ns,
                     struct usage *usage)
{
        struct total *total;
        int err;

        total = totals_of(store, totals, app, state, &err);
        if (!total)
                return err;
        if (__builtin_add_overflow(total->active_ns, active_ns, &total->active_ns))
                return -EBADMSG;
        return usage_is_empty(usage) ? 0 : usage_move(&total->usage, usage);
}

/* A row of table usage, or of the older period_usage. One that only was alive was counted as far as others are. */
static int add_usage(struct store *store, struct totals *totals, sqlite3_stmt *row, const struct points *shape)
{
        uint64_t app = (uint64_t)sqlite3_column_int64(row, USAGE_COLUMN_APP - 1);
        uint64_t active_ns = (uint64_t)sqlite3_column_int64(row, USAGE_COLUMN_ACTIVE - 1);
        enum app_state state = sqlite3_column_int64(row, USAGE_COLUMN_STATE - 1) ? STATE_FOREGROUND : STATE_BACKGROUND;
        struct totals_slot *slot;
        struct usage usage = { 0 };
        size_t index;
        int err = store_is_number(row, USAGE_COLUMN_ACTIVE - 1) ? 0 : -EBADMSG;

        if (!err)
                err = totals->times ? store_read_usage_times(row, &usage) : store_read_usage(store, row, shape, &usage);
        if (!err)
                err = totals_add_usage(store, totals, app, state, active_ns, &usage);
        usage_clear(&usage);
        slot = err ? NULL : slot_of(store, totals, app, state, &index, &err);
        if (slot)
                slot->interval = totals->intervals;
        return err;
}

static int add_usages(struct store *store, struct totals *totals, sqlite3_stmt *interval, const struct points *shape)
{
        sqlite3_stmt *rows = store_statement(store, totals->times ? SQL_USAGE_TIMES : SQL_USAGE);
        int64_t first = sqlite3_column_int64(interval, FIRST_USAGE), n = sqlite3_column_int64(interval, N_USAGES);
        int more = 0, err = 0;

        if (!rows || n < 0 || first < 0 || n > INT64_MAX - first)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, first);
        sqlite3_bind_int64(rows, 2, first + n);
        sqlite3_bind_int64(rows, 3, sqlite3_column_int64(interval, END));
        for (; !err && (more = store_step(store, rows)) == 1; n--)
                err = add_usage(store, totals, rows, shape);
        sqlite3_reset(rows);
        return err ? err : more ? more : n == 0 ? 0 : -EBADMSG;
}

/* An app that was alive and did nothing worth a row used nothing of what was counted. */
static void complete(struct total *total)
{
        if (usage_is_empty(&total->usage))
                total->usage.have = USAGE_ALL;
}

struct store_row totals_row(struct store *store, size_t i, const struct times *times)
{
        struct total *total = &store->totals.list[i];
        const struct app_name *app = &store->apps[total->app];

        if (!store->totals.times)
                complete(total);
        return (struct store_row){
                .start_ns = times->start_ns,
                .end_ns = times->end_ns,
                .app = app->app,
                .name = app->name ? app->name : app->app,
                .uid = app->uid,
                .state = total->state,
                .active_ns = total->active_ns,
                .usage = &total->usage,
                .take = &total->usage,
        };
}

/* Apps that were alive all of the time, but for those that have a row, which says so itself. */
static int add_alive(struct store *store, struct totals *totals, struct bytes_reader reader, uint64_t awake_ns)
{
        uint64_t app = 0, step;
        int err = 0;

        while (!err && reader.at < reader.end) {
                struct totals_slot *slot;
                size_t index;

                err = bytes_get(&reader, &step);
                app += step;
                slot = err ? NULL : slot_of(store, totals, app, STATE_BACKGROUND, &index, &err);
                if (slot && slot->interval != totals->intervals)
                        err = add_active(store, totals, app, STATE_BACKGROUND, awake_ns);
        }
        return err;
}

int totals_add_interval(struct store *store, struct totals *totals, sqlite3_stmt *row)
{
        int64_t awake_ns = sqlite3_column_int64(row, ELAPSED) - sqlite3_column_int64(row, SUSPEND);
        struct points shape = { 0 };
        int err = awake_ns < 0 || !store_is_number(row, SUSPEND) ? -EBADMSG : 0;

        if (!err)
                err = store_get_points(store, KEYED_CPU, store_reader_of(row, SHAPE), &shape);
        totals->intervals++;
        if (!err)
                err = add_usages(store, totals, row, &shape);
        if (!err)
                err = add_alive(store, totals, store_reader_of(row, ALIVE), (uint64_t)awake_ns);
        free(shape.list);
        return err;
}

/* NULL is unknown. */
static bool take_discharge(sqlite3_stmt *row, int column, int64_t *ret)
{
        bool known = sqlite3_column_type(row, column) != SQLITE_NULL;

        *ret = known ? sqlite3_column_int64(row, column) : DISCHARGE_UNKNOWN;
        return !known || store_is_number(row, column);
}

static bool is_between(sqlite3_stmt *row, int column, int least, int most)
{
        int64_t value = sqlite3_column_int64(row, column);

        return sqlite3_column_type(row, column) == SQLITE_INTEGER && value >= least && value <= most;
}

struct signal store_read_signal(sqlite3_stmt *row)
{
        struct signal signal = { 0 };

        if (is_between(row, WIFI_SIGNAL, INT8_MIN, -1)) {
                signal.have |= SIGNAL_WIFI;
                signal.wifi_signal_dbm = sqlite3_column_int(row, WIFI_SIGNAL);
        }
        if (is_between(row, CELLULAR_SIGNAL, 0, 100)) {
                signal.have |= SIGNAL_CELLULAR;
                signal.cellular_signal_percent = (uint32_t)sqlite3_column_int(row, CELLULAR_SIGNAL);
        }
        return signal;
}

int store_times_of_interval(sqlite3_stmt *row, struct times *ret)
{
        int64_t split_by = sqlite3_column_int64(row, SPLIT_BY);
        struct recorded recorded = {
                .start_ns = sqlite3_column_int64(row, START),
                .end_ns = sqlite3_column_int64(row, END),
                .elapsed_ns = sqlite3_column_int64(row, ELAPSED),
                .suspend_ns = sqlite3_column_int64(row, SUSPEND),
                .recorded_ns = sqlite3_column_int64(row, RECORDED),
                .split_by = split_by == SPLIT_COUNTED || split_by == SPLIT_SHARED ? (enum cpu_split_by)split_by
                                                                                  : SPLIT_UNKNOWN,
                .signal = store_read_signal(row),
        };

        if (!store_is_number(row, ELAPSED) || !store_is_number(row, SUSPEND) ||
            sqlite3_column_type(row, START) != SQLITE_INTEGER ||
            !take_discharge(row, DISCHARGE_UJ, &recorded.discharge_uj) ||
            !take_discharge(row, DISCHARGE_NPERCENT, &recorded.discharge_npercent))
                return -EBADMSG;
        return store_check(&recorded, ret) ? -EBADMSG : 0;
}

int store_read_times(sqlite3_stmt *row, int column, struct times *ret)
{
        struct times times = { .start_ns = sqlite3_column_int64(row, column),
                               .end_ns = sqlite3_column_int64(row, column + 1) };

        column += 2;
        for (int i = 0; i < TIME_SUMS; i++, column++) {
                times.sums[i] = sqlite3_column_int64(row, column);
                if (sqlite3_column_type(row, column) != SQLITE_INTEGER ||
                    (times.sums[i] < 0 && i != SUM_WIFI_SIGNAL_DBM_NS))
                        return -EBADMSG;
        }
        times.recorded_ns = sqlite3_column_int64(row, column);
        times.details = sqlite3_column_int64(row, column + 1);
        *ret = times;
        return store_is_sane(ret) ? 0 : -EBADMSG;
}

int store_times_of_period(struct store *store, int64_t period, struct times *ret)
{
        sqlite3_stmt *row = store_statement(store, SQL_PERIOD);
        int more, err;

        if (!row)
                return -EBADMSG;
        sqlite3_bind_int64(row, 1, period);
        more = store_step(store, row);
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        err = store_read_times(row, 0, ret);
        sqlite3_reset(row);
        return err;
}

/* Reads a period of the previous version, which has a row for each usage. */
static int add_period_rows(struct store *store, struct totals *totals, int64_t period)
{
        static const struct points none;
        sqlite3_stmt *rows = store_statement(store, totals->times ? SQL_PERIOD_USAGE_TIMES : SQL_PERIOD_USAGE);
        int more, err = 0;

        if (!rows)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, period);
        while (!err && (more = store_step(store, rows)) == 1)
                err = add_usage(store, totals, rows, &none);
        sqlite3_reset(rows);
        return err ? err : more;
}

int totals_add_period(struct store *store, struct totals *totals, int64_t period)
{
        return (store->rows_apart ? add_period_rows : store_summary_add)(store, totals, period);
}
