/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All calls of libpq are in this file. */

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "arrays.h"
#include "database.h"
#include "util/util.h"
#include "util/words.h"

/*
 * A server that hangs does not even react to a cancel request, so the client decides how long to wait
 * (deadline_s). Rows are read as they arrive; a caller that gets an error after some rows must discard them.
 */
#define CONNECT_S "10"
#define NUMBER_SIZE 24
#define LOOK_MS 500    /* how often database->stop is checked */

struct pq_database {
        struct database database;
        PGconn *conn;
        unsigned statements; /* number of statements, which makes their names */
};

struct pq_statement {
        struct statement statement;
        char name[16];
        int n;                                      /* number of parameters */
        bool running;                               /* rows are still arriving */
        bool binary;                                /* all columns are integers, texts or blobs */
        const char *values[DATABASE_PARAMETERS_MAX];
        int lengths[DATABASE_PARAMETERS_MAX], formats[DATABASE_PARAMETERS_MAX];
        char numbers[DATABASE_PARAMETERS_MAX][NUMBER_SIZE];
        int64_t changed;
        PGresult *result;                           /* holds one row */

        struct arrays arrays;                       /* used by prepare_rows() */
};

static PGconn *conn_of(struct database *database)
{
        return ((struct pq_database *)database)->conn;
}

/* Logs the first line of libpq's message. */
static int failed(struct database *database, const char *message)
{
        log_error(database->log, "%s: %.*s", database->name, (int)strcspn(message, "\n"),
                  *message ? message : _("the connection is lost"));
        return -EIO;
}

static int64_t now_ms(void)
{
        return (int64_t)(util_boottime_ns() / 1000000);
}

/* Waits until the next result is available. */
static int wait_answer(struct database *database)
{
        PGconn *conn = conn_of(database);
        int64_t end_ms = now_ms() + (int64_t)database->deadline_s * 1000;

        while (PQisBusy(conn)) {
                struct pollfd pollfd = { .fd = PQsocket(conn), .events = POLLIN };
                int64_t left_ms = end_ms - now_ms();

                if (database->stop && atomic_load(database->stop))
                        return -ECANCELED;
                if (left_ms <= 0) {
                        log_error(database->log, "%s: no answer within %d s; is the server frozen?", database->name,
                                  database->deadline_s);
                        return -ETIMEDOUT;
                }
                if (poll(&pollfd, 1, (int)MIN(left_ms, LOOK_MS)) < 0 && errno != EINTR)
                        return -errno;
                if (!PQconsumeInput(conn))
                        return failed(database, PQerrorMessage(conn));
        }
        return 0;
}

/* Reads and discards all pending results. */
static int drain(struct database *database)
{
        PGresult *result;
        int err;

        while ((err = wait_answer(database)) == 0 && (result = PQgetResult(conn_of(database))))
                PQclear(result);
        return err;
}

/* Takes the last result of what was sent. If one failed, returns its error. */
static int take_answer(struct database *database, PGresult **ret)
{
        PGconn *conn = conn_of(database);
        PGresult *last = NULL, *result;
        int err;

        for (;;) {
                err = wait_answer(database);
                if (err < 0)
                        break;
                result = PQgetResult(conn);
                if (!result)
                        break;
                if (last && PQresultStatus(last) == PGRES_FATAL_ERROR) {
                        PQclear(result);
                        continue;
                }
                PQclear(last);
                last = result;
        }
        if (!err && (!last || (PQresultStatus(last) != PGRES_COMMAND_OK && PQresultStatus(last) != PGRES_TUPLES_OK)))
                err = failed(database, last ? PQresultErrorMessage(last) : PQerrorMessage(conn));
        if (err < 0) {
                PQclear(last);
                return err;
        }
        *ret = last;
        return 0;
}

static int pq_run(struct database *database, const char *sql)
{
        PGresult *result;
        int err;

        if (!PQsendQuery(conn_of(database), sql))
                return failed(database, PQerrorMessage(conn_of(database)));
        err = take_answer(database, &result);
        if (!err)
                PQclear(result);
        return err;
}

