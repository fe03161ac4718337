/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A database of an older version becomes one of this version, in one transaction: a crash leaves what was there. Tables
 * and columns that came later are added, periods are read as that version wrote them and packed anew, and table usage
 * gets all columns. A new column of an amount needs nothing here; a new table, or another column, is a row of steps[].
 */

#include <errno.h>

#include "radio/radio-pack.h"
#include "store-private.h"
#include "util/util.h"

_Static_assert(RADIO_PACK_VERSION == 1, "amounts of radios that an older version packed must be packed anew here");

/* For versions below @before. */
static const struct {
        int64_t before;
        const char *text;
} steps[] = {
        { 50000, "ALTER TABLE interval ADD COLUMN wifi_signal_dbm INTEGER;"
                 "ALTER TABLE interval ADD COLUMN cellular_signal_percent INTEGER;"
                 "ALTER TABLE period ADD COLUMN wifi_signal_ns INTEGER NOT NULL DEFAULT 0;"
                 "ALTER TABLE period ADD COLUMN wifi_signal_dbm_ns INTEGER NOT NULL DEFAULT 0;"
                 "ALTER TABLE period ADD COLUMN cellular_signal_ns INTEGER NOT NULL DEFAULT 0;"
                 "ALTER TABLE period ADD COLUMN cellular_signal_percent_ns INTEGER NOT NULL DEFAULT 0;" },
        { STORE_CHARGES_SINCE, STORE_CHARGE_TABLE },
        { STORE_SUMMARIES_SINCE, STORE_SUMMARY_TABLE },
};

static int add_tables(struct store *store, int64_t version)
{
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(steps); i++)
                if (version < steps[i].before)
                        err = store_execute(store, steps[i].text);
        return err;
}

static int list_periods(struct store *store, int64_t **ret, size_t *n)
{
        sqlite3_stmt *rows = store_statement(store, SQL_PERIODS);
        size_t capacity = 0;
        int more = 0, err = 0;

        if (!rows)
                return -EBADMSG;
        while (!err && (more = store_step(store, rows)) == 1) {
                err = util_grow(ret, &capacity, *n + 1, sizeof(**ret));
                if (!err)
                        (*ret)[(*n)++] = sqlite3_column_int64(rows, 0);
        }
        sqlite3_reset(rows);
        return err ? err : more;
}

static int drop_summary(struct store *store, int64_t period)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_SUMMARY);

        if (!drop)
                return -EBADMSG;
        sqlite3_bind_int64(drop, 1, period);
        return store_step(store, drop);
}

static int convert_period(struct store *store, int64_t period)
{
        int err;

        totals_reset(&store->totals);
        err = totals_add_period(store, &store->totals, period);
        if (!err && !store->rows_apart)
                err = drop_summary(store, period);
        return err ? err : store_add_summary(store, period, &store->totals);
}

static int convert_periods(struct store *store)
{
        _cleanup_free_ int64_t *periods = NULL;
        size_t n = 0;
        int err = list_periods(store, &periods, &n);

        for (size_t i = 0; !err && i < n; i++)
                err = convert_period(store, periods[i]);
        totals_reset(&store->totals);
        return err || !store->rows_apart ? err : store_execute(store, "DROP TABLE period_usage");
}

/* The order of its columns is that of the amounts in the summaries, so they are not just added at its end. */
static int convert_usage(struct store *store)
{
        char *text = store_usage_columns(store, "ALTER TABLE usage RENAME TO older_usage;" STORE_USAGE_TABLE
                                                "INSERT INTO usage (id, interval, @ALL_COLUMNS@)"
                                                " SELECT id, interval, @COLUMNS@ FROM older_usage;"
                                                "DROP TABLE older_usage;");
        int err = text ? store_execute(store, text) : -ENOMEM;

        sqlite3_free(text);
        return err;
}

void store_is_converted(struct store *store)
{
        for (size_t i = 0; i < SQL_COUNT; i++) { /* their texts have the older columns */
                sqlite3_finalize(store->statements[i]);
                store->statements[i] = NULL;
        }
        store_layout_fill(&store->layout);
        store->rows_apart = false;
}

int store_convert(struct store *store, int64_t version)
{
        int err = store_run(store, SQL_BEGIN_WRITE);

        if (err)
                return err;
        err = add_tables(store, version);
        if (!err)
                err = names_load(store);
        if (!err)
                err = convert_periods(store);
        if (!err && !store_layout_is_full(&store->layout))
                err = convert_usage(store);
        if (!err)
                err = store_set_version(store);
        err = store_finish(store, store_told(store, err));
        if (err)
                return err;
        store_is_converted(store);
        log_info(store->log, "%s of an older version of joulecast is converted; nothing of it is lost", store->path);
        return 0;
}
