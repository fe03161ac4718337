/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Writes everyday observations to observations.db. Their tables are made when the first are appended, so databases of
 * calibrations get them, too, and programs that do not know them still read the rest. A use is one row for each amount
 * that is not zero, by its word, so that amounts may come and go with versions.
 */

#include "everyday-private.h"
#include "observations-private.h"

#include <math.h>

#include "model/radio-usage.h"
#include "util/units.h"
#include "util/util.h"

/* Limits of the history: all of the last days, before that a number of each kind, and a total number of bytes. */
#define ALL "(3 * 86400 * 1000000000)"
#define OF_KIND "48"
#define BRIGHTNESSES "8"
#define MONTH "(30 * 86400 * 1e9)"
#define BYTES_A_MONTH "1e6"
#define MOST_BYTES "12e6"

/*
 * Bytes in the file for a row of `everyday` and of `everyday_use`, including the room that deleted rows leave. A cell
 * of a radio takes about a byte.
 */
#define BYTES_OF_SPAN 173
#define BYTES_OF_AMOUNT 27

static const char tables[] =
        "CREATE TABLE IF NOT EXISTS everyday ("
        " id INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
        " energy_j REAL, percent REAL NOT NULL, level REAL NOT NULL, late_s REAL NOT NULL, gauge_j REAL,"
        " wifi_signal_dbm REAL, cellular_signal_percent REAL, shared INTEGER NOT NULL,"
        " screen_app INTEGER, brightness INTEGER, bytes INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS everyday_app (id INTEGER PRIMARY KEY, app TEXT NOT NULL UNIQUE);"
        "CREATE TABLE IF NOT EXISTS everyday_key ("
        " id INTEGER PRIMARY KEY, word TEXT NOT NULL, \"group\" INTEGER NOT NULL, key INTEGER NOT NULL,"
        " UNIQUE (word, \"group\", key));"
        "CREATE TABLE IF NOT EXISTS everyday_use ("
        " everyday INTEGER NOT NULL, app INTEGER NOT NULL, state INTEGER NOT NULL, key INTEGER NOT NULL,"
        " value INTEGER NOT NULL, any_ns INTEGER, PRIMARY KEY (everyday, app, state, key)) WITHOUT ROWID;";

#define NEWEST "(SELECT end_ns FROM everyday ORDER BY id DESC LIMIT 1)"

/* Numbers each row within its kind, the newest first. */
#define RANKED                                                                                               \
        "SELECT id, bytes, row_number() OVER (PARTITION BY screen_app,"                                      \
        " brightness * " BRIGHTNESSES " / (SELECT max(brightness) + 1 FROM everyday) ORDER BY id DESC) AS nth"  \
        " FROM everyday"

/* If the total is too large, the oldest rows of the most frequent kinds are deleted first. */
static const char thin[] =
        "DELETE FROM everyday WHERE id IN (SELECT id FROM (" RANKED " WHERE end_ns <= " NEWEST " - " ALL ")"
        " WHERE nth > " OF_KIND ");"
        "DELETE FROM everyday WHERE id IN (SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY nth, id DESC) AS sum"
        " FROM (" RANKED ")) WHERE sum > (SELECT min(" MOST_BYTES ", " BYTES_A_MONTH " *"
        " max(1, (1.0 * max(end_ns) - min(start_ns)) / " MONTH ")) FROM everyday));"
        "DELETE FROM everyday_use WHERE everyday NOT IN (SELECT id FROM everyday);"
        "DELETE FROM everyday_app WHERE id NOT IN (SELECT app FROM everyday_use);";

static int execute(struct observations *observations, const char *sql)
{
        return observations_complain(observations, sqlite3_exec(observations->db, sql, NULL, NULL, NULL),
                                     "be written");
}

/* Statements that are prepared once for many rows. */
struct writer {
        struct observations *observations;
        sqlite3_stmt *span, *find_app, *add_app, *find_key, *add_key, *use;
};

static void writer_clear(struct writer *writer)
{
        sqlite3_stmt *all[] = { writer->span,     writer->find_app, writer->add_app,
                                writer->find_key, writer->add_key,  writer->use };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                sqlite3_finalize(all[i]);
}

static int writer_prepare(struct writer *writer)
{
        const struct {
                sqlite3_stmt **to;
                const char *sql;
        } all[] = {
                { &writer->span,
                  "INSERT INTO everyday (start_ns, end_ns, elapsed_ns, energy_j, percent, level, late_s, gauge_j,"
                  " wifi_signal_dbm, cellular_signal_percent, shared, screen_app, brightness, bytes)"
                  " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14"
                  " WHERE NOT EXISTS (SELECT 1 FROM everyday WHERE start_ns < ?2 AND end_ns > ?1)" },
                { &writer->find_app, "SELECT id FROM everyday_app WHERE app = ?1" },
                { &writer->add_app, "INSERT INTO everyday_app (app) VALUES (?1)" },
                { &writer->find_key, "SELECT id FROM everyday_key WHERE word = ?1 AND \"group\" = ?2 AND key = ?3" },
                { &writer->add_key, "INSERT INTO everyday_key (word, \"group\", key) VALUES (?1, ?2, ?3)" },
                { &writer->use, "INSERT INTO everyday_use VALUES (?1, ?2, ?3, ?4, ?5, ?6)" },
        };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(all); i++)
                err = observations_prepare(writer->observations, all[i].sql, all[i].to);
        return err;
}