static struct pq_statement *of(struct statement *statement)
{
        return (struct pq_statement *)statement;
}

static void set(struct pq_statement *statement, int i, const char *value, size_t length, int format)
{
        statement->values[i - 1] = value;
        statement->lengths[i - 1] = (int)length;
        statement->formats[i - 1] = format;
        statement->n = MAX(statement->n, i);
}

static void set_int(struct statement *statement, int i, int64_t value)
{
        char *number = of(statement)->numbers[i - 1];

        snprintf(number, NUMBER_SIZE, "%" PRId64, value);
        set(of(statement), i, number, 0, 0);
}

static void set_text(struct statement *statement, int i, const char *value)
{
        set(of(statement), i, value, 0, 0);
}

static void set_blob(struct statement *statement, int i, const void *value, size_t length)
{
        set(of(statement), i, value ? (length ? value : "") : NULL, length, 1);
}

static void free_row(struct pq_statement *statement)
{
        PQclear(statement->result);
        statement->result = NULL;
}

static void reset(struct statement *statement)
{
        free_row(of(statement));
        if (of(statement)->running)
                (void)drain(statement->database);
        of(statement)->running = false;
}

static int start(struct pq_statement *statement)
{
        PGconn *conn = conn_of(statement->statement.database);

        if (!PQsendQueryPrepared(conn, statement->name, statement->n, statement->values, statement->lengths,
                                 statement->formats, statement->binary) ||
            !PQsetSingleRowMode(conn))
                return failed(statement->statement.database, PQerrorMessage(conn));
        statement->running = true;
        statement->changed = 0;
        return 0;
}

/* Called after the last row or an error. */
static int finish(struct pq_statement *statement)
{
        struct database *database = statement->statement.database;
        int err = 0;

        if (PQresultStatus(statement->result) == PGRES_COMMAND_OK ||
            PQresultStatus(statement->result) == PGRES_TUPLES_OK) {
                if (util_parse_i64(PQcmdTuples(statement->result), &statement->changed) < 0)
                        statement->changed = 0;
        } else {
                err = failed(database, PQresultErrorMessage(statement->result));
        }
        reset(&statement->statement);
        return err;
}

static int step_row(struct statement *statement)
{
        struct pq_statement *own = of(statement);
        int err = own->running ? 0 : start(own);

        free_row(own);
        if (!err)
                err = wait_answer(statement->database);
        if (err < 0) {
                own->running = false;
                return err;
        }
        own->result = PQgetResult(conn_of(statement->database));
        if (!own->result) {
                own->running = false;
                return failed(statement->database, PQerrorMessage(conn_of(statement->database)));
        }
        return PQresultStatus(own->result) == PGRES_SINGLE_TUPLE ? 1 : finish(own);
}

/* Sends all rows collected so far in one statement. */
static int send_rows(struct pq_statement *own)
{
        struct database *database = own->statement.database;
        const char *values[DATABASE_PARAMETERS_MAX];
        PGresult *result = NULL;
        int64_t changed;
        int err = arrays_end(&own->arrays, values);

        if (err < 0)
                return err;
        if (!PQsendQueryPrepared(conn_of(database), own->name, (int)strlen(own->arrays.types), values, NULL, NULL, 0))
                return failed(database, PQerrorMessage(conn_of(database)));
        err = take_answer(database, &result);
        if (err < 0)
                return err;
        if (util_parse_i64(PQcmdTuples(result), &changed) == 0)
                own->changed += changed;
        PQclear(result);
        return 0;
}

static int send_taken(struct pq_statement *own)
{
        int err = own->arrays.rows ? send_rows(own) : 0;

        arrays_clear(&own->arrays);
        return err;
}

static int take_row(struct pq_statement *own)
{
        int full = arrays_add(&own->arrays, own->values, own->lengths);

        return full > 0 ? send_taken(own) : full;
}

