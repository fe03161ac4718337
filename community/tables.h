/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of a database of a community. */

#include "database.h"

#define TABLES_VERSION 7 /* as in tables_make() */

/* A table whose rows belong to clients: on N databases, each has those of its clients. */
struct client_table {
        const char *name;
        const char *columns; /* for CREATE TABLE, with @BLOB@ where an engine has its word */
        const char *client;  /* the column with the client's number */
        const char *key;     /* of the table */
};

extern const struct client_table client_tables[];
extern const size_t n_client_tables;

/* Makes all of them. */
int tables_make(struct database *database);
/* A text with the words of this engine; NULL without memory. */
char *tables_engine_text(const struct database *database, const char *text);
