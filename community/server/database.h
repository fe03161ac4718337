/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One interface to SQLite and PostgreSQL, for SQL that both understand.
 *
 * Parameters are $1, $2 in the order of their first use, and all are bound again before each run. Each
 * failure has a sentence in the log. A connection is used by one thread at a time, and only one of its
 * statements may return rows at a time.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

#define DATABASE_PARAMETERS_MAX 32
/* limit for one statement on a server; the longest sums up all apps of all clients */
#define DATABASE_DEADLINE_S 600

struct database;
struct statement;

/* Rows for INSERT, sent in groups where that is faster. */
struct rows_sql {
        const char *table, *columns;
        const char *types; /* type of each column: i integer, t text, b blob */
        const char *after; /* end of the statement: "", or ON CONFLICT ... */
};

struct database_ops {
        int (*run)(struct database *database, const char *sql);
        int (*prepare)(struct database *database, const char *sql, struct statement **ret);
        int (*prepare_rows)(struct database *database, const struct rows_sql *sql, struct statement **ret);
        void (*close)(struct database *database);
        /* @table NULL: is there any table at all? */
        bool (*has_table)(struct database *database, const char *table);
        const char *blob_type, *no_rowid, *for_update; /* SQL words that differ between engines */
        const char *size;                 /* selects the bytes that the database has */
        const char *begin_write;          /* begins a transaction with a single writer */
        const char *begin_read;           /* begins a transaction whose reads all see one state */
};

struct database {
        const struct database_ops *ops;
        const struct log *log;
        char *name;      /* as the user gave it, without the password */
        int deadline_s;  /* seconds to wait for a result; not used by a file */
        int shards;      /* number of PostgreSQL databases behind this one; 0: it has the tables itself */
        const atomic_bool *stop; /* when true, statements give up soon with -ECANCELED; NULL: never */
};

struct statement_ops {
        void (*set_int)(struct statement *statement, int i, int64_t value);
        /* NULL sets SQL NULL; the arguments must stay valid until the step */
        void (*set_text)(struct statement *statement, int i, const char *value);
        void (*set_blob)(struct statement *statement, int i, const void *value, size_t length);
        /* 1: a row; 0: no more rows, and it can run again; or a negative errno */
        int (*step)(struct statement *statement);
        int (*flush)(struct statement *statement, int64_t *changed); /* sends what is left of prepare_rows() */
        int64_t (*get_int)(struct statement *statement, int i);
        double (*get_sum)(struct statement *statement, int i); /* exact sum, which may exceed 64 bits */
        /* NULL for SQL NULL; valid until the next step */
        const char *(*get_text)(struct statement *statement, int i);
        const void *(*get_blob)(struct statement *statement, int i, size_t *length);
        int64_t (*changed)(struct statement *statement); /* rows changed, after a step that returned 0 */
        void (*reset)(struct statement *statement); /* discards the remaining rows */
        void (*free)(struct statement *statement);
};

struct statement {
        const struct statement_ops *ops;
        struct database *database;
};

enum database_use {
        DATABASE_MAKE, /* created if missing */
        DATABASE_WRITE,
        DATABASE_READ,
};

/**
 * database_open() - open a database file or a PostgreSQL URL
 * @where: a file, or a URL that begins with postgresql://
 *
 * Return: 0; -ENOENT: there is none; another negative errno. The log has a sentence.
 */
int database_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
void database_close(struct database *database);
void database_closep(struct database **database);
bool database_is_url(const char *where);
int database_run(struct database *database, const char *sql);
int database_prepare(struct database *database, const char *sql, struct statement **ret);
/* Prepares an INSERT of rows. Its step() takes one row; rows are certain to be sent only after flush(). */
int database_prepare_rows(struct database *database, const struct rows_sql *sql, struct statement **ret);
void statement_freep(struct statement **statement);
/* Runs a statement that returns no rows. */
int statement_run(struct statement *statement);
/* Runs a statement whose parameters are all integers. */
int statement_run_with(struct statement *statement, const int64_t *values, int n);

/* Reads the number that @sql selects for the id $1. Leaves *@ret if there is no row. 0; a negative errno. */
int database_number_of(struct database *database, const char *sql, int64_t id, int64_t *ret);

/* Defined in database-sqlite.c, and in database-postgresql.c if the build has it. */
int sqlite_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
