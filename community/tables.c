/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "tables.h"
#include "util/util.h"

/*
 * Samples are kept as they came; what else is here is a function of them. Apps, clients and contexts are numbered by
 * hashes (community/name-hash.h), so that a number is the same in all databases. `client` has the sums over its rates, and why
 * samples were left out; a coarse gauge's rates depend on everybody's, so its sums are made with the report, and only
 * n_samples is of use here. `token` is the SHA-256 of it, NULL until a client sends over HTTP; from next_seq on, its samples are
 * new. `client_app` has struct app_sums, `client_part` those by component, `client_bin` the histogram of point rates.
 * `context` is what a header says of the device and the time: a sample has the number of one. A sample's `apps` are sorted
 * int64, `own` an int64 of mJ for each of them, -1: unknown; `parts` pairs of int64: index in apps * 256 + component, and mJ.
 */
static const char schema[] =
        "CREATE TABLE app (id BIGINT PRIMARY KEY, name TEXT NOT NULL);"
        "CREATE TABLE client (id BIGINT PRIMARY KEY, hex TEXT NOT NULL, token TEXT, next_seq BIGINT NOT NULL,"
        " header_first BIGINT NOT NULL, os TEXT, model TEXT, n_samples BIGINT NOT NULL, coarse INTEGER NOT NULL,"
        " quarantined INTEGER NOT NULL, n BIGINT NOT NULL, s1 BIGINT NOT NULL, s2 BIGINT NOT NULL, overlapping BIGINT NOT NULL,"
        " too_many BIGINT NOT NULL, fast BIGINT NOT NULL);"
        "CREATE INDEX client_token ON client (token);"
        "CREATE TABLE context (client BIGINT NOT NULL, id BIGINT NOT NULL, os TEXT, model TEXT, features TEXT, versions TEXT,"
        " PRIMARY KEY (client, id))@NO_ROWID@;"
        "CREATE TABLE sample (client BIGINT NOT NULL, seq BIGINT NOT NULL, context BIGINT NOT NULL, t_ns BIGINT NOT NULL,"
        " t2_ns BIGINT NOT NULL, level_ppm INTEGER NOT NULL, level2_ppm INTEGER NOT NULL, apps @BLOB@ NOT NULL, own @BLOB@,"
        " parts @BLOB@, PRIMARY KEY (client, seq))@NO_ROWID@;"
        "CREATE TABLE client_app (client BIGINT NOT NULL, app BIGINT NOT NULL, n BIGINT NOT NULL, s1 BIGINT NOT NULL,"
        " s2 BIGINT NOT NULL, w BIGINT NOT NULL, wa BIGINT NOT NULL, wb BIGINT NOT NULL, x BIGINT NOT NULL,"
        " own_n BIGINT NOT NULL, own_ms BIGINT NOT NULL, own_mj BIGINT NOT NULL, PRIMARY KEY (client, app))@NO_ROWID@;"
        "CREATE TABLE client_part (client BIGINT NOT NULL, app BIGINT NOT NULL, part INTEGER NOT NULL, mj BIGINT NOT NULL,"
        " PRIMARY KEY (client, app, part))@NO_ROWID@;"
        "CREATE TABLE client_bin (client BIGINT NOT NULL, bin INTEGER NOT NULL, n BIGINT NOT NULL, s1 BIGINT NOT NULL,"
        " PRIMARY KEY (client, bin))@NO_ROWID@;"
        "CREATE TABLE joulecast_community (version INTEGER NOT NULL, shards INTEGER NOT NULL);"
        "INSERT INTO joulecast_community VALUES (2, 0);";

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

int tables_make(struct database *database)
{
        _cleanup_free_ char *sql = engine_text(database, schema);
        int err = sql ? database_run(database, "BEGIN") : -ENOMEM;

        if (!err)
                err = database_run(database, sql);
        return err ? err : database_run(database, "COMMIT");
}
