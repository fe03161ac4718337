/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How many tasks programs have in common: DiffProf's table 3 and its figure 2. */

#include "matrix.h"

struct overlap {
        size_t with[DIFF_SIDES_MAX][DIFF_SIDES_MAX];   /* [program][n]: its tasks that n other programs have, too */
        size_t common[DIFF_SIDES_MAX][DIFF_SIDES_MAX]; /* tasks that two programs have; [a][a]: all tasks of a */
        double share[DIFF_SIDES_MAX];                  /* cost of shared tasks, as a part of that of all tasks */
};

void overlap_count(const struct matrix *matrix, struct overlap *ret);
/* Prints two tables for people. */
void overlap_print(const struct matrix *matrix);
/* Tasks that two programs have in common, as a part of those that one of them has; NaN: there are none. */
double overlap_part(const struct overlap *overlap, size_t a, size_t b);
