/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "database.h"
#include "util/util.h"

/*
 * Samples are kept as they came; what else is here is a function of them. `app` and `client` number names. `client` has the
 * sums over its rates, and why samples were left out; a coarse gauge's rates depend on everybody's, so its sums are made
 * with the report, and only n_samples is of use here. `client_app` has struct app_sums; `client_bin` the histogram of
 * point rates. A sample's `apps` are sorted int32, `own` an int64 of mJ for each of them, -1: unknown.
 * header_first is the sequence number of the newest header that was seen.
 */
static const char schema[] =
        "CREATE TABLE app (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
        "CREATE TABLE client (id INTEGER PRIMARY KEY, hex TEXT NOT NULL UNIQUE, header_first BIGINT NOT NULL, os TEXT,"
        " model TEXT, features TEXT, n_samples BIGINT NOT NULL, coarse INTEGER NOT NULL, quarantined INTEGER NOT NULL,"
        " n BIGINT NOT NULL, s1 BIGINT NOT NULL, s2 BIGINT NOT NULL, overlapping BIGINT NOT NULL, too_many BIGINT NOT NULL,"
        " fast BIGINT NOT NULL);"
        "CREATE TABLE sample (client INTEGER NOT NULL, seq BIGINT NOT NULL, t_ns BIGINT NOT NULL, t2_ns BIGINT NOT NULL,"
        " level_ppm INTEGER NOT NULL, level2_ppm INTEGER NOT NULL, apps @BLOB@ NOT NULL, own @BLOB@,"
        " PRIMARY KEY (client, seq))@NO_ROWID@;"
        "CREATE TABLE client_app (client INTEGER NOT NULL, app INTEGER NOT NULL, n BIGINT NOT NULL, s1 BIGINT NOT NULL,"
        " s2 BIGINT NOT NULL, w BIGINT NOT NULL, wa BIGINT NOT NULL, wb BIGINT NOT NULL, x BIGINT NOT NULL,"
        " own_n BIGINT NOT NULL, own_ms BIGINT NOT NULL, own_mj BIGINT NOT NULL, PRIMARY KEY (client, app))@NO_ROWID@;"
        "CREATE TABLE client_bin (client INTEGER NOT NULL, bin INTEGER NOT NULL, n BIGINT NOT NULL, s1 BIGINT NOT NULL,"
        " PRIMARY KEY (client, bin))@NO_ROWID@;"
        "CREATE TABLE joulecast_community (version INTEGER NOT NULL);"
        "INSERT INTO joulecast_community VALUES (1);";

/* The schema's text for this engine; NULL without memory. */
static char *engine_text(const struct database *database, const char *text)
{
        struct {
                const char *word, *with;
        } words[] = { { "@BLOB@", database->ops->blob_type }, { "@NO_ROWID@", database->ops->no_rowid } };
        char *made = strdup(text);

        for (size_t i = 0; made && i < ARRAY_SIZE(words); i++)
                for (char *at; made && (at = strstr(made, words[i].word));) {
                        char *longer;

                        if (asprintf(&longer, "%.*s%s%s", (int)(at - made), made, words[i].with, at + strlen(words[i].word)) < 0)
                                longer = NULL;
                        free(made);
                        made = longer;
                }
        return made;
}

static int make_tables(struct database *database)
{
        _cleanup_free_ char *sql = engine_text(database, schema);
        int err = sql ? database_run(database, "BEGIN") : -ENOMEM;

        if (!err)
                err = database_run(database, sql);
        return err ? err : database_run(database, "COMMIT");
}

static int check_tables(struct database *database, enum database_use use)
{
        if (database->ops->has_table(database, "joulecast_community"))
                return 0;
        if (database->ops->has_table(database, NULL)) {
                log_error(database->log, "%s is a database of something else; give one of its own", database->name);
                return -EEXIST;
        }
        if (use == DATABASE_MAKE)
                return make_tables(database);
        log_error(database->log, "%s has no samples; joulecast-community load fills it", database->name);
        return -ENOENT;
}

int database_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        _cleanup_(database_closep) struct database *database = NULL;
        bool url = strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
        int err = url ? postgresql_open(where, use, log, &database) : sqlite_open(where, use, log, &database);

        if (!err)
                err = check_tables(database, use);
        if (!err)
                *ret = TAKE_PTR(database);
        return err;
}

void database_close(struct database *database)
{
        if (database)
                database->ops->close(database);
}

void database_closep(struct database **database)
{
        database_close(*database);
}

int database_run(struct database *database, const char *sql)
{
        return database->ops->run(database, sql);
}

int database_prepare(struct database *database, const char *sql, struct statement **ret)
{
        return database->ops->prepare(database, sql, ret);
}

void statement_freep(struct statement **statement)
{
        if (*statement)
                (*statement)->ops->free(*statement);
}

int statement_run(struct statement *statement)
{
        return statement->ops->step(statement);
}
