/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calling contexts that can be compared between programs, made of stacks: names without what differs between builds, the
 * app's frames merged into its callbacks, recursion folded, code before main() left out, interrupts and page faults cut off.
 */

#include "frame.h"
#include "stacks.h"
#include "tree.h"

/* What the first letter of a label says of its nodes. */
enum context_class {
        CONTEXT_ROOT = 'R',
        CONTEXT_APP = 'A',
        CONTEXT_FRAMEWORK = 'F',
        CONTEXT_INTERRUPT = 'I', /* also page faults: no task */
};

struct overrides;
struct context_rules {
        struct frame_rules frames;
        struct overrides *overrides; /* of all programs; NULL: none */
        bool keep; /* the app's frames as they are, instead of merged into its callbacks */
        bool own;  /* what a function of the app costs itself is a node below it, and a task */
};

struct contexts {
        struct trie trie;
        struct tree tree;
        int32_t *label;      /* of each node of @tree, in the labels that all programs share */
        int32_t *origin;     /* of each node of @tree, the heaviest node of the stacks that it was made of */
        double **value;      /* of each run, of each node of @tree: with all below it */
        double **self;       /* without */
        double **square;     /* sums of squares of the samples in @value; of a run NULL: unknown */
        double *largest;     /* of all samples in @value, of all runs; 0: unknown */
        double *without_app; /* of each run, of stacks without a frame of the app */
        size_t n_runs;

        int32_t *trie_origin; /* of each node of @trie, before contexts_finish() */
        double **trie_self, **trie_square, *trie_largest;
};

void contexts_clear(struct contexts *contexts);
/* The label of a function. -ENOMEM; -E2BIG. */
int32_t contexts_label(struct labels *labels, enum context_class class, const char *name, const char *library);
/* Also with the other programs' @labels. 0; -ENOMEM; -E2BIG. */
int contexts_make(const struct stacks *stacks, const struct context_rules *rules, struct labels *labels, struct contexts *ret);
/* When all programs' contexts were made, and no label comes any more: the tree. @rank: of labels_rank(). 0; -ENOMEM. */
int contexts_finish(struct contexts *contexts, const int32_t *rank, size_t n_labels);

static inline enum context_class contexts_class(const struct contexts *contexts, const struct labels *labels, int32_t node)
{
        return (enum context_class)labels_text(labels, contexts->label[node])[0];
}

/* A call of a framework from the app, or from no function that is known. */
bool contexts_is_task(const struct contexts *contexts, const struct labels *labels, int32_t node);
