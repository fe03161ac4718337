/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One of the programs that are compared: its stacks of one or several runs, and its contexts. */

#include "dispersion.h"
#include "read.h"
#include "record/same-work.h"
#include "tree/contexts.h"

#define DIFF_SIDES_MAX 16

struct calls; /* how often functions were called, where that was counted */

struct side {
        char *name; /* as the user gave it, safe to print */
        struct stacks stacks;
        struct contexts contexts;
        const char *unit;    /* unit of the values */
        char event[PERF_EVENT_SIZE]; /* the event of perf script that counted; empty: it is something else */
        double seconds;      /* for how long it was recorded, all runs; 0: unknown */
        double sample;       /* mean value of a sample */
        struct calls *calls; /* NULL: unknown */
        struct work_done work; /* the work that the program did, from folders of joulecast record */
        bool uncounted; /* the number of samples is unknown, and there are too few runs to see how values vary */
        struct dispersion dispersion; /* how much the values of contexts vary between runs */
};

/**
 * side_read() - read a program's files
 * @words: a file; files with commas between; or a folder of `joulecast record`
 * @event: the event of perf script that counts; empty: the first
 *
 * Return: 0; a negative errno after its sentence.
 */
int side_read(const char *words, const char *event, const struct log *log, struct side *ret);
void side_clear(struct side *side);
/* Do frames of these stacks have a DSO? */
bool side_has_dsos(const struct side *side);
bool side_has_python(const struct side *side); /* functions of Python's have names */
bool side_has_jit(const struct side *side);    /* functions that an interpreter runs have names */
/* Calls of a frame as it is in the stacks; NAN: not counted. */
double side_calls(const struct side *side, const char *frame);
/* Share of the values whose stacks have no frame of the app. */
double side_without_app(const struct side *side);
/* Mean value of a sample: 1 where counts are samples. */
double side_mean_sample(const struct stacks *stacks);
/* The value of a node, as the mean of the runs. */
double side_value(const struct side *side, int32_t node);
double side_self(const struct side *side, int32_t node); /* without what is below it */
/* Number of equal samples that a node is worth, in all runs: (sum of values)^2 / (sum of their squares). */
double side_effective_samples(const struct side *side, int32_t node);
/* Mean value of one of these samples; for a node without any, that of the whole program. */
double side_sample(const struct side *side, int32_t node);
/* Value of the node's largest sample; at least side_sample(). */
double side_largest_sample(const struct side *side, int32_t node);
