/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The border to PostgreSQL. */

#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "database.h"
#include "util/util.h"
#include "util/words.h"

/*
 * A server that hangs answers nothing, not even a request to stop; so how long to wait is decided here. The longest
 * statement sums up all apps of all clients.
 */
#define ANSWER_S 600
#define CONNECT_S "10"
#define NUMBER_SIZE 24

struct pq_database {
        struct database database;
        PGconn *conn;
        unsigned statements; /* their names are numbers */
};

struct pq_statement {
        struct statement statement;
        char name[16];
        int n, row;                                 /* parameters; the row that is read, -1: none */
        const char *values[DATABASE_PARAMETERS_MAX];
        int lengths[DATABASE_PARAMETERS_MAX], formats[DATABASE_PARAMETERS_MAX];
        char numbers[DATABASE_PARAMETERS_MAX][NUMBER_SIZE];
        int64_t changed;
        PGresult *result;
        unsigned char *blobs[DATABASE_PARAMETERS_MAX]; /* of the row that is read */
};

static PGconn *conn_of(struct database *database)
{
        return ((struct pq_database *)database)->conn;
}

/* The first line of what libpq says. */
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

/* Waits until the answer is there as a whole. */
static int wait_answer(struct database *database)
{
        PGconn *conn = conn_of(database);
        int64_t end_ms = now_ms() + ANSWER_S * 1000;

        while (PQisBusy(conn)) {
                struct pollfd pollfd = { .fd = PQsocket(conn), .events = POLLIN };
                int64_t left_ms = end_ms - now_ms();

                if (left_ms <= 0) {
                        log_error(database->log, "%s: no answer within %d s; is the server frozen?", database->name, ANSWER_S);
                        return -ETIMEDOUT;
                }
                if (poll(&pollfd, 1, (int)left_ms) < 0 && errno != EINTR)
                        return -errno;
                if (!PQconsumeInput(conn))
                        return failed(database, PQerrorMessage(conn));
        }
        return 0;
}

/* The last result of what was sent; one that failed is the error. */
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
        set(of(statement), i, length ? value : "", length, 1);
}

static void free_row(struct pq_statement *statement)
{
        for (size_t i = 0; i < DATABASE_PARAMETERS_MAX; i++) {
                PQfreemem(statement->blobs[i]);
                statement->blobs[i] = NULL;
        }
}

static void reset(struct statement *statement)
{
        free_row(of(statement));
        PQclear(of(statement)->result);
        of(statement)->result = NULL;
        of(statement)->row = -1;
}

static int execute(struct pq_statement *statement)
{
        struct database *database = statement->statement.database;
        int64_t changed;

        if (!PQsendQueryPrepared(conn_of(database), statement->name, statement->n, statement->values, statement->lengths,
                                 statement->formats, 0))
                return failed(database, PQerrorMessage(conn_of(database)));
        statement->changed = 0;
        if (take_answer(database, &statement->result) < 0) {
                statement->result = NULL;
                return -EIO;
        }
        if (util_parse_i64(PQcmdTuples(statement->result), &changed) == 0)
                statement->changed = changed;
        return 0;
}

/* All rows are there before the first is given: nobody can take a part of an answer for the whole. */
static int step(struct statement *statement)
{
        struct pq_statement *own = of(statement);

        if (!own->result) {
                int err = execute(own);

                if (err < 0)
                        return err;
        }
        free_row(own);
        if (++own->row < PQntuples(own->result))
                return 1;
        reset(statement);
        return 0;
}

static int64_t changed(struct statement *statement)
{
        return of(statement)->changed;
}

static int64_t get_int(struct statement *statement, int i)
{
        int64_t value = 0;

        (void)util_parse_i64(PQgetvalue(of(statement)->result, of(statement)->row, i), &value);
        return value;
}

static double get_sum(struct statement *statement, int i)
{
        double value = 0;

        (void)util_parse_double(PQgetvalue(of(statement)->result, of(statement)->row, i), &value);
        return value;
}

static const char *get_text(struct statement *statement, int i)
{
        struct pq_statement *own = of(statement);

        return PQgetisnull(own->result, own->row, i) ? NULL : PQgetvalue(own->result, own->row, i);
}

static const void *get_blob(struct statement *statement, int i, size_t *length)
{
        struct pq_statement *own = of(statement);
        const char *text = get_text(statement, i);

        *length = 0;
        if (!text)
                return NULL;
        PQfreemem(own->blobs[i]);
        own->blobs[i] = PQunescapeBytea((const unsigned char *)text, length);
        if (!own->blobs[i])
                *length = 0;
        return own->blobs[i];
}

static void free_statement(struct statement *statement)
{
        reset(statement);
        free(statement);
}

static const struct statement_ops statement_ops = {
        .set_int = set_int,
        .set_text = set_text,
        .set_blob = set_blob,
        .step = step,
        .changed = changed,
        .get_int = get_int,
        .get_sum = get_sum,
        .get_text = get_text,
        .get_blob = get_blob,
        .reset = reset,
        .free = free_statement,
};

static int pq_prepare(struct database *database, const char *sql, struct statement **ret)
{
        struct pq_database *own = (struct pq_database *)database;
        struct pq_statement *made = calloc(1, sizeof(*made));
        PGresult *result;
        int err;

        if (!made)
                return -ENOMEM;
        made->statement = (struct statement){ &statement_ops, database };
        made->row = -1;
        snprintf(made->name, sizeof(made->name), "s%u", own->statements++);
        err = PQsendPrepare(own->conn, made->name, sql, 0, NULL) ? take_answer(database, &result) :
                                                                    failed(database, PQerrorMessage(own->conn));
        if (err < 0) {
                free(made);
                return err;
        }
        PQclear(result);
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
        .close = pq_close,
        .has_table = has_table,
        .blob_type = "BYTEA",
        .no_rowid = "",
        .begin_write = "BEGIN; LOCK TABLE client IN EXCLUSIVE MODE",
        .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};

static void silent(void *data, const char *message)
{
}

int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        /* What the URL says goes before these. */
        const char *const keys[] = { "connect_timeout", "tcp_user_timeout", "client_encoding", "dbname", NULL };
        const char *const values[] = { CONNECT_S, "60000", "UTF8", where, NULL };
        struct pq_database *made = calloc(1, sizeof(*made));
        int err = 0;

        if (!made)
                return -ENOMEM;
        made->database = (struct database){ &ops, log, NULL };
        made->conn = PQconnectdbParams(keys, values, 1);
        /* No name that has the password in it. */
        if (asprintf(&made->database.name, "postgresql://%s/%s", made->conn && PQhost(made->conn) ? PQhost(made->conn) : "",
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
        *ret = &made->database;
        return 0;
}
