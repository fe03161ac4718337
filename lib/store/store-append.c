/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writing one interval. What it costs decides its shape: an interval is one
 * row whose usages are packed into bytes (12 us for 50 processes, where a row
 * for each of them takes 35), and the set of apps that were alive is written
 * only when it changes.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

static int64_t clamp(uint64_t number)
{
        return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static void bind_battery(sqlite3_stmt *add, int column, const struct interval *interval)
{
        const struct battery *battery = &interval->battery;
        const struct {
                uint32_t have;
                int64_t value;
        } columns[] = {
                { BATTERY_CAPACITY, battery->capacity_percent },
                { BATTERY_CHARGE_NOW, clamp(battery->charge_now_uah) },
                { BATTERY_CHARGE_FULL, clamp(battery->charge_full_uah) },
                { BATTERY_ENERGY_NOW, clamp(battery->energy_now_uwh) },
                { BATTERY_ENERGY_FULL, clamp(battery->energy_full_uwh) },
                { BATTERY_VOLTAGE, clamp(battery->voltage_uv) },
                { BATTERY_POWER, clamp(battery->power_uw) },
                { BATTERY_TEMPERATURE, battery->temperature_dc },
        };

        if (!(interval->have & SAMPLE_BATTERY))
                return;
        sqlite3_bind_int64(add, column, battery->status);
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
                if (battery->have & columns[i].have)
                        sqlite3_bind_int64(add, column + 1 + (int)i, columns[i].value);
}

static int put_owner(struct store *store, int64_t app, enum app_state state, int64_t process)
{
        int err = put_number(&store->bytes, (uint64_t)app * 2 + state);

        return err ? err : put_number(&store->bytes, (uint64_t)process);
}

/*
 * A row of its own is for a process that is there for more than one interval. What comes and goes between two
 * polls, by the thousand while something is built, is written as its app's; and so is what is new beyond so
 * many at once, a few ten kB: any user may start processes without end.
 */
#define NEW_PROCESSES_MAX 256

static int sum_row(struct store *store, const struct interval_row *row, int64_t app)
{
        int err;
        struct total *total = totals_of(store, &store->totals, (uint64_t)app, row->state, &err);

        return err ? err : usage_add(&total->usage, &row->usage);
}

static int put_row(struct store *store, const struct interval_row *row, int64_t end_ns, size_t *room)
{
        size_t none = 0;
        int64_t app, process = 0;
        int err = names_row(store, row, end_ns, row->ended ? &none : room, &app, &process);

        if (err)
                return err;
        if (row->pid != 0 && process == 0)
                return sum_row(store, row, app);
        err = put_owner(store, app, row->state, process);
        return err ? err : put_usage(store, &store->bytes, &row->usage, true);
}

static int put_sums(struct store *store)
{
        int err = 0;

        for (size_t i = 0; !err && i < store->totals.n; i++) {
                const struct total *total = &store->totals.list[i];

                err = put_owner(store, store->apps[total->app].id, total->state, 0);
                if (!err)
                        err = put_usage(store, &store->bytes, &total->usage, true);
        }
        return err;
}

/* Proportions that all rows share, as the usage of app 0: they cost as much as two rows in full. */
#define ROWS_PER_SHAPE 4
static int put_shape(struct store *store, const struct interval *interval)
{
        const struct usage shape = { .cpu = interval->shape, .n_cpu = interval->n_shape };
        int err = put_owner(store, 0, STATE_BACKGROUND, 0);

        return err ? err : put_usage(store, &store->bytes, &shape, true);
}

static size_t find_busiest(const struct interval *interval)
{
        size_t busiest = 0;
        uint64_t most_ns = 0;

        for (size_t i = 0; i < interval->n_rows; i++) {
                uint64_t busy_ns = usage_busy_ns(&interval->rows[i].usage);

                if (busy_ns > most_ns) {
                        most_ns = busy_ns;
                        busiest = i;
                }
        }
        return busiest;
}

/*
 * Without a shape the busiest is first:
 * its proportions are the least rounded, and the others are written by them.
 */
static int put_rows(struct store *store, const struct interval *interval, int64_t end_ns)
{
        bool shaped = interval->n_shape > 1 && interval->n_rows >= ROWS_PER_SHAPE;
        size_t busiest = shaped || interval->n_rows == 0 ? SIZE_MAX : find_busiest(interval);
        size_t room = NEW_PROCESSES_MAX;
        int err = 0;

        store->bytes.n = store->shape.n = 0;
        names_fetch(store, interval);
        if (shaped)
                err = put_shape(store, interval);
        if (busiest != SIZE_MAX)
                err = put_row(store, &interval->rows[busiest], end_ns, &room);
        for (size_t i = 0; !err && i < interval->n_rows; i++)
                if (i != busiest)
                        err = put_row(store, &interval->rows[i], end_ns, &room);
        if (!err)
                err = put_sums(store);
        if (store->totals.n > 0)
                totals_reset(&store->totals);
        return err;
}

static int compare_ids(const void *a, const void *b)
{
        const int64_t *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

/*
 * Ids of the apps that were alive in the background all of the time go to @set,
 * the others into store->active.
 */
static int sort_alive(struct store *store, const struct interval *interval, int64_t *set, size_t *n)
{
        uint64_t awake_ns = interval->elapsed_ns - interval->suspend_ns;
        int err = 0;

        store->active.n = 0;
        for (size_t i = 0; !err && i < interval->n_alive; i++) {
                const struct interval_alive *alive = &interval->alive[i];
                int64_t app;

                err = names_app(store, alive->app, alive->uid, &app);
                if (err)
                        break;
                if (alive->state == STATE_BACKGROUND && alive->active_ns == awake_ns) {
                        set[(*n)++] = app;
                        continue;
                }
                err = put_number(&store->active, (uint64_t)app * 2 + alive->state);
                if (!err)
                        err = put_number(&store->active, alive->active_ns);
        }
        if (*n > 1)
                qsort(set, *n, sizeof(*set), compare_ids);
        return err;
}

/* Writes the set only if it is not the one of the interval before. */
static int put_alive(struct store *store, const struct interval *interval)
{
        _cleanup_free_ int64_t *set = calloc(interval->n_alive + 1, sizeof(*set));
        _cleanup_(bytes_clear) struct bytes packed = { 0 };
        sqlite3_stmt *add;
        size_t n = 0;
        int err = set ? sort_alive(store, interval, set, &n) : -ENOMEM;

        for (size_t i = 0; !err && i < n; i++)
                err = put_number(&packed, (uint64_t)(set[i] - (i ? set[i - 1] : 0)));
        if (err)
                return err;
        if (store->alive_id && packed.n == store->alive.n &&
            (packed.n == 0 || memcmp(packed.data, store->alive.data, packed.n) == 0))
                return 0;
        err = store_begin(store);
        if (err)
                return err;
        add = store_statement(store, SQL_ADD_ALIVE);
        if (!add)
                return -EBADMSG;
        sqlite3_bind_blob(add, 1, packed.data ? (const void *)packed.data : "", (int)packed.n, SQLITE_STATIC);
        err = store_step(store, add);
        if (err)
                return err;
        store->alive_id = sqlite3_last_insert_rowid(store->db);
        bytes_clear(&store->alive);
        store->alive = packed;
        packed = (struct bytes){ 0 };
        return 0;
}

static int put_interval(struct store *store, const struct interval *interval, int64_t end_ns)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_INTERVAL);

        if (!add)
                return -EBADMSG;
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, end_ns);
        sqlite3_bind_int64(add, 2, interval->start_realtime_ns);
        sqlite3_bind_int64(add, 3, clamp(interval->elapsed_ns));
        sqlite3_bind_int64(add, 4, clamp(interval->suspend_ns));
        if (interval->battery_have & INTERVAL_DISCHARGE)
                sqlite3_bind_int64(add, 5, clamp(interval->discharge_uj));
        if (interval->battery_have & INTERVAL_DISCHARGE_PERCENT)
                sqlite3_bind_int64(add, 6, llround(interval->discharge_percent * 1e9));
        bind_battery(add, 7, interval);
        sqlite3_bind_int64(add, 16, store->alive_id);
        if (store->active.n > 0)
                sqlite3_bind_blob(add, 17, store->active.data, (int)store->active.n, SQLITE_STATIC);
        sqlite3_bind_blob(add, 18, store->bytes.n ? (const void *)store->bytes.data : "", (int)store->bytes.n,
                          SQLITE_STATIC);
        if (interval->split_by != SPLIT_UNKNOWN)
                sqlite3_bind_int64(add, 19, interval->split_by);
        return store_step(store, add);
}