static int run(struct writer *writer, sqlite3_stmt *statement)
{
        int err = observations_complain(writer->observations, sqlite3_step(statement), "be written");

        sqlite3_reset(statement);
        return err;
}

/* The id that @find finds, or the one that @add gives; both have the same parameters bound. */
static int intern(struct writer *writer, sqlite3_stmt *find, sqlite3_stmt *add, int64_t *ret)
{
        int code = sqlite3_step(find), err;

        if (code == SQLITE_ROW)
                *ret = sqlite3_column_int64(find, 0);
        sqlite3_reset(find);
        if (code == SQLITE_ROW)
                return 0;
        err = observations_complain(writer->observations, code, "be read");
        if (!err)
                err = run(writer, add);
        if (!err)
                *ret = sqlite3_last_insert_rowid(writer->observations->db);
        return err;
}

static int intern_app(struct writer *writer, const char *app, int64_t *ret)
{
        sqlite3_bind_text(writer->find_app, 1, app, -1, SQLITE_STATIC);
        sqlite3_bind_text(writer->add_app, 1, app, -1, SQLITE_STATIC);
        return intern(writer, writer->find_app, writer->add_app, ret);
}

static int intern_key(struct writer *writer, const char *word, const struct point *point, int64_t *ret)
{
        sqlite3_stmt *both[] = { writer->find_key, writer->add_key };

        for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
                sqlite3_bind_text(both[i], 1, word, -1, SQLITE_STATIC);
                sqlite3_bind_int64(both[i], 2, point->group);
                sqlite3_bind_int64(both[i], 3, point->key);
        }
        return intern(writer, writer->find_key, writer->add_key, ret);
}

/* A use's row of one amount. The parameters of span, app and state are bound already, and so is its value. */
static int put_row(struct writer *writer, const char *word, const struct point *point)
{
        int64_t key = 0;
        int err = intern_key(writer, word, point, &key);

        if (err)
                return err;
        sqlite3_bind_int64(writer->use, 4, key);
        return run(writer, writer->use);
}

static int put_value(struct writer *writer, const char *word, const struct point *point)
{
        sqlite3_bind_int64(writer->use, 5, (int64_t)MIN(point->ns, (uint64_t)INT64_MAX));
        sqlite3_bind_null(writer->use, 6);
        if (point->any_ns)
                sqlite3_bind_int64(writer->use, 6, (int64_t)MIN(point->any_ns, (uint64_t)INT64_MAX));
        return put_row(writer, word, point);
}

static int put_amount(struct writer *writer, const char *word, const struct point *point)
{
        return point->ns > 0 ? put_value(writer, word, point) : 0;
}

/* Packed, as a row for each cell would be hundreds. */
static int put_radio(struct writer *writer, const struct points *points)
{
        struct bytes bytes = { 0 };
        int err = radio_usage_pack(points, &bytes);

        if (!err && bytes.n > 0) {
                sqlite3_bind_blob(writer->use, 5, bytes.data, (int)bytes.n, SQLITE_TRANSIENT);
                sqlite3_bind_null(writer->use, 6);
                err = put_row(writer, keyed_kinds[KEYED_RADIO].word, &(struct point){ 0 });
        }
        bytes_clear(&bytes);
        return err;
}

static int put_use(struct writer *writer, int64_t span, const struct everyday_use *use)
{
        const struct usage *usage = &use->usage;
        int64_t app = 0;
        int err = intern_app(writer, use->app, &app);

        sqlite3_bind_int64(writer->use, 1, span);
        sqlite3_bind_int64(writer->use, 2, app);
        sqlite3_bind_int64(writer->use, 3, use->state);
        if (!err)
                err = put_value(writer, EVERYDAY_HAVE, &(struct point){ .ns = (usage->have & USAGE_ALL) });
        if (!err)
                err = put_amount(writer, EVERYDAY_ACTIVE,
                                 &(struct point){ .ns = (uint64_t)llround(use->active_s * NS_PER_S) });
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                err = put_amount(writer, amount_kinds[i].word, &(struct point){ .ns = usage->amount[i] });
        for (size_t k = 0; k < KEYED_RADIO; k++)
                for (size_t i = 0; !err && i < usage->keyed[k].n; i++)
                        err = (k == KEYED_COUNTED ? put_value : put_amount)(writer, keyed_kinds[k].word,
                                                                            &usage->keyed[k].list[i]);
        return err ? err : put_radio(writer, &usage->radio);
}

