/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables of usage.db, every statement, and the border to SQLite. */

#include <errno.h>
#include <string.h>

#include "store-checksum.h"
#include "radio/radio-pack.h"
#include "store-private.h"
#include "util/util.h"

#define APPLICATION_ID 0x4a4f554c         /* "JOUL": a machine recorded it */
#define APPLICATION_ID_VIRTUAL 0x4a4f5556 /* "JOUV": a virtual device did it */

/* Each amount has its columns, so a database with fewer of them is an older one. */
#define AMOUNTS_VERSION (1000 * RADIO_PACK_VERSION + 100 * KEYED_COUNT + AMOUNT_COUNT)
#define SCHEMA_VERSION (STORE_SUMMARIES_SINCE + AMOUNTS_VERSION)
/* A writer converts older ones, from the first one that packs the amounts of radios as this one does ... */
#define OLDEST_VERSION 41000
/* ... and readers read those that have the same tables and columns, but for amounts and summaries. */
#define READABLE_VERSION 60000

/* A poll changes a few pages, and each is written whole: 10 kB a poll with these, 20 kB with SQLite's of 4096. */
#define PAGE_SIZE "1024"

#define NEVER "-9223372036854775808" /* INT64_MIN */

/*
 * Times are realtime ns; a span of time is open at its start and closed at its end. One row of `interval` for each
 * poll, of `usage` for each owner (app, user, state) in it; from there into periods of an hour (grain 1)
 * and periods of a day (grain 2), one for each bucket, with what all owners used in `summary`
 * (store-summary.c). Clocks jump, so how far that has come (`mark`) and what is old goes by `recorded_ns`:
 * all time that was recorded until then. `split_by` is enum cpu_split_by; a period has the time in which
 * CPU time was split in either way, and the sums of enum time_sum.
 * @COLUMNS@ and the like are the table of amounts (store_usage_columns()); store-usage.c describes them.
 */
static const char schema[] =
        "CREATE TABLE app (id INTEGER PRIMARY KEY, app TEXT NOT NULL, uid INTEGER NOT NULL, name TEXT,"
        " UNIQUE (app, uid));"
        "CREATE TABLE key (id INTEGER PRIMARY KEY, keyed INTEGER NOT NULL, \"group\" INTEGER NOT NULL,"
        " key INTEGER NOT NULL, UNIQUE (keyed, \"group\", key));"
        "CREATE TABLE alive (id INTEGER PRIMARY KEY, apps BLOB NOT NULL);"
        "CREATE TABLE interval (end_ns INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
        " suspend_ns INTEGER NOT NULL, discharge_uj INTEGER, discharge_npercent INTEGER,"
        " battery_status INTEGER, capacity_percent INTEGER, charge_now_uah INTEGER, charge_full_uah INTEGER,"
        " energy_now_uwh INTEGER, energy_full_uwh INTEGER, voltage_uv INTEGER, power_uw INTEGER,"
        " temperature_dc INTEGER, wifi_signal_dbm INTEGER, cellular_signal_percent INTEGER,"
        " alive INTEGER REFERENCES alive, first_usage INTEGER NOT NULL,"
        " n_usages INTEGER NOT NULL, shape BLOB, split_by INTEGER, recorded_ns INTEGER NOT NULL);"
        STORE_USAGE_TABLE
        "CREATE TABLE period (id INTEGER PRIMARY KEY, grain INTEGER NOT NULL, bucket_ns INTEGER NOT NULL,"
        " start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
        " known_ns INTEGER NOT NULL, percent_known_ns INTEGER NOT NULL, discharge_uj INTEGER NOT NULL,"
        " discharge_npercent INTEGER NOT NULL, counted_ns INTEGER NOT NULL, shared_ns INTEGER NOT NULL,"
        " wifi_signal_ns INTEGER NOT NULL, wifi_signal_dbm_ns INTEGER NOT NULL,"
        " cellular_signal_ns INTEGER NOT NULL, cellular_signal_percent_ns INTEGER NOT NULL,"
        " recorded_ns INTEGER NOT NULL, details INTEGER NOT NULL, UNIQUE (grain, bucket_ns));"
        STORE_SUMMARY_TABLE
        "CREATE TABLE mark (folded_ns INTEGER NOT NULL, open_ns INTEGER NOT NULL);"
        "INSERT INTO mark VALUES (0, " NEVER ");"
        "CREATE TABLE sleep (end_ns INTEGER PRIMARY KEY, elapsed_ns INTEGER NOT NULL, suspend_ns INTEGER NOT NULL,"
        " discharge_uj INTEGER, discharge_npercent INTEGER, recorded_ns INTEGER NOT NULL);"
        STORE_CHARGE_TABLE;

