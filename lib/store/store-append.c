/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writing one interval: a row of its own, and one for each owner that used something, had the screen or was not
 * alive all of the time. The others, most apps of a machine, are in a set that is written only when it changes.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/tuning.h"
#include "util/util.h"

static void bind_battery(sqlite3_stmt *add, int column, const struct interval *interval)
{
        const struct battery *battery = &interval->battery;
        const struct {
                uint32_t have;
                int64_t value;
        } columns[] = {
                { BATTERY_CAPACITY, battery->capacity_percent },
                { BATTERY_CHARGE_NOW, store_clamp(battery->charge_now_uah) },
                { BATTERY_CHARGE_FULL, store_clamp(battery->charge_full_uah) },
                { BATTERY_ENERGY_NOW, store_clamp(battery->energy_now_uwh) },
                { BATTERY_ENERGY_FULL, store_clamp(battery->energy_full_uwh) },
                { BATTERY_VOLTAGE, store_clamp(battery->voltage_uv) },
                { BATTERY_POWER, store_clamp(battery->power_uw) },
                { BATTERY_TEMPERATURE, battery->temperature_dc },
        };

        if (!(interval->have & SAMPLE_BATTERY))
                return;
        sqlite3_bind_int64(add, column, battery->status);
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
                if (battery->have & columns[i].have)
                        sqlite3_bind_int64(add, column + 1 + (int)i, columns[i].value);
}

static uint64_t awake_ns(const struct interval *interval)
{
        return interval->elapsed_ns - interval->suspend_ns;
}

static bool was_only_alive(const struct interval *interval, const struct interval_row *row)
{
        return row->state == STATE_BACKGROUND && row->active_ns == awake_ns(interval) &&
               usage_is_empty(&row->usage);
}

/* Names beyond a user's share are one owner, whose row is their sum. */
static bool is_shared_name(const struct store *store, int64_t app)
{
        return strcmp(names_find_app(store, (uint64_t)app)->app, TUNING_OTHER_APPS) == 0;
}

static int add_to_shared(struct store *store, int64_t app, const struct interval_row *row)
{
        struct total *total;
        int err;

        total = totals_of(store, &store->totals, (uint64_t)app, row->state, &err);
        if (err)
                return err;
        total->active_ns = MAX(total->active_ns, row->active_ns);
        return usage_add(&total->usage, &row->usage);
}

static int put_shared(struct store *store, int64_t end_ns)
{
        int err = 0;

        for (size_t i = 0; !err && i < store->totals.n; i++) {
                const struct total *total = &store->totals.list[i];

                err = store_insert_usages(store, SQL_ADD_USAGE,
                                          &(struct store_usage){ end_ns, store->apps[total->app].id, total->state,
                                                                 total->active_ns, &total->usage, false }, 1);
        }
        totals_reset(&store->totals);
        return err;
}

/* Rows on their way to one statement. */
struct batch {
        struct store_usage rows[USAGES_AT_ONCE];
        size_t n;
};

static int flush(struct store *store, struct batch *batch)
{
        size_t n = batch->n;
        int err = 0;

        batch->n = 0;
        if (n == USAGES_AT_ONCE)
                return store_insert_usages(store, SQL_ADD_COMMON_USAGES, batch->rows, n);
        for (size_t i = 0; !err && i < n; i++)
                err = store_insert_usages(store, SQL_ADD_USAGE, &batch->rows[i], 1);
        return err;
}

static int put_row(struct store *store, const struct interval_row *row, int64_t app, int64_t end_ns,
                   struct batch *batch)
{
        struct store_usage usage = { end_ns, app, row->state, row->active_ns, &row->usage, row->shaped };

        if (is_shared_name(store, app))
                return add_to_shared(store, app, row);
        if (!store_is_common(&row->usage))
                return store_insert_usages(store, SQL_ADD_USAGE, &usage, 1);
        batch->rows[batch->n++] = usage;
        return batch->n == USAGES_AT_ONCE ? flush(store, batch) : 0;
}

static int find_names(struct store *store, const struct interval *interval)
{
        int err = util_grow(&store->ids, &store->ids_capacity, interval->n_rows, sizeof(*store->ids));

        for (size_t i = 0; !err && i < interval->n_rows; i++)
                err = names_app(store, interval->rows[i].app, interval->rows[i].uid, &store->ids[i]);
        return err;
}

static int last_usage(struct store *store, int64_t *ret)
{
        sqlite3_stmt *last = store_statement(store, SQL_LAST_USAGE);
        int more = last ? store_step(store, last) : -EBADMSG;

        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        *ret = sqlite3_column_int64(last, 0);
        sqlite3_reset(last);
        return 0;
}

