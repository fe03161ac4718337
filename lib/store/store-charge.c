/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * When the battery began to charge, was full, and was used again. Polls go after two days, and hours do not know the
 * battery's state, so each change has a small row of its own: "since the last full charge" may be a week.
 */

#include <errno.h>
#include <math.h>

#include "store-private.h"

/* A rise of the level on battery power that no gauge's noise explains: it was charged while nothing was recorded. */
#define UNSEEN_PERCENT 3

#define FULL_PERCENT 99

/* Another full charge, by more than this part: another battery, and its level says nothing of a charger. */
#define SAME_FULL 0.02

static bool is_full_of(uint64_t full, uint64_t before)
{
        return full == 0 || before == 0 || fabs((double)full - (double)before) <= SAME_FULL * (double)before;
}

static uint64_t shown(const struct battery *battery, uint32_t bit, uint64_t full)
{
        return battery->have & bit ? full : 0;
}

/* Takes the level of the battery over. False: it is another battery than before. */
static bool set_level(struct store_power *power, const struct battery *battery)
{
        uint64_t charge = shown(battery, BATTERY_CHARGE_FULL, battery->charge_full_uah),
                 energy = shown(battery, BATTERY_ENERGY_FULL, battery->energy_full_uwh);
        bool same = is_full_of(charge, power->charge_full_uah) && is_full_of(energy, power->energy_full_uwh);

        power->level_percent = store_level_percent(battery, battery->have);
        power->charge_full_uah = charge;
        power->energy_full_uwh = energy;
        return same;
}

/* -1: unknown. Where it no longer charges on external power, it is as full as its charger or its owner lets it be. */
static int state_of(const struct battery *battery)
{
        switch (battery->status) {
        case BATTERY_DISCHARGING:
                return STORE_ON_BATTERY;
        case BATTERY_CHARGING:
                return STORE_CHARGING;
        case BATTERY_NOT_CHARGING:
        case BATTERY_FULL:
                return STORE_FULL;
        default:
                return -1;
        }
}

static int load(struct store *store)
{
        sqlite3_stmt *row = store_statement(store, SQL_LAST_CHARGE);
        struct store_power *power = &store->power;
        struct battery battery = { 0 };
        int more = row ? store_step(store, row) : -EBADMSG;

        if (more < 0)
                return more;
        *power = (struct store_power){ .known = true, .state = -1, .level_percent = NAN };
        if (more == 1)
                power->state = sqlite3_column_int(row, 0);
        sqlite3_reset(row);
        if (more == 0 || !(row = store_statement(store, SQL_LAST_BATTERY)))
                return more == 0 ? 0 : -EBADMSG;
        sqlite3_bind_int64(row, 1, INT64_MIN);
        sqlite3_bind_int64(row, 2, INT64_MAX);
        more = store_step(store, row);
        if (more < 0)
                return more;
        if (more == 1) {
                store_read_battery(row, 0, &battery);
                set_level(power, &battery);
        }
        sqlite3_reset(row);
        return 0;
}

static int put(struct store *store, int64_t start_ns, int state, double level_percent, const struct battery *battery)
{
        sqlite3_stmt *add = store_statement(store, SQL_ADD_CHARGE);
        int err;

        if (!add)
                return -EBADMSG;
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, start_ns);
        sqlite3_bind_int(add, 2, state);
        if (level_percent >= 0 && level_percent <= 1000)
                sqlite3_bind_int64(add, 3, llround(level_percent * 1e9));
        if (battery->have & BATTERY_CHARGE_FULL)
                sqlite3_bind_int64(add, 4, store_clamp(battery->charge_full_uah));
        if (battery->have & BATTERY_ENERGY_FULL)
                sqlite3_bind_int64(add, 5, store_clamp(battery->energy_full_uwh));
        err = store_step(store, add);
        return err ? err : store_run(store, SQL_DROP_CHARGES);
}

int charge_put(struct store *store, const struct interval *interval)
{
        const struct battery *battery = &interval->battery;
        struct store_power *power = &store->power;
        double level = store_level_percent(battery, battery->have), before;
        int state = interval->have & SAMPLE_BATTERY ? state_of(battery) : -1, err = power->known ? 0 : load(store);
        bool unseen, changed;

        if (err || state < 0)
                return err;
        before = power->level_percent;
        unseen = set_level(power, battery) && state == STORE_ON_BATTERY && power->state == STORE_ON_BATTERY &&
                 level > before + UNSEEN_PERCENT;
        /* A full battery is topped up now and then, and some change their mind with every poll. */
        changed = state != power->state && !(state == STORE_CHARGING && power->state == STORE_FULL);
        if (unseen)
                err = put(store, interval->start_realtime_ns - 1,
                          level >= FULL_PERCENT ? STORE_FULL : STORE_CHARGING, level, battery);
        if (!err && (changed || unseen))
                err = put(store, interval->start_realtime_ns, state, level, battery);
        if (changed)
                power->state = state;
        return err;
}

static bool read_charge(sqlite3_stmt *row, struct store_charge *ret)
{
        int64_t state = sqlite3_column_int64(row, 1);

        if (state < STORE_ON_BATTERY || state > STORE_FULL)
                return false;
        *ret = (struct store_charge){
                .start_ns = sqlite3_column_int64(row, 0),
                .state = (enum store_power_state)state,
                .level_percent = store_is_number(row, 2) ? (double)sqlite3_column_int64(row, 2) / 1e9 : NAN,
                .charge_full_uah = store_is_number(row, 3) ? (double)sqlite3_column_int64(row, 3) : NAN,
                .energy_full_uwh = store_is_number(row, 4) ? (double)sqlite3_column_int64(row, 4) : NAN,
        };
        return true;
}

int store_charges(struct store *store, int64_t from_ns, int64_t to_ns,
                  int (*each)(void *data, const struct store_charge *charge), void *data)
{
        sqlite3_stmt *rows = store_statement(store, SQL_CHARGES);
        int more = 0, stop = 0;

        if (!rows)
                return -EBADMSG;
        sqlite3_bind_int64(rows, 1, from_ns);
        sqlite3_bind_int64(rows, 2, to_ns);
        while (!stop && (more = store_step(store, rows)) == 1) {
                struct store_charge charge;

                if (read_charge(rows, &charge))
                        stop = each(data, &charge);
        }
        sqlite3_reset(rows);
        return more < 0 ? more : stop;
}

int store_since(struct store *store, enum store_event event, int64_t *ret)
{
        static const enum statement statements[] = {
                [STORE_SINCE_FULL] = SQL_SINCE_FULL,
                [STORE_SINCE_UNPLUG] = SQL_SINCE_UNPLUG,
                [STORE_SINCE_RESUME] = SQL_SINCE_RESUME,
        };
        sqlite3_stmt *row = store_statement(store, statements[event]);
        int more = row ? store_step(store, row) : -EBADMSG;

        if (more == 1 && sqlite3_column_type(row, 0) == SQLITE_INTEGER)
                *ret = sqlite3_column_int64(row, 0);
        else if (more >= 0)
                more = -ENODATA;
        sqlite3_reset(row);
        return more < 0 ? more : 0;
}
