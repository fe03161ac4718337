/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One database for SQL that SQLite and PostgreSQL both understand. Parameters are $1, $2 in the order in which they
 * first appear, and all are bound again before each run. What fails has its sentence in the log. One thread at a time uses
 * one, and one statement at a time gives rows.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

#define DATABASE_PARAMETERS_MAX 32
#define DATABASE_DEADLINE_S 600 /* of one statement on a server; the longest sums up all apps of all clients */

struct database;
struct statement;

/* Rows for INSERT, many at a time where that is faster. */
struct rows_sql {
        const char *table, *columns;
        const char *types; /* of each column: i, an integer; t, a text; b, a blob */
        const char *after; /* "", or ON CONFLICT ... */
};

struct database_ops {
        int (*run)(struct database *database, const char *sql);
        int (*prepare)(struct database *database, const char *sql, struct statement **ret);
        int (*prepare_rows)(struct database *database, const struct rows_sql *sql, struct statement **ret);
        void (*close)(struct database *database);
        bool (*has_table)(struct database *database, const char *table); /* NULL: any at all */
        const char *blob_type, *no_rowid, *for_update; /* words of SQL that differ */
        const char *begin_write;          /* of one writer at a time */
        const char *begin_read;           /* all reads see one state */
};

struct database {
        const struct database_ops *ops;
        const struct log *log;
        char *name;      /* as the user gave it, without a password */
        int deadline_s;  /* of an answer; a file has none */
        int shards;      /* PostgreSQL databases behind this one; 0: it has its tables itself */
        const atomic_bool *stop; /* true: give up soon, with -ECANCELED. NULL: never */
};

struct statement_ops {
        void (*set_int)(struct statement *statement, int i, int64_t value);
        void (*set_text)(struct statement *statement, int i, const char *value); /* NULL is NULL; both must outlive the step */
        void (*set_blob)(struct statement *statement, int i, const void *value, size_t length);
        int (*step)(struct statement *statement);  /* 1: a row; 0: no more, and it can be run again; a negative errno */
        int (*flush)(struct statement *statement, int64_t *changed); /* of prepare_rows(): now all are there */
        int64_t (*get_int)(struct statement *statement, int i);
        double (*get_sum)(struct statement *statement, int i); /* an exact sum, maybe beyond 64 bits */
        const char *(*get_text)(struct statement *statement, int i); /* NULL is NULL; until the next step */
        const void *(*get_blob)(struct statement *statement, int i, size_t *length);
        int64_t (*changed)(struct statement *statement); /* rows that were, after the step that gave 0 */
        void (*reset)(struct statement *statement); /* rows that are left are not wanted */
        void (*free)(struct statement *statement);
};

struct statement {
        const struct statement_ops *ops;
        struct database *database;
};

enum database_use {
        DATABASE_MAKE, /* made if there is none */
        DATABASE_WRITE,
        DATABASE_READ,
};

/**
 * database_open() - open usage-community.db, or whatever postgresql://... names
 * @where: a file, or a URL
 *
 * Return: 0; -ENOENT: there is none; another negative errno. The log has a sentence.
 */
int database_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
void database_close(struct database *database);
void database_closep(struct database **database);
bool database_is_url(const char *where);
int database_run(struct database *database, const char *sql);
int database_prepare(struct database *database, const char *sql, struct statement **ret);
/* Its step() takes a row, and there is no more to it than that until flush(). */
int database_prepare_rows(struct database *database, const struct rows_sql *sql, struct statement **ret);
void statement_freep(struct statement **statement);
/* Runs a statement that gives no rows. */
int statement_run(struct statement *statement);
/* Runs one with integers only. */
int statement_run_with(struct statement *statement, const int64_t *values, int n);

/* database-sqlite.c; database-postgresql.c, which may not be in this build */
int sqlite_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