static int read_last_key(struct store *store)
{
        sqlite3_stmt *last = store_statement(store, SQL_LAST_KEY);
        int more = last ? store_step(store, last) : -EBADMSG;

        if (more < 0)
                return more;
        store->last_ns = more && sqlite3_column_type(last, 0) != SQLITE_NULL ? sqlite3_column_int64(last, 0) : INT64_MIN;
        store->last_known = true;
        sqlite3_reset(last);
        return 0;
}

/*
 * The end is the interval's key. Two that end at once (the clock was put back, to the ns) are a ns apart.
 * Mostly it is later than all there are, and nobody need look.
 */
static int find_key(struct store *store, int64_t *end_ns)
{
        int more = store->last_known ? 0 : read_last_key(store);
        sqlite3_stmt *has;

        if (more || *end_ns > store->last_ns)
                return more;
        has = store_statement(store, SQL_HAS_INTERVAL);
        more = has ? 1 : -EBADMSG;
        while (more == 1) {
                sqlite3_bind_int64(has, 1, *end_ns);
                more = store_step(store, has);
                if (more == 1) {
                        sqlite3_reset(has);
                        (*end_ns)++;
                }
        }
        return more;
}

/* Times that no clock shows would break the arithmetic of hours and days. */
static bool is_sane(const struct interval *interval)
{
        return interval->end_realtime_ns > -INT64_MAX / 2 && interval->end_realtime_ns < INT64_MAX / 2 &&
               interval->start_realtime_ns <= interval->end_realtime_ns;
}

/*
 * Mostly the interval is all there is to write, and a transaction by itself;
 * whoever adds another row begins one.
 */
int store_append(struct store *store, const struct interval *interval)
{
        int64_t end_ns = interval->end_realtime_ns;
        int err = store->mode == STORE_READ ? -EROFS : is_sane(interval) ? find_key(store, &end_ns) : -ERANGE;
        bool late = end_ns <= store->marks.hour_done_ns;

        if (!err && late)
                err = store_begin(store);
        if (!err)
                err = put_rows(store, interval, end_ns);
        if (!err)
                err = put_alive(store, interval);
        if (!err)
                err = sleep_put(store, interval, end_ns);
        if (!err)
                err = put_interval(store, interval, end_ns);
        if (!err && late)
                err = roll_up_late(store, end_ns);
        if (!sqlite3_get_autocommit(store->db))
                err = store_finish(store, err);
        if (!err) {
                store->last_ns = MAX(store->last_ns, end_ns);
                store->told = SQLITE_OK;
        }
        if (err) {
                store->alive_id = 0;
                names_load(store); /* what was rolled back has no number any more */
        }
        return err;
}
