/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <string.h>
#include <time.h>

#include "shards.h"
#include "tables.h"
#include "util/util.h"

#define BUCKETS 1024   /* ranges of client numbers; a range is never divided */
#define BUCKET_BITS 53 /* shift from a number of 63 bits to its range */

/*
 * Columns with which a shard describes itself. Its view has the shard's number in the name, so that an error
 * message shows which shard failed.
 */
#define INFO_COLUMNS "shards INTEGER, epoch BIGINT, clients BIGINT, samples NUMERIC"

struct maker {
        struct database *coordinator;
        const char *const *urls;
        size_t n, shard;
        int64_t epoch;
        const struct log *log;
        FILE *sql;
        char *text;
        size_t size;
};

static int sql_begin(struct maker *maker)
{
        maker->sql = open_memstream(&maker->text, &maker->size);
        return maker->sql ? 0 : -ENOMEM;
}

static int sql_run(struct maker *maker, struct database *database)
{
        int err = fclose(maker->sql) == 0 ? database_run(database, maker->text) : -ENOMEM;

        free(maker->text);
        maker->text = NULL;
        return err;
}

/* First client number of a shard; for the shard after the last, beyond all numbers. */
static int64_t low_of(const struct maker *maker, size_t shard)
{
        size_t bucket = shard * BUCKETS / maker->n;

        return bucket >= BUCKETS ? INT64_MAX : (int64_t)bucket << BUCKET_BITS;
}

static void write_literal(FILE *file, const char *text)
{
        fputs("E'", file);
        for (; *text; text++) {
                if (*text == '\'' || *text == '\\')
                        putc(*text, file);
                putc(*text, file);
        }
        putc('\'', file);
}

static int write_shard(struct maker *maker, struct database *shard)
{
        int64_t low = low_of(maker, maker->shard), high = low_of(maker, maker->shard + 1);
        int err = sql_begin(maker);

        if (err < 0)
                return err;
        fprintf(maker->sql, "BEGIN; CREATE TABLE shard (shard INTEGER NOT NULL, shards INTEGER NOT NULL, epoch"
                            " BIGINT NOT NULL);INSERT INTO shard VALUES (%zu, %zu, %" PRId64 ");",
                maker->shard, maker->n, maker->epoch);
        for (size_t i = 0; i < n_client_tables; i++)
                fprintf(maker->sql, "ALTER TABLE %s ADD CONSTRAINT of_shard CHECK (%s >= %" PRId64
                        " AND %s < %" PRId64 ");",
                        client_tables[i].name, client_tables[i].client, low, client_tables[i].client, high);
        fprintf(maker->sql, "CREATE VIEW shard_info_%zu (shard, shards, epoch, clients, samples) AS SELECT s.shard,"
                            " s.shards,"
                            " s.epoch, (SELECT count(*) FROM client), (SELECT coalesce(sum(n_samples), 0) FROM client)"
                            " FROM shard s;", maker->shard);
        fputs("COMMIT", maker->sql);
        return sql_run(maker, shard);
}

static int make_shard(struct maker *maker)
{
        _cleanup_(database_closep) struct database *shard = NULL;
        const char *url = maker->urls[maker->shard];
        int err;

        if (!database_is_url(url)) {
                log_error(maker->log, "shards: %s is no postgresql://...", url);
                return -EINVAL;
        }
        err = database_open(url, DATABASE_MAKE, maker->log, &shard);
        if (!err && (shard->shards || shard->ops->has_table(shard, "shard"))) {
                log_error(maker->log, "%s is a part of a community already; give an empty database", shard->name);
                err = -EEXIST;
        }
        return err ? err : write_shard(maker, shard);
}

