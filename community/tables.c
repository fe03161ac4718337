/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "tables.h"
#include "util/util.h"

/*
 * Samples are kept as they came; what else is here is a function of them. Apps, clients and contexts are numbered by hashes
 * (community/name-hash.h), so that a number is the same in all databases. `client` has the sums over its rates, those of
 * samples in which it was suspended (asleep_), and why samples were left out. `token` is the SHA-256 of it, NULL until a
 * client sends over HTTP; from next_seq on, its samples are new. `client_rate` has the rates and apps' own energy packed
 * (community/client-rates.h), how many samples they are made of and how many apps are in them: reports are made from it, not
 * from samples. `context` is what a header says of the device and the time: a sample has the number of one. A sample's `apps`
 * are sorted int64, `own` an int64 of mJ for each of them, -1: unknown; `parts` pairs of int64: index in apps * 256 +
 * component, and mJ.
 */
const struct client_table client_tables[] = {
        { "client",
          "id BIGINT NOT NULL, hex TEXT NOT NULL, token TEXT, next_seq BIGINT NOT NULL, header_first BIGINT NOT NULL, os TEXT,"
          " model TEXT, n_samples BIGINT NOT NULL, coarse INTEGER NOT NULL, quarantined INTEGER NOT NULL, n BIGINT NOT NULL,"
          " s1 BIGINT NOT NULL,"
          " s2 BIGINT NOT NULL, overlapping BIGINT NOT NULL, too_many BIGINT NOT NULL, fast BIGINT NOT NULL,"
          " asleep_n BIGINT NOT NULL, asleep_ms BIGINT NOT NULL, asleep_ppm BIGINT NOT NULL", "id", "id" },
        { "context", "client BIGINT NOT NULL, id BIGINT NOT NULL, os TEXT, model TEXT, features TEXT, versions TEXT", "client",
          "client, id" },
        { "sample",
          "client BIGINT NOT NULL, seq BIGINT NOT NULL, context BIGINT NOT NULL, t_ns BIGINT NOT NULL, t2_ns BIGINT NOT NULL,"
          " level_ppm INTEGER NOT NULL, level2_ppm INTEGER NOT NULL, asleep INTEGER NOT NULL, apps @BLOB@ NOT NULL, own @BLOB@,"
          " parts @BLOB@", "client",
          "client, seq" },
        { "client_rate", "client BIGINT NOT NULL, samples BIGINT NOT NULL, apps BIGINT NOT NULL, rates @BLOB@ NOT NULL",
          "client", "client" },
};
const size_t n_client_tables = ARRAY_SIZE(client_tables);

char *tables_engine_text(const struct database *database, const char *text)
{
        const char *word = "@BLOB@", *at;
        char *made = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&made, &size);

        if (!file)
                return NULL;
        while ((at = strstr(text, word))) {
                fprintf(file, "%.*s%s", (int)(at - text), text, database->ops->blob_type);
                text = at + strlen(word);
        }
        fputs(text, file);
        if (fclose(file) == 0)
                return made;
        free(made);
        return NULL;
}

static int make_client_table(struct database *database, const struct client_table *table)
{
        _cleanup_free_ char *columns = tables_engine_text(database, table->columns), *sql = NULL;

        if (!columns || asprintf(&sql, "CREATE TABLE %s (%s, PRIMARY KEY (%s))%s", table->name, columns, table->key,
                                 database->ops->no_rowid) < 0)
                return -ENOMEM;
        return database_run(database, sql);
}

int tables_make(struct database *database)
{
        int err = database_run(database, "BEGIN");

        for (size_t i = 0; !err && i < n_client_tables; i++)
                err = make_client_table(database, &client_tables[i]);
        if (!err)
                err = database_run(database, "CREATE INDEX client_token ON client (token);"
                                             "CREATE TABLE app (id BIGINT PRIMARY KEY, name TEXT NOT NULL);"
                                             "CREATE TABLE joulecast_community (version INTEGER NOT NULL, shards INTEGER NOT"
                                             " NULL);"
                                             "INSERT INTO joulecast_community VALUES (7, 0)");
        return err ? err : database_run(database, "COMMIT");
}