static int step(struct statement *statement)
{
        return of(statement)->arrays.types ? take_row(of(statement)) : step_row(statement);
}

static int flush(struct statement *statement, int64_t *changed)
{
        int err = send_taken(of(statement));

        if (err < 0)
                return err;
        if (changed)
                *changed = of(statement)->changed;
        of(statement)->changed = 0;
        return 0;
}

static int64_t changed(struct statement *statement)
{
        return of(statement)->changed;
}

static int64_t get_int(struct statement *statement, int i)
{
        const struct pq_statement *own = of(statement);
        const char *text = PQgetvalue(own->result, 0, i);
        int64_t value = 0;
        uint64_t wide;
        uint32_t narrow;

        if (!own->binary) {
                (void)util_parse_i64(text, &value);
        } else if (PQgetlength(own->result, 0, i) == sizeof(wide)) {
                memcpy(&wide, text, sizeof(wide));
                value = (int64_t)be64toh(wide);
        } else if (PQgetlength(own->result, 0, i) == sizeof(narrow)) {
                memcpy(&narrow, text, sizeof(narrow));
                value = (int32_t)be32toh(narrow);
        }
        return value;
}

static double get_sum(struct statement *statement, int i)
{
        double value = 0;

        if (of(statement)->binary)
                return (double)get_int(statement, i);
        (void)util_parse_double(PQgetvalue(of(statement)->result, 0, i), &value);
        return value;
}

static const char *get_text(struct statement *statement, int i)
{
        const struct pq_statement *own = of(statement);

        return PQgetisnull(own->result, 0, i) ? NULL : PQgetvalue(own->result, 0, i);
}

/* No statement has both a blob and a sum. */
static const void *get_blob(struct statement *statement, int i, size_t *length)
{
        const struct pq_statement *own = of(statement);

        *length = own->binary ? (size_t)PQgetlength(own->result, 0, i) : 0;
        return own->binary ? get_text(statement, i) : NULL;
}

static void free_statement(struct statement *statement)
{
        struct pq_statement *own = of(statement);

        reset(statement);
        arrays_clear(&own->arrays);
        free(statement);
}

static const struct statement_ops statement_ops = {
        .set_int = set_int,
        .set_text = set_text,
        .set_blob = set_blob,
        .step = step,
        .flush = flush,
        .changed = changed,
        .get_int = get_int,
        .get_sum = get_sum,
        .get_text = get_text,
        .get_blob = get_blob,
        .reset = reset,
        .free = free_statement,
};

/* Type numbers in PostgreSQL's catalogue, which never change. */
enum {
        TYPE_BYTEA = 17,
        TYPE_INT8 = 20,
        TYPE_INT4 = 23,
        TYPE_TEXT = 25,
};

/*
 * Uses the binary format if all columns allow it. A numeric, the type of sums, would need its own arithmetic.
 */
static int find_format(struct pq_statement *statement)
{
        struct database *database = statement->statement.database;
        PGresult *result;
        int err;

        if (!PQsendDescribePrepared(conn_of(database), statement->name))
                return failed(database, PQerrorMessage(conn_of(database)));
        err = take_answer(database, &result);
        if (err < 0)
                return err;
        statement->binary = true;
        for (int i = 0; i < PQnfields(result); i++) {
                Oid type = PQftype(result, i);

                statement->binary &= type == TYPE_BYTEA || type == TYPE_INT8 || type == TYPE_INT4 || type == TYPE_TEXT;
        }
        PQclear(result);
        return 0;
}

static int prepare_text(struct database *database, const char *sql, struct pq_statement *made)
{
        struct pq_database *own = (struct pq_database *)database;
        PGresult *result;
        int err;

        made->statement = (struct statement){ &statement_ops, database };
        snprintf(made->name, sizeof(made->name), "s%u", own->statements++);
        err = PQsendPrepare(own->conn, made->name, sql, 0, NULL) ? take_answer(database, &result) :
                                                                    failed(database, PQerrorMessage(own->conn));
        if (err < 0)
                return err;
        PQclear(result);
        return 0;
}

