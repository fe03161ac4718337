/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The trees of two programs joined into one, for formats that have one tree with several values: A's tree, and
 * the nodes that only B has, below their nearest ancestor that has a partner in A.
 */

#include "comparison.h"

struct joined {
        const struct comparison *comparison;
        char program[FRAME_NAME_MAX]; /* A's name, spelled as a frame: the root */
        bool dsos;                    /* frames of the app are spelled with their file, too: others have one */
        struct trie trie;
        int32_t *order;  /* its nodes from the root down: a node's subtree follows it */
        int64_t *a, *b;  /* self cost of each node, as the mean of the runs; the sums are the programs' totals */
};

/* How a label is spelled: valid UTF-8 that can be printed, without ';'. */
struct joined_frame {
        char name[FRAME_NAME_MAX];
        char dso[FRAME_NAME_MAX];     /* without blanks and '@'; empty: none */
};

/**
 * joined_make() - join the trees
 * @comparison: must outlive @ret
 *
 * A pair with different names is joined, under A's name, where tasks of other names count as the same
 * (comparison_has_evidence()).
 * Nodes with equal names below one node are merged. Values are whole numbers: each is rounded so that the sum
 * up to it is right.
 *
 * Return: 0; -ERANGE: the values are larger than 64 bits hold; -E2BIG: too many nodes; -ENOMEM.
 */
int joined_make(const struct comparison *comparison, struct joined *ret);
void joined_clear(struct joined *joined);
void joined_spell(const struct joined *joined, int32_t label, struct joined_frame *ret);