/* @first: id of the first row of the interval in table usage; @n: how many there are, one after the other. */
static int put_rows(struct store *store, const struct interval *interval, int64_t end_ns, int64_t *first, int64_t *n)
{
        struct batch batch = { .n = 0 };
        int err = last_usage(store, first);

        if (!err)
                err = find_names(store, interval);
        for (size_t i = 0; !err && i < interval->n_rows; i++)
                if (!was_only_alive(interval, &interval->rows[i]))
                        err = put_row(store, &interval->rows[i], store->ids[i], end_ns, &batch);
        if (!err)
                err = flush(store, &batch);
        if (!err)
                err = put_shared(store, end_ns);
        if (!err)
                err = last_usage(store, n);
        *n -= *first;
        (*first)++;
        return err;
}

static int compare_ids(const void *a, const void *b)
{
        const int64_t *one = a, *other = b;

        return *one < *other ? -1 : *one > *other;
}

/* Ids of the apps that were alive in the background all of the time, ascending. */
static size_t list_alive(const struct store *store, const struct interval *interval, int64_t *set)
{
        bool ascending = true;
        size_t n = 0;

        for (size_t i = 0; i < interval->n_rows; i++) {
                const struct interval_row *row = &interval->rows[i];

                if (row->state != STATE_BACKGROUND || !*row->app || row->active_ns != awake_ns(interval))
                        continue;
                ascending = ascending && (n == 0 || set[n - 1] < store->ids[i]);
                set[n++] = store->ids[i];
        }
        if (!ascending)
                qsort(set, n, sizeof(*set), compare_ids);
        return n;
}

/* Each id as the difference to the one before. */
static int pack_alive(struct store *store, const struct interval *interval, struct bytes *ret)
{
        _cleanup_free_ int64_t *set = calloc(interval->n_rows + 1, sizeof(*set));
        size_t n = set ? list_alive(store, interval, set) : 0;
        int err = set ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i < n; i++)
                if (i == 0 || set[i] != set[i - 1])
                        err = bytes_put(ret, (uint64_t)(set[i] - (i ? set[i - 1] : 0)));
        return err;
}

/* Writes the set only if it is not the one of the interval before. */
static int put_alive(struct store *store, const struct interval *interval)
{
        _cleanup_(bytes_clear) struct bytes packed = { 0 };
        sqlite3_stmt *add;
        int err = pack_alive(store, interval, &packed);

        if (err)
                return err;
        if (store->alive_id && packed.n == store->alive.n &&
            (packed.n == 0 || memcmp(packed.data, store->alive.data, packed.n) == 0))
                return 0;
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

static int put_interval(struct store *store, const struct interval *interval, const struct recorded *recorded,
                        int64_t first_usage, int64_t n_usages)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_INTERVAL);
        int err;

        if (!add)
                return -EBADMSG;
        store->bytes.n = 0;
        err = store_put_points(store, KEYED_CPU, &interval->shape);
        if (err)
                return err;
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, recorded->end_ns);
        sqlite3_bind_int64(add, 2, recorded->start_ns);
        sqlite3_bind_int64(add, 3, recorded->elapsed_ns);
        sqlite3_bind_int64(add, 4, recorded->suspend_ns);
        if (recorded->discharge_uj != DISCHARGE_UNKNOWN)
                sqlite3_bind_int64(add, 5, recorded->discharge_uj);
        if (recorded->discharge_npercent != DISCHARGE_UNKNOWN)
                sqlite3_bind_int64(add, 6, recorded->discharge_npercent);
        bind_battery(add, 7, interval);
        sqlite3_bind_int64(add, 16, store->alive_id);
        sqlite3_bind_int64(add, 17, first_usage);
        sqlite3_bind_int64(add, 18, n_usages);
        if (store->bytes.n > 0)
                sqlite3_bind_blob(add, 19, store->bytes.data, (int)store->bytes.n, SQLITE_STATIC);
        if (interval->split_by != SPLIT_UNKNOWN)
                sqlite3_bind_int64(add, 20, interval->split_by);
        sqlite3_bind_int64(add, 21, recorded->recorded_ns);
        if (interval->signal.have & SIGNAL_WIFI)
                sqlite3_bind_int64(add, 22, interval->signal.wifi_signal_dbm);
        if (interval->signal.have & SIGNAL_CELLULAR)
                sqlite3_bind_int64(add, 23, interval->signal.cellular_signal_percent);
        return store_step(store, add);
}

