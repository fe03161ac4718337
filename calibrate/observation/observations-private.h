/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the files of observations.db. */

#include <sqlite3.h>

#include "observation.h"
#include "util/fields.h"

struct observations {
        sqlite3 *db;
        int lock_fd; /* holds the lock of the database file: one writer at a time; -1 while reading */
        int version; /* the version of its tables; a file that is read may have an older one */
        bool writes; /* the database is ours and may be changed */
        const struct log *log;
        char *path;
};

void observations_finalizep(sqlite3_stmt **statement);
/* Logs SQLite's error and returns it as an errno. */
int observations_complain(struct observations *observations, int code, const char *what);
int observations_prepare(struct observations *observations, const char *sql, sqlite3_stmt **ret);

/* Does the open database lack the column @name of table observation, as its version is older? */
bool observations_lack(const struct observations *observations, const char *name);

#define OBSERVATION_FIELDS 28 /* all but the method and the usage */
#define RUN_FIELDS 9          /* all but the description */
extern const struct field observation_fields[OBSERVATION_FIELDS + 1], run_fields[RUN_FIELDS + 1];

/* Prepares @before, the names of the fields with a comma after each, and @after. */
int observations_prepare_fields(struct observations *observations, const char *before,
                                const struct field *fields, size_t n, const char *after, sqlite3_stmt **ret);
/* Reads the first @n columns of a row; binds the first @n parameters but the id. */
void observations_read_fields(sqlite3_stmt *statement, const struct field *fields, size_t n, void *to);
void observations_bind_fields(sqlite3_stmt *statement, const struct field *fields, size_t n,
                              const void *from);
