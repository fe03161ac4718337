/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading intervals one by one, with the battery at the end of each: what level steps are found in. */

#include <errno.h>
#include <math.h>

#include "store-private.h"
#include "util/util.h"

/* Columns of SQL_POLLS beside those of SQL_INTERVAL. */
enum { SUSPEND = 3, SPLIT_BY = 10, BATTERY = 14 };

/* Largest difference between the fall of the level and what was counted: noise, but no charger. */
#define DRIFT_PERCENT 0.5

static double part_of(uint64_t level, uint64_t full)
{
        return full > 0 ? 100 * (double)level / (double)full : NAN;
}

double store_level_percent(const struct battery *battery, uint32_t have)
{
        if ((have & BATTERY_CHARGE_NOW) && (have & BATTERY_CHARGE_FULL))
                return part_of(battery->charge_now_uah, battery->charge_full_uah);
        if ((have & BATTERY_ENERGY_NOW) && (have & BATTERY_ENERGY_FULL))
                return part_of(battery->energy_now_uwh, battery->energy_full_uwh);
        return have & BATTERY_CAPACITY ? battery->capacity_percent : NAN;
}

bool store_goes_on(const struct store_poll *before, const struct store_poll *poll)
{
        uint32_t have = before->battery.have & poll->battery.have;
        double fallen = store_level_percent(&before->battery, have) - store_level_percent(&poll->battery, have);
        bool discharges = before->battery.status == BATTERY_DISCHARGING && poll->battery.status == BATTERY_DISCHARGING;
        bool others = discharges && isfinite(fallen) && isnan(poll->discharge_percent); /* the batteries were changed */

        return poll->start_ns == before->end_ns && !others && !(fabs(fallen - poll->discharge_percent) > DRIFT_PERCENT);
}

/* Rows of the poll that is being read. */
struct rows {
        bool (*needs)(const void *data, const struct store_poll *poll); /* NULL: each poll */
        const void *data;
        struct store_row *list;
        size_t capacity;
};

static void rows_clear(struct rows *rows)
{
        free(rows->list);
}

static enum cpu_split_by split_by(sqlite3_stmt *row)
{
        int64_t by = sqlite3_column_int64(row, SPLIT_BY);

        return by >= 0 && by <= SPLIT_COUNTED ? (enum cpu_split_by)by : SPLIT_UNKNOWN;
}

static int list_rows(struct store *store, const struct times *times, struct rows *rows)
{
        int err = util_grow(&rows->list, &rows->capacity, store->totals.n, sizeof(*rows->list));

        for (size_t i = 0; !err && i < store->totals.n; i++) {
                rows->list[i] = totals_row(store, i, times);
                rows->list[i].take = NULL; /* a poll is read several times */
        }
        return err;
}

static double known(const struct times *times, enum time_sum known_ns, enum time_sum sum)
{
        return times->sums[known_ns] > 0 ? (double)times->sums[sum] : NAN;
}

/* @rows: NULL: they are left out. */
static int read_poll(struct store *store, sqlite3_stmt *row, struct rows *rows, struct store_poll *ret)
{
        struct times times;
        int err = store_times_of_interval(row, &times);

        totals_reset(&store->totals);
        if (err)
                return err;
        *ret = (struct store_poll){
                .start_ns = times.start_ns,
                .end_ns = times.end_ns,
                .elapsed_ns = (uint64_t)times.sums[SUM_ELAPSED_NS],
                .suspend_ns = (uint64_t)sqlite3_column_int64(row, SUSPEND),
                .discharge_j = known(&times, SUM_KNOWN_NS, SUM_DISCHARGE_UJ) / 1e6,
                .discharge_percent = known(&times, SUM_PERCENT_KNOWN_NS, SUM_DISCHARGE_NPERCENT) / 1e9,
                .split_by = split_by(row),
        };
        ret->signal = store_read_signal(row);
        store_read_battery(row, BATTERY, &ret->battery);
        if (!rows || (rows->needs && !rows->needs(rows->data, ret)))
                return 0;
        err = totals_add_interval(store, &store->totals, row);
        if (!err)
                err = list_rows(store, &times, rows);
        ret->rows = rows->list;
        ret->n_rows = store->totals.n;
        return err;
}

static int walk(struct store *store, int64_t from_ns, int64_t to_ns, struct rows *rows,
                int (*poll)(void *data, const struct store_poll *poll), void *data)
{
        sqlite3_stmt *polls;
        int more = 0, stop = 0, err = store_run(store, SQL_BEGIN_READ);

        if (err)
                return err;
        err = rows ? store_load_names(store) : 0;
        polls = err ? NULL : store_statement(store, SQL_POLLS);
        if (!err && !polls)
                err = -EBADMSG;
        if (polls) {
                sqlite3_bind_int64(polls, 1, from_ns);
                sqlite3_bind_int64(polls, 2, to_ns);
        }
        while (!err && !stop && (more = store_step(store, polls)) == 1) {
                struct store_poll one;

                err = read_poll(store, polls, rows, &one);
                if (!err)
                        stop = poll(data, &one);
        }
        sqlite3_reset(polls);
        totals_reset(&store->totals);
        err = store_finish(store, store_told(store, err ? err : MIN(more, 0)));
        return err ? err : stop;
}

int store_polls_that(struct store *store, int64_t from_ns, int64_t to_ns,
                     bool (*needs)(const void *data, const struct store_poll *poll),
                     int (*poll)(void *data, const struct store_poll *poll), void *data)
{
        _cleanup_(rows_clear) struct rows rows = { .needs = needs, .data = data };

        return walk(store, from_ns, to_ns, &rows, poll, data);
}

int store_polls(struct store *store, int64_t from_ns, int64_t to_ns,
                int (*poll)(void *data, const struct store_poll *poll), void *data)
{
        return store_polls_that(store, from_ns, to_ns, NULL, poll, data);
}

int store_levels(struct store *store, int64_t from_ns, int64_t to_ns,
                 int (*poll)(void *data, const struct store_poll *poll), void *data)
{
        return walk(store, from_ns, to_ns, NULL, poll, data);
}