static const char begin_anew[] =
        "DELETE FROM usage; DELETE FROM summary; DELETE FROM period; DELETE FROM interval; DELETE FROM sleep;"
        "DELETE FROM charge; DELETE FROM alive; DELETE FROM key; DELETE FROM app;"
        "UPDATE mark SET folded_ns = 0, open_ns = " NEVER ";";

/* And that of the periods' apps. */
#define TABLES "'app','key','alive','interval','usage','period','mark','sleep'"
#define N_TABLES 10

#define INTERVAL_COLUMNS                                                                                     \
        "SELECT end_ns, start_ns, elapsed_ns, suspend_ns, discharge_uj, discharge_npercent, first_usage, n_usages," \
        " shape, apps, split_by, recorded_ns, wifi_signal_dbm, cellular_signal_percent"
#define INTERVAL_TABLES " FROM interval LEFT JOIN alive ON alive.id = interval.alive"
#define INTERVALS INTERVAL_COLUMNS INTERVAL_TABLES
#define BATTERY_COLUMNS                                                                                      \
        "battery_status, capacity_percent, charge_now_uah, charge_full_uah, energy_now_uwh, energy_full_uwh," \
        " voltage_uv, power_uw, temperature_dc"

/* Unknown stays unknown; a discharge is at most the whole battery. */
#define ADD_LATE "discharge_uj = max(discharge_uj + ?2, 0)," \
                 " discharge_npercent = min(max(discharge_npercent + ?3, 0), 100000000000) WHERE end_ns = ?1"

#define PERIOD_TIMES                                                                                         \
        "start_ns, end_ns, elapsed_ns, known_ns, percent_known_ns, discharge_uj, discharge_npercent, counted_ns," \
        " shared_ns, wifi_signal_ns, wifi_signal_dbm_ns, cellular_signal_ns, cellular_signal_percent_ns, recorded_ns," \
        " details"

