/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One database for SQL that SQLite and PostgreSQL both understand. Parameters are $1, $2 in the order in which they
 * first appear, and all are bound again before each run. What fails has its sentence in the log.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

#define DATABASE_PARAMETERS_MAX 32

struct database;
struct statement;

struct database_ops {
        int (*run)(struct database *database, const char *sql);
        int (*prepare)(struct database *database, const char *sql, struct statement **ret);
        void (*close)(struct database *database);
        bool (*has_table)(struct database *database, const char *table); /* NULL: any at all */
        const char *blob_type, *no_rowid; /* words of CREATE TABLE that differ */
        const char *begin_write;          /* of one writer at a time */
        const char *begin_read;           /* all reads see one state */
};

struct database {
        const struct database_ops *ops;
        const struct log *log;
        char *name; /* as the user gave it, without a password */
};

struct statement_ops {
        void (*set_int)(struct statement *statement, int i, int64_t value);
        void (*set_text)(struct statement *statement, int i, const char *value); /* NULL is NULL; both must outlive the step */
        void (*set_blob)(struct statement *statement, int i, const void *value, size_t length);
        int (*step)(struct statement *statement);  /* 1: a row; 0: no more, and it can be run again; a negative errno */
        int64_t (*changed)(struct statement *statement); /* rows that were, after the step that gave 0 */
        int64_t (*get_int)(struct statement *statement, int i);
        double (*get_sum)(struct statement *statement, int i); /* an exact sum, maybe beyond 64 bits */
        const char *(*get_text)(struct statement *statement, int i); /* NULL is NULL; until the next step */
        const void *(*get_blob)(struct statement *statement, int i, size_t *length);
        void (*reset)(struct statement *statement); /* rows that are left are not wanted */
        void (*free)(struct statement *statement);
};

struct statement {
        const struct statement_ops *ops;
        struct database *database;
};

enum database_use {
        DATABASE_MAKE, /* made if there is none */
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
int database_run(struct database *database, const char *sql);
int database_prepare(struct database *database, const char *sql, struct statement **ret);
void statement_freep(struct statement **statement);
/* Runs a statement that gives no rows. */
int statement_run(struct statement *statement);

/* database-sqlite.c; database-postgresql.c, which may not be in this build */
int sqlite_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret);