int store_find_last(struct store *store)
{
        sqlite3_stmt *last = store->last_known ? NULL : store_statement(store, SQL_LAST_KEY);
        int more = last ? store_step(store, last) : -EBADMSG;

        if (store->last_known)
                return 0;
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        store->last_ns = sqlite3_column_type(last, 0) != SQLITE_NULL ? sqlite3_column_int64(last, 0) : INT64_MIN;
        store->recorded_ns = sqlite3_column_int64(last, 1);
        sqlite3_reset(last);
        if (store->recorded_ns < 0 || store->recorded_ns > INT64_MAX / 2)
                return store_damaged(store);
        if (!store->doubt.begun)
                store->doubt = (struct doubt){ true, store->recorded_ns, INT64_MIN, 0 };
        store->last_known = true;
        return 0;
}

/* The end is the interval's key. Mostly it is later than all there are, and no look is needed. */
int store_find_key(struct store *store, int64_t *end_ns)
{
        sqlite3_stmt *has;
        int more = 1;

        if (*end_ns > store->last_ns)
                return 0;
        has = store_statement(store, SQL_HAS_INTERVAL);
        if (!has)
                return -EBADMSG;
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

static int put_all(struct store *store, const struct interval *interval, const struct recorded *recorded)
{
        int64_t first = 0, n = 0, end_ns = recorded->end_ns;
        int err = put_rows(store, interval, end_ns, &first, &n);

        if (!err)
                err = put_alive(store, interval);
        if (!err)
                err = sleep_put(store, recorded);
        if (!err)
                err = charge_put(store, interval);
        if (!err)
                err = put_interval(store, interval, recorded, first, n);
        if (!err && end_ns <= store->marks.open_ns) {
                store->marks.open_ns = end_ns - 1;
                err = store_marks_write(store, &store->marks);
        }
        return err;
}

static int append(struct store *store, struct interval *interval)
{
        struct recorded recorded;
        int err = store_find_last(store);

        if (!err && interval->clock_step_ns)
                err = store_clock_was_set(store, interval);
        if (!err)
                err = store_find_last(store);
        if (!err)
                err = sleep_add_late(store, interval);
        if (!err)
                err = store_recorded_of(interval, &recorded);
        if (!err)
                err = store_find_key(store, &recorded.end_ns);
        if (err)
                return err;
        recorded.recorded_ns = store->recorded_ns + MAX(recorded.elapsed_ns, INT64_C(1));
        err = put_all(store, interval, &recorded);
        store->last_ns = MAX(store->last_ns, recorded.end_ns);
        store->recorded_ns = recorded.recorded_ns;
        store->doubt.age_ns += interval->clock_step_ns ? 0 : interval->elapsed_ns;
        return err;
}

/*
 * Whether this commit waits for the disk: if too much would be at stake when the next one comes. What others left
 * behind the kernel writes within half a minute, but it promises nothing, and SQLite itself waits only when it empties
 * the -wal, after an hour or so. By the real clock, as it is a real power that fails.
 */
static bool is_sync_due(const struct store *store, uint64_t now_ns)
{
        uint64_t next_ns = now_ns + (now_ns - store->appended_ns);

        return store->mode == STORE_WRITE && next_ns - store->synced_ns > store->sync_ns;
}

void store_sync_within(struct store *store, uint64_t ns)
{
        store->sync_ns = ns;
}

int store_append(struct store *store, const struct interval *interval)
{
        const struct marks marks = store->marks;
        const struct doubt doubt = store->doubt;
        uint64_t now_ns = util_boottime_ns();
        bool sync = is_sync_due(store, now_ns);
        struct interval own = *interval; /* its rows are shared */
        struct recorded recorded;
        int err = store->mode == STORE_READ ? -EROFS : store_recorded_of(interval, &recorded);

        if (!err && sync)
                err = store_wait_for_disk(store, true);
        if (!err)
                err = store_begin(store);
        if (err)
                return err;
        err = store_finish(store, append(store, &own));
        if (sync)
                store_wait_for_disk(store, false);
        if (!err) {
                store->told = SQLITE_OK;
                store->appended_ns = now_ns;
                if (sync)
                        store->synced_ns = now_ns;
        } else {
                totals_reset(&store->totals);
                store->marks = marks;
                store->doubt = doubt;
                store->last_known = false;
                store->power.known = false;
                store->alive_id = 0;
                names_load(store); /* names that were added have no ids any more: they are rolled back, too */
        }
        return err;
}