static const char *const statement_text[SQL_COUNT] = {
        [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
        [SQL_BEGIN_READ] = "BEGIN",
        [SQL_COMMIT] = "COMMIT",
        [SQL_ROLLBACK] = "ROLLBACK",
        [SQL_APPS] = "SELECT id, app, uid, name FROM app ORDER BY id",
        [SQL_ADD_APP] = "INSERT INTO app (app, uid) VALUES (?1, ?2)",
        [SQL_USED_APPS] = "SELECT DISTINCT app FROM usage",
        [SQL_DROP_APP] = "DELETE FROM app WHERE id = ?1",
        [SQL_ALIVE] = "SELECT apps FROM alive",
        [SQL_KEYS] = "SELECT id, keyed, \"group\", key FROM key ORDER BY id",
        [SQL_ADD_KEY] = "INSERT INTO key (keyed, \"group\", key) VALUES (?1, ?2, ?3)",
        [SQL_ADD_ALIVE] = "INSERT INTO alive (apps) VALUES (?1)",
        [SQL_HAS_INTERVAL] = "SELECT 1 FROM interval WHERE end_ns = ?1",
        [SQL_LAST_KEY] = "SELECT max(end_ns), max(ifnull(max(recorded_ns), 0), (SELECT folded_ns FROM mark)) "
                         "FROM interval",
        [SQL_ADD_INTERVAL] =
                "INSERT INTO interval (end_ns, start_ns, elapsed_ns, suspend_ns, discharge_uj, discharge_npercent,"
                " battery_status, capacity_percent, charge_now_uah, charge_full_uah, energy_now_uwh, energy_full_uwh,"
                " voltage_uv, power_uw, temperature_dc, alive, first_usage, n_usages, shape, split_by, recorded_ns,"
                " wifi_signal_dbm, cellular_signal_percent)"
                " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23)",
        [SQL_ADD_USAGE] = "INSERT INTO usage (interval, @COLUMNS@) VALUES @ROW@",
        [SQL_ADD_COMMON_USAGES] = "INSERT INTO usage (interval, @COMMON_COLUMNS@) VALUES @COMMON_ROWS@",
        [SQL_LAST_USAGE] = "SELECT ifnull(max(id), 0) FROM usage",
        [SQL_USAGE] = "SELECT interval, @COLUMNS@ FROM usage WHERE id >= ?1 AND id < ?2 AND interval = ?3",
        [SQL_USAGE_TIMES] = "SELECT interval, app, state, active_ns, time_ns, suspend_ns FROM usage"
                            " WHERE id >= ?1 AND id < ?2 AND interval = ?3",
        [SQL_RAW_PIECES] = "SELECT end_ns, start_ns, recorded_ns FROM interval WHERE end_ns > ?1 AND end_ns <= ?2",
        [SQL_PERIOD_PIECES] = "SELECT id, bucket_ns, details, " PERIOD_TIMES " FROM period"
                              " WHERE grain = ?1 AND bucket_ns > ?2 AND bucket_ns < ?3 ORDER BY bucket_ns",
        [SQL_INTERVAL] = INTERVALS " WHERE end_ns = ?1",
        [SQL_POLLS] = INTERVAL_COLUMNS ", " BATTERY_COLUMNS INTERVAL_TABLES
                                       " WHERE end_ns > ?1 AND end_ns <= ?2 ORDER BY end_ns",
        [SQL_CLOSED] = "SELECT max(recorded_ns) FROM interval WHERE end_ns > ?1 AND recorded_ns > ?2"
                       " AND recorded_ns <= ?3 AND NOT (end_ns > ?4 AND end_ns <= ?5)",
        [SQL_DUE] = INTERVALS " WHERE end_ns > ?1 AND recorded_ns > ?2 AND recorded_ns <= ?3 ORDER BY recorded_ns",
        [SQL_OPEN] = "SELECT min(end_ns) FROM interval WHERE end_ns > ?1 AND recorded_ns > ?2",
        [SQL_PERIOD] = "SELECT " PERIOD_TIMES " FROM period WHERE id = ?1",
        [SQL_FIND_PERIOD] = "SELECT id FROM period WHERE grain = ?1 AND bucket_ns = ?2",
        [SQL_PERIOD_USAGE] = "SELECT period, @COLUMNS@ FROM period_usage WHERE period = ?1",
        [SQL_PERIOD_USAGE_TIMES] = "SELECT period, app, state, active_ns, time_ns, suspend_ns FROM period_usage"
                                   " WHERE period = ?1",
        [SQL_ADD_PERIOD] = "INSERT INTO period (grain, bucket_ns, " PERIOD_TIMES ")"
                           " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)",
        [SQL_ADD_SUMMARY] = "INSERT INTO summary (period, usages) VALUES (?1, ?2)",
        [SQL_SUMMARY] = "SELECT usages FROM summary WHERE period = ?1",
        [SQL_SUMMARIES] = "SELECT usages FROM summary",
        [SQL_PERIODS] = "SELECT id FROM period ORDER BY id",
        [SQL_DROP_PERIOD] = "DELETE FROM period WHERE id = ?1",
        [SQL_DROP_SUMMARY] = "DELETE FROM summary WHERE period = ?1",
        [SQL_LAST_BATTERY] =
                "SELECT " BATTERY_COLUMNS " FROM interval"
                " WHERE end_ns > ?1 AND end_ns <= ?2 AND battery_status IS NOT NULL ORDER BY end_ns DESC LIMIT 1",
        [SQL_SPAN] = "SELECT min(first), max(last) FROM (SELECT min(start_ns) AS first, max(end_ns) AS last FROM period"
                     " UNION ALL SELECT (SELECT start_ns FROM interval ORDER BY end_ns LIMIT 1), max(end_ns)"
                     " FROM interval)",
        /* A day of polls. */
        [SQL_BATTERY_STEP] =
                "SELECT min(iif(capacity > 0, capacity, NULL)), min(iif(charge > 0, charge, NULL)),"
                " min(iif(energy > 0, energy, NULL)) FROM (SELECT lag(capacity_percent) OVER time - capacity_percent"
                " AS capacity, lag(charge_now_uah) OVER time - charge_now_uah AS charge, lag(energy_now_uwh) OVER time"
                " - energy_now_uwh AS energy, ifnull(discharge_uj, discharge_npercent) AS known FROM (SELECT end_ns,"
                " capacity_percent, charge_now_uah, energy_now_uwh, discharge_uj, discharge_npercent"
                " FROM interval WHERE battery_status = ?1 ORDER BY end_ns DESC LIMIT 2880) WINDOW time AS (ORDER BY"
                " end_ns)) WHERE known IS NOT NULL",
        [SQL_LOOK] = "SELECT 1 FROM mark",
        [SQL_MARKS] = "SELECT folded_ns, open_ns FROM mark",
        [SQL_SET_MARKS] = "UPDATE mark SET folded_ns = ?1, open_ns = ?2",
        /* The newest interval stays: it knows the battery. */
        [SQL_DROP_INTERVALS] = "DELETE FROM interval WHERE recorded_ns <= ?1 AND recorded_ns < ?2",
        [SQL_OLD_INTERVALS] = "SELECT end_ns FROM interval WHERE recorded_ns <= ?1 AND recorded_ns < ?2",
        [SQL_DROP_DETAILS] = "UPDATE period SET details = 0 WHERE grain = ?1 AND bucket_ns = ?2",
        [SQL_DROP_ALIVE] = "DELETE FROM alive WHERE id < (SELECT min(alive) FROM interval)",
        [SQL_DROP_USAGE] = "DELETE FROM usage WHERE id < (SELECT min(first_usage) FROM interval)",
        [SQL_ADD_SLEEP] = "INSERT OR REPLACE INTO sleep (end_ns, elapsed_ns, suspend_ns, discharge_uj,"
                          " discharge_npercent, recorded_ns) VALUES (?1,?2,?3,?4,?5,?6)",
        [SQL_DROP_SLEEPS] = "DELETE FROM sleep WHERE recorded_ns < ?1",
        [SQL_SLEEPS] = "SELECT end_ns, elapsed_ns, suspend_ns, discharge_uj, discharge_npercent FROM sleep"
                       " WHERE end_ns > ?1 AND end_ns <= ?2 ORDER BY end_ns",
        [SQL_ADD_CHARGE] = "INSERT OR REPLACE INTO charge (start_ns, state, level_npercent, charge_full_uah,"
                           " energy_full_uwh) VALUES (?1,?2,?3,?4,?5)",
        [SQL_LAST_CHARGE] = "SELECT state FROM charge ORDER BY start_ns DESC LIMIT 1",
        /* Years of changes; or 300 kB of a battery that changes its mind with every poll. */
        [SQL_DROP_CHARGES] = "DELETE FROM charge WHERE start_ns <= (SELECT start_ns FROM charge ORDER BY start_ns DESC"
                             " LIMIT 1 OFFSET 10000)",
        [SQL_CHARGES] = "SELECT start_ns, state, level_npercent, charge_full_uah, energy_full_uwh FROM charge"
                        " WHERE start_ns > ?1 AND start_ns <= ?2 ORDER BY start_ns",
        [SQL_LAST_SUSPEND] = "SELECT end_ns FROM interval WHERE recorded_ns > ?1 AND suspend_ns > 0"
                             " ORDER BY recorded_ns DESC LIMIT 1",
        [SQL_ADD_LATE] = "UPDATE interval SET " ADD_LATE,
        [SQL_ADD_LATE_SLEEP] = "UPDATE sleep SET " ADD_LATE,
        [SQL_SET_LEVELS] = "UPDATE interval SET capacity_percent = iif(capacity_percent IS NULL, NULL, ?2),"
                           " charge_now_uah = iif(charge_now_uah IS NULL, NULL, ?3),"
                           " energy_now_uwh = iif(energy_now_uwh IS NULL, NULL, ?4) WHERE recorded_ns >="
                           " (SELECT recorded_ns FROM interval WHERE end_ns = ?1)",
        /* The change after it was full; the last poll, while it is. */
        [SQL_SINCE_FULL] = "SELECT ifnull((SELECT min(start_ns) FROM charge WHERE start_ns > full.at),"
                           " (SELECT max(end_ns) FROM interval)) FROM (SELECT max(start_ns) AS at FROM charge"
                           " WHERE state = 2) AS full WHERE full.at IS NOT NULL",
        [SQL_SINCE_UNPLUG] = "SELECT max(start_ns) FROM charge WHERE state = 0"
                             " AND start_ns > (SELECT min(start_ns) FROM charge WHERE state > 0)",
        [SQL_SINCE_RESUME] = "SELECT max(end_ns) FROM (SELECT max(end_ns) AS end_ns FROM interval"
                             " WHERE suspend_ns >= 1000000000 UNION ALL SELECT max(end_ns) FROM sleep)",
        [SQL_OLD_PERIODS] = "SELECT id, bucket_ns FROM period WHERE grain = ?1 AND recorded_ns <= ?2",
        [SQL_DOUBTFUL] = "SELECT end_ns, start_ns, first_usage, n_usages FROM interval"
                         " WHERE end_ns > ?1 AND recorded_ns > ?2 ORDER BY recorded_ns",
        [SQL_REDATE_INTERVAL] = "UPDATE interval SET end_ns = ?2, start_ns = ?3 WHERE end_ns = ?1",
        [SQL_REDATE_USAGE] = "UPDATE usage SET interval = ?2 WHERE id >= ?3 AND id < ?4 AND interval = ?1",
        [SQL_REDATE_SLEEP] = "UPDATE OR REPLACE sleep SET end_ns = ?2 WHERE end_ns = ?1",
        [SQL_REDATE_CHARGE] = "UPDATE OR REPLACE charge SET start_ns = start_ns + (?2 - ?1)"
                             " WHERE start_ns BETWEEN ?1 - 1 AND ?1",
        [SQL_INTERVALS_OF] = "SELECT end_ns, first_usage, n_usages, alive FROM interval WHERE end_ns > ?1 "
                             "AND end_ns <= ?2",
        [SQL_USAGE_APPS] = "SELECT id, app, state, active_ns FROM usage WHERE id >= ?1 AND id < ?2 AND interval = ?3",
        [SQL_GIVE_USAGE] = "UPDATE usage SET app = ?2, active_ns = ?3 WHERE id = ?1",
        [SQL_GET_ALIVE] = "SELECT apps FROM alive WHERE id = ?1",
        [SQL_SET_ALIVE] = "UPDATE interval SET alive = ?2 WHERE end_ns = ?1",
        [SQL_DROP_LOST_ALIVE] = "DELETE FROM alive WHERE id NOT IN (SELECT alive FROM interval WHERE alive "
                                "IS NOT NULL)",
        [SQL_PERIOD_BUCKETS] = "SELECT id, bucket_ns, details FROM period WHERE grain = ?1 AND bucket_ns > "
                               "?2 AND bucket_ns < ?3",
        [SQL_HOURS_OF] = "SELECT id FROM period WHERE grain = 1 AND bucket_ns >= ?1 AND bucket_ns < ?2 ORDER "
                         "BY bucket_ns",
        [SQL_FOLDED] = INTERVALS " WHERE end_ns > ?1 AND end_ns <= ?2 AND recorded_ns <= ?3 ORDER BY recorded_ns",
        [SQL_FORGET_USAGE] = "DELETE FROM usage WHERE interval > ?1 AND interval <= ?2",
        [SQL_FORGET_INTERVALS] = "DELETE FROM interval WHERE end_ns > ?1 AND end_ns <= ?2",
        [SQL_FORGET_SLEEPS] = "DELETE FROM sleep WHERE end_ns > ?1 AND end_ns <= ?2",
        [SQL_FORGET_CHARGES] = "DELETE FROM charge WHERE start_ns > ?1 AND start_ns <= ?2",
};

/* Number @column of a usage: its name and, where @types, its constraint. */
static void append_name(sqlite3_str *text, int column, bool types)
{
        static const char *const first[] = { "app", "state", "active_ns", "have" };
        int amount = column - USAGE_COLUMN_AMOUNTS, keyed = amount - AMOUNT_COUNT;

        if (amount < 0)
                sqlite3_str_appendf(text, "%s%s", first[column - USAGE_COLUMN_APP], types ? " NOT NULL" : "");
        else if (keyed < 0)
                sqlite3_str_appendall(text, amount_kinds[amount].word);
        else if (keyed % 2 == 0)
                sqlite3_str_appendf(text, "%s_%s", keyed_kinds[keyed / 2].word, keyed_kinds[keyed / 2].ns);
        else
                sqlite3_str_appendall(text, keyed_kinds[keyed / 2].word);
}

static bool has_column(const struct layout *layout, int column)
{
        int amount = column - USAGE_COLUMN_AMOUNTS, keyed = amount - AMOUNT_COUNT;

        return amount < 0 || (keyed < 0 ? store_layout_has_amount(layout, amount)
                                        : store_layout_has_keyed(layout, keyed / 2));
}

/* A column that @layout lacks is NULL; NULL as @layout: none lacks. */
static void append_names(sqlite3_str *text, const struct layout *layout, bool common, bool types)
{
        for (int column = USAGE_COLUMN_APP; column < USAGE_COLUMNS_END; column++) {
                if (common && !store_is_common_column(column))
                        continue;
                sqlite3_str_appendall(text, column > USAGE_COLUMN_APP ? ", " : "");
                if (layout && !has_column(layout, column))
                        sqlite3_str_appendall(text, "NULL");
                else
                        append_name(text, column, types);
        }
}

static void append_rows(sqlite3_str *text, bool common, int n)
{
        for (int row = 0; row < n; row++) {
                sqlite3_str_appendall(text, row ? ", (?" : "(?");
                for (int column = USAGE_COLUMN_APP; column < USAGE_COLUMNS_END; column++)
                        if (!common || store_is_common_column(column))
                                sqlite3_str_appendall(text, ", ?");
                sqlite3_str_appendall(text, ")");
        }
}

char *store_usage_columns(const struct store *store, const char *text)
{
        sqlite3_str *full = sqlite3_str_new(NULL);
        const char *at;

        for (; (at = strchr(text, '@')); text = strchr(at + 1, '@') + 1) {
                bool common = strncmp(at, "@COMMON_", 8) == 0;

                sqlite3_str_append(full, text, (int)(at - text));
                if (strncmp(at, "@ROW@", 5) == 0)
                        append_rows(full, false, 1);
                else if (strncmp(at, "@COMMON_ROWS@", 13) == 0)
                        append_rows(full, true, USAGES_AT_ONCE);
                else if (strncmp(at, "@TYPES@", 7) == 0 || strncmp(at, "@ALL_COLUMNS@", 13) == 0)
                        append_names(full, NULL, false, at[1] == 'T');
                else
                        append_names(full, &store->layout, common, false);
        }
        sqlite3_str_appendall(full, text);
        return sqlite3_str_finish(full);
}

static int errno_of_code(const struct store *store, int code)
{
        if (code == SQLITE_IOERR_DATA)
                return -EBADMSG; /* a checksum */
        switch (code & 0xff) {
        case SQLITE_OK:
                return 0;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EACCES;
        case SQLITE_CANTOPEN:
                return sqlite3_system_errno(store->db) == EMFILE ? -EMFILE : -ENOENT;
        case SQLITE_IOERR:
                return -EIO;
        default:
                return -EBADMSG;
        }
}

int errno_from_sqlite(struct store *store, int code)
{
        int err = errno_of_code(store, code);

        if (code == store->told)
                return err;
        store->told = code;
        if (code == SQLITE_IOERR_DATA || code == SQLITE_CORRUPT) {
                store->told = SQLITE_OK;
                return store_damaged(store);
        }
        if (err == -EBADMSG)
                log_error(store->log, "%s is damaged or no usage database (%s); move it away to start anew",
                          store->path, sqlite3_errstr(code));
        else if (err)
                log_error(store->log, "cannot use %s: %s", store->path,
                          err == -EMFILE ? util_reason(err) : sqlite3_errstr(code));
        return err;
}

int store_damaged(struct store *store)
{
        if (store->told != SQLITE_CORRUPT)
                log_error(store->log, "%s is damaged; move it away to start anew", store->path);
        store->told = SQLITE_CORRUPT;
        return -EBADMSG;
}

sqlite3_stmt *store_statement(struct store *store, enum statement which)
{
        sqlite3_stmt **statement = &store->statements[which];

        if (!*statement) {
                char *text = store_usage_columns(store, statement_text[which]);
                int code = text ? sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) :
                                  SQLITE_NOMEM;

                sqlite3_free(text);
                if (code != SQLITE_OK) {
                        errno_from_sqlite(store, code);
                        *statement = NULL;
                }
        }
        return *statement;
}

