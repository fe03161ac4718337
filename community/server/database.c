/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "database.h"
#include "tables.h"
#include "util/util.h"

static int check_version(struct database *database)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT version, shards FROM joulecast_community", &select);

        if (!rc)
                rc = select->ops->step(select);
        if (rc < 0)
                return rc;
        if (rc == 1 && select->ops->get_int(select, 0) == TABLES_VERSION) {
                database->shards = (int)select->ops->get_int(select, 1);
                select->ops->reset(select);
                return 0;
        }
        select->ops->reset(select);
        log_error(database->log, "%s is of another version of this program; load the uploads into a new database",
                  database->name);
        return -EUCLEAN;
}

/* Older databases lack the tables of pending clients, of clients' networks and of quotas. */
static int make_pending(struct database *database, enum database_use use)
{
        if (use == DATABASE_READ || database->ops->has_table(database, "quota"))
                return 0;
        return database_run(database, "CREATE TABLE IF NOT EXISTS pending (client BIGINT PRIMARY KEY);"
                                      "CREATE TABLE IF NOT EXISTS joined (client BIGINT PRIMARY KEY, day INTEGER NOT"
                                      " NULL, network INTEGER NOT NULL);"
                                      "CREATE TABLE IF NOT EXISTS quota (client BIGINT PRIMARY KEY, samples BIGINT"
                                      " NOT NULL, names BIGINT NOT NULL, bytes BIGINT NOT NULL)");
}

static int check_tables(struct database *database, enum database_use use)
{
        if (database->ops->has_table(database, "joulecast_community")) {
                int err = check_version(database);

                return err ? err : make_pending(database, use);
        }
        if (database->ops->has_table(database, NULL)) {
                log_error(database->log, "%s is a database of something else; give one of its own", database->name);
                return -EEXIST;
        }
        if (use == DATABASE_MAKE)
                return tables_make(database) < 0 ? -EIO : make_pending(database, use);
        log_error(database->log, "%s has no samples; joulecast-community load fills it", database->name);
        return -ENOENT;
}

bool database_is_url(const char *where)
{
        return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

int database_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        _cleanup_(database_closep) struct database *database = NULL;
        int err = database_is_url(where) ? postgresql_open(where, use, log, &database) :
                  sqlite_open(where, use, log, &database);

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

int database_prepare_rows(struct database *database, const struct rows_sql *sql, struct statement **ret)
{
        return database->ops->prepare_rows(database, sql, ret);
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

int statement_run_with(struct statement *statement, const int64_t *values, int n)
{
        for (int i = 0; i < n; i++)
                statement->ops->set_int(statement, i + 1, values[i]);
        return statement_run(statement);
}

int database_number_of(struct database *database, const char *sql, int64_t id, int64_t *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, sql, &select);

        if (rc < 0)
                return rc;
        rc = statement_run_with(select, &id, 1);
        if (rc == 1) {
                *ret = select->ops->get_int(select, 0);
                select->ops->reset(select);
        }
        return rc < 0 ? rc : 0;
}
