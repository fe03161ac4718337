/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Everyday observations in observations.db. Their tables are made when the first are appended, so databases of
 * calibrations get them, too, and programs that do not know them still read the rest. A use is one row for each amount
 * that is not zero, by its word, so that amounts may come and go with versions.
 */

#include "everyday.h"
#include "observations-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"

/* What stays: of the last days all, before that so many of each kind, and so many bytes in all. */
#define ALL "(3 * 86400 * 1000000000)"
#define OF_KIND "48"
#define BRIGHTNESSES "8"
#define MONTH "(30 * 86400 * 1e9)"
#define BYTES_A_MONTH "1e6"
#define MOST_BYTES "12e6"

/* What SQLite needs for a row of `everyday` and of `everyday_use`, with the room that rows leave which are gone. */
#define BYTES_OF_SPAN 155
#define BYTES_OF_AMOUNT 27

static const char tables[] =
        "CREATE TABLE IF NOT EXISTS everyday ("
        " id INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
        " energy_j REAL, percent REAL NOT NULL, level REAL NOT NULL, late_s REAL NOT NULL, gauge_j REAL,"
        " shared INTEGER NOT NULL, screen_app INTEGER, brightness INTEGER, bytes INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS everyday_app (id INTEGER PRIMARY KEY, app TEXT NOT NULL UNIQUE);"
        "CREATE TABLE IF NOT EXISTS everyday_key ("
        " id INTEGER PRIMARY KEY, word TEXT NOT NULL, \"group\" INTEGER NOT NULL, key INTEGER NOT NULL,"
        " UNIQUE (word, \"group\", key));"
        "CREATE TABLE IF NOT EXISTS everyday_use ("
        " everyday INTEGER NOT NULL, app INTEGER NOT NULL, state INTEGER NOT NULL, key INTEGER NOT NULL,"
        " value INTEGER NOT NULL, any_ns INTEGER, PRIMARY KEY (everyday, app, state, key)) WITHOUT ROWID;";

#define NEWEST "(SELECT end_ns FROM everyday ORDER BY id DESC LIMIT 1)"

/* Numbered within its kind, the newest first. */
#define RANKED                                                                                               \
        "SELECT id, bytes, row_number() OVER (PARTITION BY screen_app,"                                      \
        " brightness * " BRIGHTNESSES " / (SELECT max(brightness) + 1 FROM everyday) ORDER BY id DESC) AS nth FROM everyday"

/* Where all together are too many, the oldest of the most frequent kinds go first. */
static const char thin[] =
        "DELETE FROM everyday WHERE id IN (SELECT id FROM (" RANKED " WHERE end_ns <= " NEWEST " - " ALL ")"
        " WHERE nth > " OF_KIND ");"
        "DELETE FROM everyday WHERE id IN (SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY nth, id DESC) AS sum"
        " FROM (" RANKED ")) WHERE sum > (SELECT min(" MOST_BYTES ", " BYTES_A_MONTH " *"
        " max(1, (1.0 * max(end_ns) - min(start_ns)) / " MONTH ")) FROM everyday));"
        "DELETE FROM everyday_use WHERE everyday NOT IN (SELECT id FROM everyday);"
        "DELETE FROM everyday_app WHERE id NOT IN (SELECT app FROM everyday_use);";

/* Beside the words of amounts: members of a use. */
#define ACTIVE "active_ns"
#define HAVE "have"

static int execute(struct observations *observations, const char *sql)
{
        return observations_complain(observations, sqlite3_exec(observations->db, sql, NULL, NULL, NULL),
                                     "be written");
}

#define MOST_J 1e9
#define MOST_PERCENT 1000 /* of a gauge that is beyond what it calls full */

static bool is_amount(double value, double most)
{
        return value >= 0 && value <= most;
}

/* Times of any clock, whose differences are numbers; amounts that a battery can have. Others are not written. */
static bool is_sane(const struct everyday *everyday)
{
        return everyday->start_ns > -INT64_MAX / 2 && everyday->start_ns < everyday->end_ns &&
               everyday->end_ns < INT64_MAX / 2 && everyday->elapsed_ns > 0 && everyday->elapsed_ns <= INT64_MAX &&
               (isnan(everyday->energy_j) || is_amount(everyday->energy_j, MOST_J)) &&
               (isnan(everyday->gauge_j) || is_amount(everyday->gauge_j, MOST_J)) && everyday->percent > 0 &&
               everyday->percent <= MOST_PERCENT && is_amount(everyday->level, MOST_PERCENT) &&
               is_amount(everyday->late_s, (double)everyday->elapsed_ns / NS_PER_S + 1);
}

/* Prepared once for many rows. */
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
                  "INSERT INTO everyday (start_ns, end_ns, elapsed_ns, energy_j, percent, level, late_s, gauge_j, shared,"
                  " screen_app, brightness, bytes) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12"
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