int store_step(struct store *store, sqlite3_stmt *statement)
{
        int code = sqlite3_step(statement);

        if (code == SQLITE_ROW)
                return 1;
        sqlite3_reset(statement);
        return code == SQLITE_DONE ? 0 : errno_from_sqlite(store, code);
}

int store_run(struct store *store, enum statement which)
{
        sqlite3_stmt *statement = store_statement(store, which);
        int err = statement ? store_step(store, statement) : store->told == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;

        if (err == 1)
                sqlite3_reset(statement);
        return err < 0 ? err : 0;
}

int store_begin(struct store *store)
{
        return sqlite3_get_autocommit(store->db) ? store_run(store, SQL_BEGIN_WRITE) : 0;
}

int store_finish(struct store *store, int err)
{
        if (!err)
                err = store_run(store, SQL_COMMIT);
        if (err && !sqlite3_get_autocommit(store->db))
                store_run(store, SQL_ROLLBACK);
        return err;
}

int store_execute(struct store *store, const char *text)
{
        int code = sqlite3_exec(store->db, text, NULL, NULL, NULL);

        return code == SQLITE_OK ? 0 : errno_from_sqlite(store, code);
}

/* No prepared statements: this happens when its text is read. */
int store_wait_for_disk(struct store *store, bool wait)
{
        return store_execute(store, wait ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

static int query_number(struct store *store, const char *text, int64_t *ret)
{
        sqlite3_stmt *statement;
        int code = sqlite3_prepare_v2(store->db, text, -1, &statement, NULL);

        if (code == SQLITE_OK) {
                code = sqlite3_step(statement);
                if (code == SQLITE_ROW)
                        *ret = sqlite3_column_int64(statement, 0);
                code = sqlite3_finalize(statement);
        }
        return code == SQLITE_OK ? 0 : errno_from_sqlite(store, code);
}

static int refuse(const struct store *store, const char *why)
{
        log_error(store->log,
                  "%s is no usage database of this version of joulecast (%s); move it away to start anew",
                  store->path, why);
        return -EBADMSG;
}

/*
 * Real tables by our names, no view that pretends to be one and no trigger:
 * what others wrote is data only.
 */
static int check_tables(struct store *store, int64_t version)
{
        int64_t tables = 0, strangers = 0;
        int err = query_number(store,
                               "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (" TABLES
                               ",'charge','summary','period_usage')",
                               &tables);

        if (!err)
                err = query_number(store,
                                   "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')"
                                   " OR sql LIKE '%VIRTUAL%' OR sql LIKE '%GENERATED%'",
                                   &strangers);
        if (err)
                return err;
        if (tables != N_TABLES - (version < STORE_CHARGES_SINCE) || strangers > 0)
                return refuse(store, strangers > 0 ? "it holds views or triggers" : "tables are missing");
        return 0;
}

static bool is_simulated(const struct store *store)
{
        return store->mode == STORE_SIMULATE || store->mode == STORE_SIMULATE_MORE;
}

int store_set_version(struct store *store)
{
        char text[64];

        snprintf(text, sizeof(text), "PRAGMA user_version = %d", SCHEMA_VERSION);
        return store_execute(store, text);
}

int store_follow_version(struct store *store)
{
        int64_t version = 0;
        int err;

        if (!store->rows_apart && store_layout_is_full(&store->layout))
                return 0;
        err = query_number(store, "PRAGMA user_version", &version);
        if (!err && version == SCHEMA_VERSION)
                store_is_converted(store);
        return err;
}

static int32_t application_id(const struct store *store)
{
        return is_simulated(store) ? APPLICATION_ID_VIRTUAL : APPLICATION_ID;
}

static int create(struct store *store)
{
        char *tables = store_usage_columns(store, schema);
        int sum_bytes = STORE_SUM_BYTES;
        char *text = sqlite3_mprintf("PRAGMA page_size = " PAGE_SIZE "; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;"
                                     " %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;", tables,
                                     application_id(store), SCHEMA_VERSION);
        int err;

        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &sum_bytes);
        err = tables && text ? store_execute(store, text) : -ENOMEM;
        sqlite3_free(tables);
        sqlite3_free(text);
        return err;
}

/* In one transaction: a crash leaves what was there. */
static int empty(struct store *store)
{
        int err = store_execute(store, "BEGIN IMMEDIATE");

        if (!err)
                err = store_execute(store, begin_anew);
        return store_finish(store, err);
}

static int refuse_other_kind(const struct store *store)
{
        log_error(store->log,
                  is_simulated(store)
                          ? "%s is no database of a virtual device; name another one, or move it away"
                          : "%s is the database of a virtual device; name another one for this machine",
                  store->path);
        return -EEXIST;
}

static int refuse_older(const struct store *store)
{
        log_error(store->log,
                  "an older version of joulecast made %s; the next program that writes to it converts it, as "
                  "joulecastd does when it starts", store->path);
        return -EPROTONOSUPPORT;
}

/* A newer version's database is not put aside: it keeps its value even if that version is not installed any more. */
static int refuse_newer(const struct store *store)
{
        log_error(store->log, "a newer version of joulecast made %s; use that one, or name another database",
                  store->path);
        return -EPROTONOSUPPORT;
}

/* All databases of this version have them: this one lost the header's word for it. */
static int check_sums(struct store *store)
{
        int sums = 0;

        sqlite3_file_control(store->db, "main", STORE_HAS_SUMS, &sums);
        return sums ? 0 : store_damaged(store);
}

int store_prepare_database(struct store *store)
{
        int64_t id = 0, version = 0, tables = 0;
        int err = query_number(store, "SELECT count(*) FROM sqlite_schema", &tables);

        if (!err)
                err = query_number(store, "PRAGMA application_id", &id);
        if (!err)
                err = query_number(store, "PRAGMA user_version", &version);
        if (err)
                return err;
        if (tables == 0 && id == 0 && version == 0) {
                if (store->mode == STORE_READ)
                        return -ENOENT; /* an empty file: nobody wrote yet */
                return create(store);
        }
        if (id != APPLICATION_ID && id != APPLICATION_ID_VIRTUAL)
                return refuse(store, "another program made it");
        if (store->mode != STORE_READ && id != application_id(store))
                return refuse_other_kind(store);
        store->rows_apart = version < STORE_SUMMARIES_SINCE;
        if (version < OLDEST_VERSION)
                return store->mode == STORE_READ ? refuse(store, "an older one made it") : -ESTALE;
        if (version > SCHEMA_VERSION)
                return refuse_newer(store);
        if (version < READABLE_VERSION && store->mode == STORE_READ)
                return refuse_older(store);
        err = check_sums(store);
        if (!err)
                err = check_tables(store, version);
        if (!err && version < SCHEMA_VERSION)
                err = store_layout_read(store, &store->layout);
        if (!err && version < SCHEMA_VERSION && store->mode != STORE_READ)
                err = store_convert(store, version);
        if (!err && store->mode == STORE_SIMULATE)
                err = empty(store);
        return err;
}
