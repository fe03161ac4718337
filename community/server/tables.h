/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tables of a community's database. */

#include "database.h"

#define TABLES_VERSION 7 /* see tables_make() */

/* A table whose rows belong to clients; each of N databases has the rows of its clients. */
struct client_table {
        const char *name;
        const char *columns; /* for CREATE TABLE; @BLOB@ stands for the engine's word */
        const char *client;  /* column with the client's number */
        const char *key;     /* primary key */
};

extern const struct client_table client_tables[];
extern const size_t n_client_tables;

/* Makes all tables. */
int tables_make(struct database *database);
/* Replaces @WORD@ in a text by the engine's words; NULL without memory. */
char *tables_engine_text(const struct database *database, const char *text);
