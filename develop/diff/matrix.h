/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tasks of several programs, or of several versions of one: a row a task, a column a program. */

#include "comparison.h"

struct matrix_row {
        struct task_side *cells; /* one for each program; node -1: it has no such task */
        size_t shown;            /* the first program that has it, whose names are shown */
        size_t dearest, cheapest;   /* programs */
        struct estimate difference; /* dearest - cheapest */
        double p;                   /* after Bonferroni for all pairs of programs, and Holm for all rows */
        bool significant;
};

/* From one version to the next, or from the first to the last. */
struct matrix_step {
        size_t row, before, after;
        struct estimate difference; /* after - before */
        double p;                   /* after Holm for all rows and steps */
};

struct matrix {
        struct side *sides;
        size_t n_sides;
        const struct labels *labels;
        struct match_wish wish;
        int alpha, alpha_most; /* the least and the greatest that were used */
        bool fell_back; /* at least one comparison fell back */
        struct matrix_row *rows;
        size_t n, capacity;
        int32_t **next; /* for each program and node the next one of the same task elsewhere; 0: none */
        struct matrix_step *steps; /* significant ones, from the greatest increase to the greatest decrease */
        size_t n_steps;
};

/**
 * matrix_make() - the tasks of several programs
 *
 * Each program is matched with the ones before it, the nearest first: a task goes where its partner is, if
 * that row has none of this program yet.
 *
 * Return: 0; -ENOMEM; -E2BIG.
 */
int matrix_make(struct side *sides, size_t n, const struct labels *labels, const struct match_wish *wish,
                struct matrix *ret);
void matrix_clear(struct matrix *matrix);
/*
 * Fills matrix->steps: where tasks became dearer or cheaper. The step from the first to the last program is
 * listed only where no single step is. 0; -ENOMEM.
 */
int matrix_bisect(struct matrix *matrix);
/*
 * Finds the task with the greatest increase that is significantly more than @share in one step, or from the first
 * program to the last. 1; 0: none; -ENOMEM.
 */
int matrix_find_dearer(const struct matrix *matrix, double share, struct matrix_step *ret);
/* The task's name and its caller, in @buf. */
const char *matrix_name(const struct matrix *matrix, const struct matrix_row *row, char *buf, size_t size);
const char *matrix_from(const struct matrix *matrix, const struct matrix_row *row, char *buf, size_t size);
