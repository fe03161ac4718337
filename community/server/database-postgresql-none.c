/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces the PostgreSQL code in a build without libpq. */

#include <errno.h>

#include "database.h"

int postgresql_open(const char *where, enum database_use use, const struct log *log, struct database **ret)
{
        log_error(log, "this program was built without PostgreSQL; give a file (SQLite)");
        return -ENOTSUP;
}
