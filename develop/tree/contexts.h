/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calling contexts that can be compared between programs, made of stacks: names without parts that differ
 * between builds, the app's frames merged into its callbacks, recursion folded, code before main() left
 * out, interrupts and page faults cut off.
 */

#include "frame.h"
#include "stacks.h"
#include "tree.h"

/* Class of the nodes of a label: the first letter of its text. */
enum context_class {
        CONTEXT_ROOT = 'R',
        CONTEXT_APP = 'A',
        CONTEXT_FRAMEWORK = 'F',
        CONTEXT_INTERRUPT = 'I', /* also page faults: no task */
};

/* Name of all threads and event loops. Their cost is without that of the app's functions that they run. */
#define CONTEXT_CARRIER "[carrier]"
#define CONTEXT_OWN "[own]" /* in place of the library of a function of the app that is a task */

struct overrides;
struct context_rules {
        struct frame_rules frames;
        struct overrides *overrides; /* shared by all programs; NULL: none */
        bool keep; /* keep the app's frames as they are, instead of merging them into its callbacks */
        bool own;  /* the self cost of a function of the app is a node below it, and a task */
};

struct contexts {
        struct trie trie;
        struct tree tree;
        char *program;       /* its name in the first of the stacks */
        int32_t *label;      /* label of each node of @tree; all programs share the labels */
        int32_t *shown;      /* label with the name for people, likewise */
        int32_t *origin;     /* for each node of @tree, the heaviest of the stacks' nodes that it was made of */
        double **value;      /* inclusive cost by run and node of @tree; a carrier's is without the cost of the
                                app's functions */
        double **self;       /* self cost by run and node of @tree */
        double **square;     /* sums of squares of the samples in @value; NULL for a run: unknown */
        double *largest;     /* largest of the samples in @value, in all runs; 0: unknown */
        double *without_app; /* for each run, cost of the stacks without a frame of the app */
        size_t n_runs;

        int32_t *trie_shown;  /* @shown for the nodes of @trie, before contexts_finish(); -1: the label itself */
        char *trie_app;       /* for each node of @trie, whether it is a function of the app */
        int32_t carrier;      /* the label of carriers; -1: there are none */
        int32_t *trie_origin;
        double **trie_self, **trie_square, *trie_largest;
};

void contexts_clear(struct contexts *contexts);
/* The label of a function. -ENOMEM; -E2BIG. */
int32_t contexts_label(struct labels *labels, enum context_class class, const char *name, const char *library);
/* Makes the contexts of a program. @labels: shared with the other programs. 0; -ENOMEM; -E2BIG. */
int contexts_make(const struct stacks *stacks, const struct context_rules *rules, struct labels *labels,
                  struct contexts *ret);
/*
 * Makes the tree. Call it when all programs' contexts were made and named (functions.h), and no label will be added.
 * @rank: by labels_rank(). 0; -ENOMEM.
 */
int contexts_finish(struct contexts *contexts, const int32_t *rank, size_t n_labels);

static inline enum context_class contexts_class(const struct contexts *contexts, const struct labels *labels,
                                                int32_t node)
{
        return (enum context_class)labels_text(labels, contexts->label[node])[0];
}

/* Is the node a call of a framework from the app, or from an unknown function? */
bool contexts_is_task(const struct contexts *contexts, const struct labels *labels, int32_t node);
