/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Rows that are sent to PostgreSQL together, as one array per column in the text format of the server. */

#include <stdio.h>

#include "database.h"

struct arrays {
        const char *types; /* types of the columns: i integer, t text, b blob; NULL: there are none */
        struct {
                FILE *file;
                char *text;
                size_t size;
        } columns[DATABASE_PARAMETERS_MAX];
        size_t rows, bytes;
};

/*
 * Adds a row. Integers are given as text, too; NULL stands for SQL NULL. Returns 1 if the arrays should be
 * sent now; 0; -ENOMEM.
 */
int arrays_add(struct arrays *arrays, const char *const *values, const int *lengths);
/* Sets the text of each column, valid until arrays_clear(). Returns 0 or -ENOMEM. */
int arrays_end(struct arrays *arrays, const char **ret);
void arrays_clear(struct arrays *arrays); /* keeps @types */
