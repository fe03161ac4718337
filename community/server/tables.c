/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "tables.h"
#include "util/util.h"

/*
 * Samples are stored as they came; everything else in these tables is computed from them.
 *
 * Apps, clients and contexts are numbered by hashes (shared/name-hash.h), so a number is the same in all
 * databases.
 *
 *   client       sums over the client's rates, sums over samples in which it was suspended (asleep_), and why samples
 *                were left out; token is the SHA-256 of the token, NULL until the client sends over HTTP; samples from
 *                next_seq on are new
 *   pending      clients with samples that came over HTTP and are in no sum yet: an upload costs what it brings, and
 *                sums are made before a report
 *   joined       of clients that came over HTTP, the day (since 1970), and 16 bits of the hash of the network, plus 1
 *   client_rate  rates and apps' own energy, packed (shared/client-rates.h), with the numbers of samples and of apps
 *                that they include; reports are made from it, not from samples
 *   context      features of the device and the time from a header; each sample has the number of one
 *   sample       apps: sorted int64; own: an int64 of mJ for each app, -1 for unknown; parts: pairs of int64, index in
 *                apps * 256 + component, and mJ
 */
const struct client_table client_tables[] = {
        { "client",
          "id BIGINT NOT NULL, hex TEXT NOT NULL, token TEXT, next_seq BIGINT NOT NULL, header_first BIGINT NOT"
          " NULL, os TEXT,"
          " model TEXT, n_samples BIGINT NOT NULL, coarse INTEGER NOT NULL, quarantined INTEGER NOT NULL, n BIGINT"
          " NOT NULL, s1 BIGINT NOT NULL,"
          " s2 BIGINT NOT NULL, overlapping BIGINT NOT NULL, too_many BIGINT NOT NULL, fast BIGINT NOT NULL,"
          " asleep_n BIGINT NOT NULL, asleep_ms BIGINT NOT NULL, asleep_ppm BIGINT NOT NULL", "id", "id" },
        { "context", "client BIGINT NOT NULL, id BIGINT NOT NULL, os TEXT, model TEXT, features TEXT, versions TEXT",
          "client", "client, id" },
        { "sample",
          "client BIGINT NOT NULL, seq BIGINT NOT NULL, context BIGINT NOT NULL, t_ns BIGINT NOT NULL, t2_ns BIGINT"
          " NOT NULL,"
          " level_ppm INTEGER NOT NULL, level2_ppm INTEGER NOT NULL, asleep INTEGER NOT NULL, apps @BLOB@ NOT NULL,"
          " own @BLOB@, parts @BLOB@", "client",
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
                                             "CREATE TABLE joulecast_community (version INTEGER NOT NULL, shards"
                                             " INTEGER NOT NULL);"
                                             "INSERT INTO joulecast_community VALUES (7, 0)");
        return err ? err : database_run(database, "COMMIT");
}