static int pq_prepare(struct database *database, const char *sql, struct statement **ret)
{
        struct pq_statement *made = calloc(1, sizeof(*made));
        int err;

        if (!made)
                return -ENOMEM;
        err = prepare_text(database, sql, made);
        if (!err)
                err = find_format(made);
        if (err < 0) {
                free(made);
                return err;
        }
        *ret = &made->statement;
        return 0;
}

/*
 * Inserts rows as one array per column. The rows are sorted, so that two writers lock them in the same order
 * and cannot deadlock.
 */
static int pq_prepare_rows(struct database *database, const struct rows_sql *sql, struct statement **ret)
{
        struct pq_statement *made = calloc(1, sizeof(*made));
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *file = made ? open_memstream(&text, &size) : NULL;
        int err = -ENOMEM;

        if (file) {
                fprintf(file, "INSERT INTO %s (%s) SELECT * FROM unnest(", sql->table, sql->columns);
                for (size_t i = 0; i < strlen(sql->types); i++)
                        fprintf(file, "%s$%zu::%s[]", i ? ", " : "", i + 1,
                                sql->types[i] == 'i' ? "bigint" : sql->types[i] == 't' ? "text" : "bytea");
                fprintf(file, ") ORDER BY 1 %s", sql->after);
                if (fclose(file) == 0)
                        err = prepare_text(database, text, made);
        }
        if (err < 0) {
                free(made);
                return err;
        }
        made->arrays.types = sql->types;
        *ret = &made->statement;
        return 0;
}

static void pq_close(struct database *database)
{
        PQfinish(conn_of(database));
        free(database->name);
        free(database);
}

static bool has_table(struct database *database, const char *table)
{
        struct statement *statement = NULL;
        bool found;

        if (pq_prepare(database, "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema()"
                                 " AND table_name = coalesce($1, table_name)", &statement) < 0 || !statement)
                return false;
        set_text(statement, 1, table);
        found = step(statement) == 1;
        free_statement(statement);
        return found;
}

static const struct database_ops ops = {
        .run = pq_run,
        .prepare = pq_prepare,
        .prepare_rows = pq_prepare_rows,
        .close = pq_close,
        .has_table = has_table,
        .blob_type = "BYTEA",
        .no_rowid = "",
        .size = "SELECT pg_database_size(current_database())",
        .for_update = " FOR UPDATE",
        .begin_write = "BEGIN",
        .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};

static void silent(void *data, const char *message)
{
}

int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        /* Values in the URL take precedence over these. */
        const char *const keys[] = { "connect_timeout", "tcp_user_timeout", "client_encoding", "dbname", NULL };
        const char *const values[] = { CONNECT_S, "60000", "UTF8", where, NULL };
        struct pq_database *made = calloc(1, sizeof(*made));
        int err = 0;

        if (!made)
                return -ENOMEM;
        made->database = (struct database){ .ops = &ops, .log = log, .deadline_s = DATABASE_DEADLINE_S };
        made->conn = PQconnectdbParams(keys, values, 1);
        /* The name is used in messages, so it leaves the password out. */
        if (asprintf(&made->database.name, "postgresql://%s/%s", made->conn &&
                     PQhost(made->conn) ? PQhost(made->conn) : "",
                     made->conn && PQdb(made->conn) ? PQdb(made->conn) : "") < 0)
                made->database.name = NULL;
        if (!made->conn || !made->database.name)
                err = -ENOMEM;
        else if (PQstatus(made->conn) != CONNECTION_OK)
                err = failed(&made->database, PQerrorMessage(made->conn));
        if (err < 0) {
                pq_close(&made->database);
                return err;
        }
        PQsetNoticeProcessor(made->conn, silent, NULL);
        /* Joins of tables that are on the same shard run on that shard. */
        err = pq_run(&made->database, "SET enable_partitionwise_join = on");
        if (err < 0) {
                pq_close(&made->database);
                return err;
        }
        *ret = &made->database;
        return 0;
}