static size_t bytes_of(const struct everyday_use *use)
{
        size_t n = 2;

        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                n += use->usage.amount[i] > 0;
        for (size_t k = 0; k < KEYED_RADIO; k++)
                n += use->usage.keyed[k].n;
        return n * BYTES_OF_AMOUNT + use->usage.radio.n;
}

/* The app that had the screen longest; NULL: none that is known. */
static const struct everyday_use *longest_of(const struct everyday *everyday)
{
        const struct everyday_use *longest = NULL;

        for (size_t i = 0; i < everyday->n_uses; i++) {
                const struct everyday_use *use = &everyday->uses[i];

                if (use->state == STATE_FOREGROUND && (!longest || use->active_s > longest->active_s))
                        longest = use;
        }
        return longest;
}

/* Its mean; false: unknown, or the screen was off. */
static bool brightness_of(const struct everyday_use *use, int64_t *ret)
{
        double sum = 0, on_ns = 0;

        for (size_t i = 0; use && i < use->usage.screen.n; i++) {
                const struct point *point = &use->usage.screen.list[i];

                if (point->brightness == BRIGHTNESS_UNKNOWN)
                        continue;
                sum += (double)point->brightness * (double)point->on_ns;
                on_ns += (double)point->on_ns;
        }
        if (on_ns > 0)
                *ret = llround(sum / on_ns);
        return on_ns > 0;
}

static void bind_real(sqlite3_stmt *statement, int at, double value)
{
        if (isfinite(value))
                sqlite3_bind_double(statement, at, value);
        else
                sqlite3_bind_null(statement, at);
}

static int bind_span(struct writer *writer, const struct everyday *everyday)
{
        const struct everyday_use *longest = longest_of(everyday);
        size_t bytes = BYTES_OF_SPAN;
        int64_t app = 0, brightness = 0;
        int err = longest ? intern_app(writer, longest->app, &app) : 0;

        sqlite3_bind_int64(writer->span, 1, everyday->start_ns);
        sqlite3_bind_int64(writer->span, 2, everyday->end_ns);
        sqlite3_bind_int64(writer->span, 3, (int64_t)everyday->elapsed_ns);
        bind_real(writer->span, 4, everyday->energy_j);
        bind_real(writer->span, 5, everyday->percent);
        bind_real(writer->span, 6, everyday->level);
        bind_real(writer->span, 7, everyday->late_s);
        bind_real(writer->span, 8, everyday->gauge_j);
        bind_real(writer->span, 9, everyday->wifi_signal_dbm);
        bind_real(writer->span, 10, everyday->cellular_signal_percent);
        sqlite3_bind_int64(writer->span, 11, everyday->shared);
        sqlite3_bind_null(writer->span, 12);
        if (longest)
                sqlite3_bind_int64(writer->span, 12, app);
        sqlite3_bind_null(writer->span, 13);
        if (brightness_of(longest, &brightness))
                sqlite3_bind_int64(writer->span, 13, brightness);
        for (size_t i = 0; i < everyday->n_uses; i++)
                bytes += bytes_of(&everyday->uses[i]);
        sqlite3_bind_int64(writer->span, 14, (int64_t)bytes);
        return err;
}

static int put(struct writer *writer, const struct everyday *everyday)
{
        sqlite3 *db = writer->observations->db;
        int64_t id;
        int err;

        if (!everyday_is_sane(everyday))
                return 0;
        err = bind_span(writer, everyday);
        if (!err)
                err = run(writer, writer->span);
        if (err || sqlite3_changes(db) == 0)
                return err;
        id = sqlite3_last_insert_rowid(db);
        for (size_t i = 0; !err && i < everyday->n_uses; i++)
                err = put_use(writer, id, &everyday->uses[i]);
        return err;
}

static int put_all(struct observations *observations, const struct everyday *list, size_t n)
{
        _cleanup_(writer_clear) struct writer writer = { .observations = observations };
        int err = writer_prepare(&writer);

        for (size_t i = 0; !err && i < n; i++)
                err = put(&writer, &list[i]);
        return err;
}

int everyday_append(struct observations *observations, const struct everyday *list, size_t n)
{
        int err = execute(observations, "BEGIN IMMEDIATE");

        if (err)
                return err;
        err = execute(observations, tables);
        if (!err)
                err = put_all(observations, list, n);
        if (!err)
                err = execute(observations, thin);
        if (!err)
                err = execute(observations, "COMMIT");
        if (err)
                sqlite3_exec(observations->db, "ROLLBACK", NULL, NULL, NULL);
        return err;
}
