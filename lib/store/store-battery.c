/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The battery's last levels, the steps in which they fall, and the time span of the records. */

#include <errno.h>

#include "store-private.h"
#include "util/util.h"

void store_read_battery(sqlite3_stmt *row, int column, struct battery *battery)
{
        const struct {
                uint32_t have;
                uint64_t *value;
        } columns[] = {
                { BATTERY_CHARGE_NOW, &battery->charge_now_uah },   { BATTERY_CHARGE_FULL, &battery->charge_full_uah },
                { BATTERY_ENERGY_NOW, &battery->energy_now_uwh },   { BATTERY_ENERGY_FULL, &battery->energy_full_uwh },
                { BATTERY_VOLTAGE, &battery->voltage_uv },          { BATTERY_POWER, &battery->power_uw },
        };
        int64_t status = sqlite3_column_int64(row, column), capacity = sqlite3_column_int64(row, column + 1);

        *battery = (struct battery){ .status = status > 0 && status <= BATTERY_FULL ? (enum battery_status)status
                                                                                     : BATTERY_UNKNOWN };
        if (sqlite3_column_type(row, column + 1) == SQLITE_INTEGER && capacity >= 0 && capacity <= 100) {
                battery->have |= BATTERY_CAPACITY;
                battery->capacity_percent = (uint32_t)capacity;
        }
        for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
                int64_t value = sqlite3_column_int64(row, column + 2 + (int)i);

                if (sqlite3_column_type(row, column + 2 + (int)i) != SQLITE_INTEGER || value < 0)
                        continue;
                battery->have |= columns[i].have;
                *columns[i].value = (uint64_t)value;
        }
        if (sqlite3_column_type(row, column + 8) == SQLITE_INTEGER) {
                battery->have |= BATTERY_TEMPERATURE;
                battery->temperature_dc = (int32_t)sqlite3_column_int64(row, column + 8);
        }
}

int store_read_last_battery(struct store *store, int64_t from_ns, int64_t to_ns, struct battery *ret)
{
        sqlite3_stmt *last = store_statement(store, SQL_LAST_BATTERY);
        int more;

        if (!last)
                return -EBADMSG;
        sqlite3_bind_int64(last, 1, from_ns);
        sqlite3_bind_int64(last, 2, to_ns);
        more = store_step(store, last);
        if (more == 1) {
                store_read_battery(last, 0, ret);
                sqlite3_reset(last);
        }
        return more < 0 ? more : 0;
}

static int find_span(struct store *store, int64_t *first_ns, int64_t *last_ns)
{
        sqlite3_stmt *span = store_statement(store, SQL_SPAN);
        bool any;
        int more;

        if (!span)
                return -EBADMSG;
        more = store_step(store, span);
        if (more != 1)
                return more < 0 ? more : -EBADMSG;
        any = sqlite3_column_type(span, 0) != SQLITE_NULL;
        *first_ns = sqlite3_column_int64(span, 0);
        *last_ns = sqlite3_column_int64(span, 1);
        sqlite3_reset(span);
        return !any ? -ENODATA : store_is_span(*first_ns, *last_ns) ? 0 : -EBADMSG;
}

int store_span(struct store *store, int64_t *first_ns, int64_t *last_ns)
{
        int err = store_run(store, SQL_BEGIN_READ);

        return err ? err : store_finish(store, store_told(store, find_span(store, first_ns, last_ns)));
}

int store_last_battery(struct store *store, struct battery *ret)
{
        int err = store_run(store, SQL_BEGIN_READ);

        *ret = (struct battery){ 0 };
        if (err)
                return err;
        err = store_read_last_battery(store, INT64_MIN, INT64_MAX, ret);
        return store_finish(store, store_told(store, err));
}

static int find_battery_step(struct store *store, struct battery *ret)
{
        sqlite3_stmt *steps = store_statement(store, SQL_BATTERY_STEP);
        struct battery step = { 0 };
        int more;

        if (!steps)
                return -EBADMSG;
        sqlite3_bind_int64(steps, 1, BATTERY_DISCHARGING);
        more = store_step(store, steps);
        if (more == 1) {
                int64_t capacity = sqlite3_column_int64(steps, 0), charge = sqlite3_column_int64(steps, 1),
                        energy = sqlite3_column_int64(steps, 2);

                step.have = (capacity > 0 && capacity <= 100 ? BATTERY_CAPACITY : 0) |
                            (charge > 0 ? BATTERY_CHARGE_NOW : 0) | (energy > 0 ? BATTERY_ENERGY_NOW : 0);
                step.capacity_percent = (uint32_t)(step.have & BATTERY_CAPACITY ? capacity : 0);
                step.charge_now_uah = (uint64_t)MAX(charge, 0);
                step.energy_now_uwh = (uint64_t)MAX(energy, 0);
                sqlite3_reset(steps);
                *ret = step;
        }
        return more < 0 ? more : 0;
}

/* A day of polls is read for it: once, as long as the database stays the same. */
int store_battery_step(struct store *store, struct battery *ret)
{
        uint32_t version = 0;
        int err = store_run(store, SQL_BEGIN_READ);

        if (err)
                return err;
        err = store_read_version(store, &version);
        if (!err && (!store->step_known || store->step_version != version)) {
                store->step = (struct battery){ 0 };
                err = find_battery_step(store, &store->step);
                store->step_known = !err;
                store->step_version = version;
        }
        err = store_finish(store, err);
        if (!err)
                *ret = store->step;
        return err;
}
