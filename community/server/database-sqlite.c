/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All calls of SQLite are in this file. */

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "database.h"
#include "util/util.h"

struct sqlite_database {
        struct database database;
        sqlite3 *db;
};

struct sqlite_statement {
        struct statement statement;
        sqlite3_stmt *stmt;
        bool rows;       /* made by sqlite_prepare_rows(), */
        int64_t changed; /* number of rows changed by it */
};

static int errno_from_sqlite(int code)
{
        switch (code & 0xFF) {
        case SQLITE_OK: return 0;
        case SQLITE_NOMEM: return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return -EBUSY;
        case SQLITE_FULL: return -ENOSPC;
        case SQLITE_PERM:
        case SQLITE_AUTH: return -EACCES;
        case SQLITE_READONLY: return -EROFS;
        case SQLITE_INTERRUPT: return -ECANCELED;
        case SQLITE_CANTOPEN: return -ENOENT;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return -EUCLEAN;
        default: return -EIO;
        }
}

static bool is_folder(const char *name)
{
        struct stat status;

        return stat(name, &status) == 0 && S_ISDIR(status.st_mode);
}

static int failed(struct database *base, int code)
{
        const struct sqlite_database *database = (const struct sqlite_database *)base;

        if (code == SQLITE_NOMEM)
                return -ENOMEM;
        if (code == SQLITE_INTERRUPT)
                return -ECANCELED;
        log_error(base->log, "%s: %s", base->name, (code & 0xFF) == SQLITE_BUSY ?
                  "another program writes it; try again when it is done" : is_folder(base->name) ?
                  "this is a folder; --database takes a file of SQLite, or postgresql://..." :
                  database->db ? sqlite3_errmsg(database->db) : sqlite3_errstr(code));
        return errno_from_sqlite(code);
}

static sqlite3 *handle(struct database *database)
{
        return ((struct sqlite_database *)database)->db;
}

static sqlite3_stmt *stmt_of(struct statement *statement)
{
        return ((struct sqlite_statement *)statement)->stmt;
}

static int sqlite_run(struct database *database, const char *sql)
{
        int code = sqlite3_exec(handle(database), sql, NULL, NULL, NULL);

        return code == SQLITE_OK ? 0 : failed(database, code);
}

static void set_int(struct statement *statement, int i, int64_t value)
{
        sqlite3_bind_int64(stmt_of(statement), i, value);
}

static void set_text(struct statement *statement, int i, const char *value)
{
        sqlite3_bind_text(stmt_of(statement), i, value, -1, SQLITE_STATIC);
}

static void set_blob(struct statement *statement, int i, const void *value, size_t length)
{
        if (!value)
                sqlite3_bind_null(stmt_of(statement), i);
        else if (length)
                sqlite3_bind_blob64(stmt_of(statement), i, value, length, SQLITE_STATIC);
        else
                sqlite3_bind_zeroblob(stmt_of(statement), i, 0);
}

static void reset(struct statement *statement)
{
        sqlite3_reset(stmt_of(statement));
}

static int step(struct statement *statement)
{
        int code = sqlite3_step(stmt_of(statement));

        if (code == SQLITE_ROW)
                return 1;
        if (code == SQLITE_DONE) {
                struct sqlite_statement *own = (struct sqlite_statement *)statement;

                reset(statement);
                if (own->rows)
                        own->changed += sqlite3_changes64(handle(statement->database));
                return 0;
        }
        code = failed(statement->database, code);
        reset(statement);
        return code;
}

static int flush(struct statement *statement, int64_t *changed)
{
        struct sqlite_statement *own = (struct sqlite_statement *)statement;

        if (changed)
                *changed = own->changed;
        own->changed = 0;
        return 0;
}

static int64_t changed(struct statement *statement)
{
        return sqlite3_changes64(handle(statement->database));
}

static int64_t get_int(struct statement *statement, int i)
{
        return sqlite3_column_int64(stmt_of(statement), i);
}

/* SQLite sums integers exactly and fails on overflow, so nothing is rounded here. */
static double get_sum(struct statement *statement, int i)
{
        return (double)sqlite3_column_int64(stmt_of(statement), i);
}

static const char *get_text(struct statement *statement, int i)
{
        return (const char *)sqlite3_column_text(stmt_of(statement), i);
}