/* Makes a server and its user from a URL. */
static int write_server(struct maker *maker)
{
        char *error = NULL;
        PQconninfoOption *options = PQconninfoParse(maker->urls[maker->shard], &error);

        PQfreemem(error);
        if (!options)
                return -EINVAL;
        fprintf(maker->sql, "CREATE SERVER shard_%zu FOREIGN DATA WRAPPER postgres_fdw OPTIONS (async_capable 'true',"
                            " fetch_size '20000', batch_size '1000', keepalives_idle '5',"
                            " keepalives_interval '2', keepalives_count '3',"
                            " tcp_user_timeout '10000'",
                maker->shard);
        for (const PQconninfoOption *option = options; option->keyword; option++)
                if (option->val && strcmp(option->keyword, "user") != 0 && strcmp(option->keyword, "password") != 0) {
                        fprintf(maker->sql, ", %s ", option->keyword);
                        write_literal(maker->sql, option->val);
                }
        fprintf(maker->sql, "); CREATE USER MAPPING FOR CURRENT_USER SERVER shard_%zu OPTIONS (", maker->shard);
        for (const PQconninfoOption *option = options, *first = NULL; option->keyword; option++)
                if (option->val && (strcmp(option->keyword, "user") == 0 || strcmp(option->keyword, "password") == 0)) {
                        fprintf(maker->sql, "%s%s ", first ? ", " : "", option->keyword);
                        write_literal(maker->sql, option->val);
                        first = option;
                }
        fputs(");", maker->sql);
        PQconninfoFree(options);
        return 0;
}

static void write_range(const struct maker *maker)
{
        fputs(" FOR VALUES FROM (", maker->sql);
        if (maker->shard == 0)
                fputs("MINVALUE) TO (", maker->sql);
        else
                fprintf(maker->sql, "%" PRId64 ") TO (", low_of(maker, maker->shard));
        if (maker->shard + 1 == maker->n)
                fputs("MAXVALUE)", maker->sql);
        else
                fprintf(maker->sql, "%" PRId64 ")", low_of(maker, maker->shard + 1));
}

/* Makes the coordinator's tables for one shard. */
static int write_partitions(struct maker *maker)
{
        int err = write_server(maker);

        for (size_t i = 0; i < n_client_tables; i++) {
                fprintf(maker->sql, "CREATE FOREIGN TABLE %s_%zu PARTITION OF %s", client_tables[i].name, maker->shard,
                        client_tables[i].name);
                write_range(maker);
                fprintf(maker->sql, " SERVER shard_%zu OPTIONS (table_name '%s');", maker->shard,
                        client_tables[i].name);
        }
        fprintf(maker->sql, "CREATE FOREIGN TABLE shard_info_%zu PARTITION OF shard_info FOR VALUES IN (%zu) SERVER"
                            " shard_%zu;INSERT INTO shard_map VALUES (%zu, %zu, %" PRId64 ");",
                maker->shard, maker->shard, maker->shard, maker->shard, maker->n, maker->epoch);
        return err;
}

static int write_coordinator(struct maker *maker)
{
        int err = sql_begin(maker);

        if (err < 0)
                return err;
        fputs("BEGIN; CREATE EXTENSION IF NOT EXISTS postgres_fdw; CREATE TABLE app (id BIGINT PRIMARY KEY, name"
              " TEXT NOT NULL);"
              "CREATE TABLE shard_map (shard INTEGER PRIMARY KEY, shards INTEGER NOT NULL, epoch BIGINT NOT NULL);",
              maker->sql);
        for (size_t i = 0; i < n_client_tables; i++) {
                _cleanup_free_ char *columns = tables_engine_text(maker->coordinator, client_tables[i].columns);

                if (!columns)
                        return -ENOMEM;
                fprintf(maker->sql, "CREATE TABLE %s (%s) PARTITION BY RANGE (%s);", client_tables[i].name, columns,
                        client_tables[i].client);
        }
        fputs("CREATE TABLE shard_info (shard INTEGER, " INFO_COLUMNS ") PARTITION BY LIST (shard);", maker->sql);
        for (maker->shard = 0; !err && maker->shard < maker->n; maker->shard++)
                err = write_partitions(maker);
        fprintf(maker->sql, "CREATE TABLE joulecast_community (version INTEGER NOT NULL, shards INTEGER NOT NULL);"
                            "INSERT INTO joulecast_community VALUES (%d, %zu); COMMIT", TABLES_VERSION, maker->n);
        return err;
}

