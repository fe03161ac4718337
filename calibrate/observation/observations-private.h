/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the parts of observations.db share: the file, and what SQLite says of it. */

#include <sqlite3.h>

#include "observation.h"

struct observations {
        sqlite3 *db;
        int lock_fd; /* of the database file; two nights into one file would mix. -1 while only reading */
        bool writes; /* it is a database of ours, and may be changed */
        const struct log *log;
        char *path;
};

void observations_finalizep(sqlite3_stmt **statement);
/* Says what SQLite said, once, and returns it as an errno. */
int observations_complain(struct observations *observations, int code, const char *what);
int observations_prepare(struct observations *observations, const char *sql, sqlite3_stmt **ret);