static const void *get_blob(struct statement *statement, int i, size_t *length)
{
        const void *blob = sqlite3_column_blob(stmt_of(statement), i);

        *length = (size_t)sqlite3_column_bytes(stmt_of(statement), i);
        return blob;
}

static void free_statement(struct statement *statement)
{
        sqlite3_finalize(stmt_of(statement));
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

static int sqlite_prepare(struct database *database, const char *sql, struct statement **ret)
{
        struct sqlite_statement *made = calloc(1, sizeof(*made));
        int code;

        if (!made)
                return -ENOMEM;
        made->statement = (struct statement){ &statement_ops, database };
        code = sqlite3_prepare_v2(handle(database), sql, -1, &made->stmt, NULL);
        if (code != SQLITE_OK) {
                free(made);
                return failed(database, code);
        }
        *ret = &made->statement;
        return 0;
}

/* A row costs no round trip here, so each is inserted at once. */
static int sqlite_prepare_rows(struct database *database, const struct rows_sql *sql, struct statement **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        int err;

        if (!file)
                return -ENOMEM;
        fprintf(file, "INSERT INTO %s (%s) VALUES (", sql->table, sql->columns);
        for (size_t i = 1; i <= strlen(sql->types); i++)
                fprintf(file, "%s$%zu", i > 1 ? ", " : "", i);
        fprintf(file, ") %s", sql->after);
        if (fclose(file) != 0)
                return -ENOMEM;
        err = sqlite_prepare(database, text, ret);
        if (!err)
                ((struct sqlite_statement *)*ret)->rows = true;
        return err;
}

static int should_stop(void *data)
{
        const struct database *database = data;

        return database->stop && atomic_load(database->stop);
}

static void sqlite_close(struct database *database)
{
        sqlite3_close(handle(database));
        free(database->name);
        free(database);
}

static bool has_table(struct database *database, const char *table)
{
        struct statement *statement = NULL;
        bool found;

        if (sqlite_prepare(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = coalesce($1, name)",
                           &statement) < 0 ||
            !statement)
                return false;
        set_text(statement, 1, table);
        found = step(statement) == 1;
        free_statement(statement);
        return found;
}

static const struct database_ops ops = {
        .run = sqlite_run,
        .prepare = sqlite_prepare,
        .prepare_rows = sqlite_prepare_rows,
        .close = sqlite_close,
        .has_table = has_table,
        .blob_type = "BLOB",
        .no_rowid = " WITHOUT ROWID",
        .size = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(),"
                " pragma_page_size()",
        .for_update = "",
        .begin_write = "BEGIN IMMEDIATE",
        .begin_read = "BEGIN",
};

/*
 * Makes a missing file that only its owner reads. SQLite gives its other files the same mode. A link is refused:
 * who can write the folder could send what is kept elsewhere.
 */
static int prepare_file(const char *where, enum database_use use, const struct log *log)
{
        _cleanup_close_ int fd = -1;
        struct stat status;

        if (lstat(where, &status) == 0) {
                if (!S_ISLNK(status.st_mode))
                        return 0;
                log_error(log, "%s: this is a link; --database takes the file itself", where);
                return -ELOOP;
        }
        if (use == DATABASE_MAKE)
                fd = open(where, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return 0; /* if it cannot be made, SQLite says why */
}

int sqlite_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        struct sqlite_database *made;
        int code, flags = use == DATABASE_READ ? SQLITE_OPEN_READONLY : use == DATABASE_WRITE ? SQLITE_OPEN_READWRITE :
                                                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

        int err = prepare_file(where, use, log);

        if (err < 0)
                return err;
        made = calloc(1, sizeof(*made));
        if (!made)
                return -ENOMEM;
        made->database = (struct database){ .ops = &ops, .log = log, .name = strdup(where) };
        if (!made->database.name) {
                free(made);
                return -ENOMEM;
        }
        code = sqlite3_open_v2(where, &made->db, flags, NULL);
        if (code == SQLITE_OK) {
                sqlite3_busy_timeout(made->db, 10000);
                sqlite3_progress_handler(made->db, 100000, should_stop, &made->database);
                /* Reads the first page, so that a file of another kind fails here. */
                code = sqlite3_exec(made->db, "PRAGMA cache_size = -65536; SELECT count(*) FROM sqlite_master", NULL,
                                    NULL, NULL);
        }
        if (code != SQLITE_OK) {
                code = failed(&made->database, code);
                sqlite_close(&made->database);
                return code;
        }
        *ret = &made->database;
        return 0;
}