/* A use's row of one amount. The parameters of span, app and state are bound already. */
static int put_value(struct writer *writer, const char *word, const struct point *point)
{
        int64_t key = 0;
        int err = intern_key(writer, word, point, &key);

        if (err)
                return err;
        sqlite3_bind_int64(writer->use, 4, key);
        sqlite3_bind_int64(writer->use, 5, (int64_t)MIN(point->ns, (uint64_t)INT64_MAX));
        sqlite3_bind_null(writer->use, 6);
        if (point->any_ns)
                sqlite3_bind_int64(writer->use, 6, (int64_t)MIN(point->any_ns, (uint64_t)INT64_MAX));
        return run(writer, writer->use);
}

static int put_amount(struct writer *writer, const char *word, const struct point *point)
{
        return point->ns > 0 ? put_value(writer, word, point) : 0;
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
                err = put_value(writer, HAVE, &(struct point){ .ns = (usage->have & USAGE_ALL) });
        if (!err)
                err = put_amount(writer, ACTIVE, &(struct point){ .ns = (uint64_t)llround(use->active_s * NS_PER_S) });
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                err = put_amount(writer, amount_kinds[i].word, &(struct point){ .ns = usage->amount[i] });
        for (size_t k = 0; k < KEYED_COUNT; k++)
                for (size_t i = 0; !err && i < usage->keyed[k].n; i++)
                        err = put_amount(writer, keyed_kinds[k].word, &usage->keyed[k].list[i]);
        return err;
}

static size_t amounts_of(const struct everyday_use *use)
{
        size_t n = 2;

        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                n += use->usage.amount[i] > 0;
        for (size_t k = 0; k < KEYED_COUNT; k++)
                n += use->usage.keyed[k].n;
        return n;
}

/* Who had the screen longest; NULL: nobody that is known. */
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
        sqlite3_bind_int64(writer->span, 9, everyday->shared);
        sqlite3_bind_null(writer->span, 10);
        if (longest)
                sqlite3_bind_int64(writer->span, 10, app);
        sqlite3_bind_null(writer->span, 11);
        if (brightness_of(longest, &brightness))
                sqlite3_bind_int64(writer->span, 11, brightness);
        for (size_t i = 0; i < everyday->n_uses; i++)
                bytes += BYTES_OF_AMOUNT * amounts_of(&everyday->uses[i]);
        sqlite3_bind_int64(writer->span, 12, (int64_t)bytes);
        return err;
}

static int put(struct writer *writer, const struct everyday *everyday)
{
        sqlite3 *db = writer->observations->db;
        int64_t id;
        int err;

        if (!is_sane(everyday))
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

/* 1: a row; 0: none, also where the tables are not made yet. */
static int first_row(struct observations *observations, const char *sql, sqlite3_stmt **ret)
{
        int code, err = observations_prepare(observations, sql, ret);

        if (err)
                return err;
        code = sqlite3_step(*ret);
        return code == SQLITE_ROW ? 1 : observations_complain(observations, code, "be read");
}

static int is_there(struct observations *observations)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;

        return first_row(observations, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'everyday'",
                         &statement);
}

int everyday_newest(struct observations *observations, int64_t *ret)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *statement = NULL;
        int more = is_there(observations);

        if (more == 1)
                more = first_row(observations, "SELECT end_ns FROM everyday ORDER BY id DESC LIMIT 1", &statement);
        if (more >= 0)
                *ret = more ? sqlite3_column_int64(statement, 0) : INT64_MIN;
        return MIN(more, 0);
}

static int damaged(struct observations *observations, int64_t id)
{
        log_error(observations->log,
                  "%s: everyday observation %lld is damaged; name another file, or delete that row with sqlite3",
                  observations->path, (long long)id);
        return -EINVAL;
}

static double column_real(sqlite3_stmt *row, int column)
{
        return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN : sqlite3_column_double(row, column);
}

static void read_span(sqlite3_stmt *row, struct everyday *ret)
{
        *ret = (struct everyday){
                .start_ns = sqlite3_column_int64(row, 1),
                .end_ns = sqlite3_column_int64(row, 2),
                .elapsed_ns = (uint64_t)sqlite3_column_int64(row, 3),
                .energy_j = column_real(row, 4),
                .percent = column_real(row, 5),
                .level = column_real(row, 6),
                .late_s = column_real(row, 7),
                .gauge_j = column_real(row, 8),
                .shared = sqlite3_column_int64(row, 9) != 0,
        };
}

static bool read_point(sqlite3_stmt *row, struct point *ret)
{
        int64_t group = sqlite3_column_int64(row, 4), key = sqlite3_column_int64(row, 5),
                value = sqlite3_column_int64(row, 6), any_ns = sqlite3_column_int64(row, 7);

        *ret = (struct point){ .group = (uint32_t)group, .key = (uint32_t)key, .ns = (uint64_t)value,
                               .any_ns = (uint64_t)any_ns };
        return group >= 0 && group <= UINT32_MAX && key >= 0 && key <= UINT32_MAX && value >= 0 && any_ns >= 0;
}