static int make_all(struct maker *maker, const char *url)
{
        int err = postgresql_open(url, DATABASE_MAKE, maker->log, &maker->coordinator);

        if (!err && maker->coordinator->ops->has_table(maker->coordinator, NULL)) {
                log_error(maker->log, "%s has tables; the coordinator's database has to be empty",
                          maker->coordinator->name);
                err = -EEXIST;
        }
        for (maker->shard = 0; !err && maker->shard < maker->n; maker->shard++)
                err = make_shard(maker);
        if (!err)
                err = write_coordinator(maker);
        return err ? err : sql_run(maker, maker->coordinator);
}

int shards_make(const char *coordinator, const char *const *shards, size_t n, const struct log *log)
{
        struct maker maker = { .urls = shards, .n = n, .epoch = (int64_t)time(NULL), .log = log };
        int err = make_all(&maker, coordinator);

        database_close(maker.coordinator);
        return err;
}

static int64_t count_rows(struct database *database, const char *sql, int64_t *second)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int64_t value;
        int rc = database_prepare(database, sql, &select);

        if (rc >= 0)
                rc = select->ops->step(select);
        if (rc <= 0)
                return rc < 0 ? rc : 0;
        value = (int64_t)select->ops->get_sum(select, 0);
        if (second)
                *second = (int64_t)select->ops->get_sum(select, 1);
        select->ops->reset(select);
        return value;
}

/*
 * Checks that each table has a partition on each shard. If one were removed, its clients would be missing
 * without an error.
 */
static int check_partitions(struct database *database)
{
        for (size_t i = 0; i <= n_client_tables; i++) {
                const char *name = i < n_client_tables ? client_tables[i].name : "shard_info";
                _cleanup_free_ char *sql = NULL;
                int64_t n;

                if (asprintf(&sql, "SELECT count(DISTINCT f.ftserver) FROM pg_inherits i JOIN pg_foreign_table f ON"
                                   " f.ftrelid = i.inhrelid WHERE i.inhparent = '%s'::regclass", name) < 0)
                        return -ENOMEM;
                n = count_rows(database, sql, NULL);
                if (n < 0)
                        return (int)n;
                if (n != database->shards) {
                        log_error(database->log, "%s: table %s is on %d shards and not on %d; there is no report of"
                                                 " a part",
                                  database->name, name,
                                  (int)n, database->shards);
                        return -EUCLEAN;
                }
        }
        return 0;
}

int shards_check(struct database *database)
{
        int64_t listed, here, clients, samples, n_clients, n_samples = 0;
        int err;

        if (!database->shards)
                return 0;
        err = check_partitions(database);
        if (err < 0)
                return err;
        listed = count_rows(database, "SELECT count(*), 0 FROM shard_map", NULL);
        here = listed < 0 ? listed : count_rows(database,
                                                "SELECT count(*), 0 FROM shard_map m JOIN shard_info s ON s.shard ="
                                                " m.shard"
                                                          " AND s.shards = m.shards AND s.epoch = m.epoch", NULL);
        if (here < 0)
                return (int)here;
        if (listed != database->shards || here != listed) {
                log_error(database->log, "%s: %d of %d shards are those that it was made with; there is no report of"
                                         " a part",
                          database->name,
                          (int)here, database->shards);
                return -EUCLEAN;
        }
        clients = count_rows(database, "SELECT sum(clients), sum(samples) FROM shard_info", &samples);
        n_clients = clients < 0 ? clients :
                    count_rows(database, "SELECT count(*), coalesce(sum(n_samples), 0) FROM client", &n_samples);
        if (n_clients < 0)
                return (int)n_clients;
        if (clients == n_clients && samples == n_samples)
                return 0;
        log_error(database->log, "%s: the shards have %" PRId64 " clients, of which %" PRId64
                  " are seen here; their partitions do not fit",
                  database->name, clients, n_clients);
        return -EUCLEAN;
}
