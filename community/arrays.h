/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Rows that go to PostgreSQL together: an array of each column, as the text that the server reads. */

#include <stdio.h>

#include "database.h"

struct arrays {
        const char *types; /* of the columns: i integer, t text, b blob; NULL: there are none */
        struct {
                FILE *file;
                char *text;
                size_t size;
        } columns[DATABASE_PARAMETERS_MAX];
        size_t rows, bytes;
};

/* A row; an integer is text, too, and NULL is none. 1: they are enough for now; 0; -ENOMEM. */
int arrays_add(struct arrays *arrays, const char *const *values, const int *lengths);
/* The text of each column, until arrays_clear(). 0; -ENOMEM. */
int arrays_end(struct arrays *arrays, const char **ret);
void arrays_clear(struct arrays *arrays); /* but for @types */