/* A word that no amount has is one of another version. */
static int read_amount(const char *word, const struct point *point, struct everyday_use *use)
{
        if (strcmp(word, HAVE) == 0)
                use->usage.have = (uint32_t)point->ns & USAGE_ALL;
        if (strcmp(word, ACTIVE) == 0)
                use->active_s = (double)point->ns / NS_PER_S;
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (strcmp(word, amount_kinds[i].word) == 0)
                        use->usage.amount[i] = point->ns;
        for (size_t k = 0; k < KEYED_COUNT; k++)
                if (strcmp(word, keyed_kinds[k].word) == 0)
                        return usage_add_point(&use->usage, k, point);
        return 0;
}

/* Uses of one observation, as their rows come: by app and state. */
struct uses {
        struct everyday *everyday;
        size_t capacity;
        int64_t app;
};

static int read_use(sqlite3_stmt *row, struct uses *uses)
{
        struct everyday *everyday = uses->everyday;
        struct everyday_use *use = everyday->n_uses ? &everyday->uses[everyday->n_uses - 1] : NULL;
        const char *app = (const char *)sqlite3_column_text(row, 1), *word = (const char *)sqlite3_column_text(row, 3);
        int64_t id = sqlite3_column_int64(row, 0), state = sqlite3_column_int64(row, 2);
        struct point point;

        if (!app || !word || state < STATE_BACKGROUND || state > STATE_FOREGROUND || !read_point(row, &point))
                return -EINVAL;
        if (!use || id != uses->app || (enum app_state)state != use->state) {
                if (util_grow(&everyday->uses, &uses->capacity, everyday->n_uses + 1, sizeof(*everyday->uses)) < 0)
                        return -ENOMEM;
                use = &everyday->uses[everyday->n_uses++];
                *use = (struct everyday_use){ .state = (enum app_state)state };
                util_printable(app, use->app, sizeof(use->app));
                uses->app = id;
        }
        return read_amount(word, &point, use);
}

static int read_uses(struct observations *observations, sqlite3_stmt *rows, int64_t id, struct everyday *everyday)
{
        struct uses uses = { .everyday = everyday };
        int code = SQLITE_DONE, err = 0;

        sqlite3_bind_int64(rows, 1, id);
        while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW)
                err = read_use(rows, &uses);
        sqlite3_reset(rows);
        return err == -ENOMEM ? err
               : err          ? damaged(observations, id)
                              : observations_complain(observations, code, "be read");
}

struct everyday_list {
        struct everyday *list;
        size_t n, capacity;
};

static void list_clear(struct everyday_list *list)
{
        everyday_free(list->list, list->n);
}

static int read_one(struct observations *observations, sqlite3_stmt *row, sqlite3_stmt *uses, struct everyday_list *list)
{
        int64_t id = sqlite3_column_int64(row, 0);
        struct everyday *everyday;

        if (util_grow(&list->list, &list->capacity, list->n + 1, sizeof(*list->list)) < 0)
                return -ENOMEM;
        everyday = &list->list[list->n++];
        read_span(row, everyday);
        if (!is_sane(everyday))
                return damaged(observations, id);
        everyday->follows = list->n > 1 && everyday[-1].end_ns == everyday->start_ns;
        return read_uses(observations, uses, id, everyday);
}

static int read_all(struct observations *observations, struct everyday_list *list)
{
        _cleanup_(observations_finalizep) sqlite3_stmt *rows = NULL, *uses = NULL;
        int code = SQLITE_DONE;
        int err = observations_prepare(observations,
                                       "SELECT id, start_ns, end_ns, elapsed_ns, energy_j, percent, level, late_s,"
                                       " gauge_j, shared FROM everyday ORDER BY end_ns", &rows);

        if (!err)
                err = observations_prepare(observations,
                                           "SELECT everyday_use.app, everyday_app.app, state, word, \"group\","
                                           " everyday_key.key, value, any_ns FROM everyday_use"
                                           " LEFT JOIN everyday_app ON everyday_app.id = everyday_use.app"
                                           " LEFT JOIN everyday_key ON everyday_key.id = everyday_use.key"
                                           " WHERE everyday = ?1 ORDER BY everyday_use.app, state, everyday_use.key",
                                           &uses);
        while (!err && (code = sqlite3_step(rows)) == SQLITE_ROW)
                err = read_one(observations, rows, uses, list);
        return err ? err : observations_complain(observations, code, "be read");
}

int everyday_read(struct observations *observations, struct everyday **ret, size_t *n)
{
        _cleanup_(list_clear) struct everyday_list list = { 0 };
        int err = is_there(observations);

        if (err == 1)
                err = read_all(observations, &list);
        if (err)
                return err;
        *ret = TAKE_PTR(list.list);
        *n = list.n;
        list.n = 0;
        return 0;
}
