/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One of the programs that are compared: its stacks of one or several runs, and its contexts. */

#include "dispersion.h"
#include "read.h"
#include "same-work.h"
#include "tree/contexts.h"

#define DIFF_SIDES_MAX 16

struct calls; /* how often functions were called, where that was counted */

struct side {
        char *name; /* as the user gave it, safe to print */
        struct stacks stacks;
        struct contexts contexts;
        const char *unit;    /* of values */
        double sample;       /* what a sample counts, on average */
        struct calls *calls; /* NULL: unknown */
        struct work_done work; /* of folders of joulecast record */
        struct dispersion dispersion; /* of contexts */
};

/**
 * side_read() - read a program's files
 * @words: a file; files with commas between; or a folder of `joulecast record`
 *
 * Return: 0; a negative errno after its sentence.
 */
int side_read(const char *words, const struct log *log, struct side *ret);
void side_clear(struct side *side);
/* Do frames of these stacks have a DSO? */
bool side_has_dsos(const struct side *side);
/* Calls of a frame as it is in the stacks; NAN: not counted. */
double side_calls(const struct side *side, const char *frame);
/* Share of the values whose stacks have no frame of the app. */
double side_without_app(const struct side *side);
/* What one sample counts, on average: 1 where counts are samples. */
double side_mean_sample(const struct stacks *stacks);
/* The value of a node, as the mean of the runs. */
double side_value(const struct side *side, int32_t node);
double side_self(const struct side *side, int32_t node); /* without what is below it */
/* Of how many samples of equal size a node is, in all runs: (sum of values)^2 by the sum of their squares. */
double side_effective_samples(const struct side *side, int32_t node);
/* What one of these counts; of a node without any, what a sample counts on average. */
double side_sample(const struct side *side, int32_t node);
/* What the largest of its samples counts; at least side_sample(). */
double side_largest_sample(const struct side *side, int32_t node);
