/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A finished tree, as the matching reads it. Nodes are numbered from the root down (a subtree is a range of
 * numbers), and children are in the order of their labels: equal trees have equal numbers, whatever the order of
 * the input.
 */

#include <stdint.h>

#include "trie.h"

struct tree {
        int32_t n;
        int32_t *parent; /* -1: the root */
        int32_t *label;  /* rank of the label, so that two trees of the same labels can be compared */
        int32_t *end;    /* number of the last node of the subtree, + 1 */
        int32_t *depth;
        int32_t *first;  /* n + 1: children of v are child[first[v]] to before child[first[v + 1]] */
        int32_t *child;
};

/**
 * tree_make() - make a tree of a trie
 * @order: by trie_order()
 * @rank:  rank of each label
 *
 * Return: 0; -ENOMEM.
 */
int tree_make(const struct trie *trie, const int32_t *order, const int32_t *rank, struct tree *ret);
void tree_clear(struct tree *tree);
/*
 * The same tree with its nodes numbered level by level: children of one node have successive numbers, and
 * there is no @end.
 * @from: for each node its number in @tree, to free(). 0; -ENOMEM.
 */
int tree_by_levels(const struct tree *tree, struct tree *ret, int32_t **from);
/* Compares shapes and labels: below 0, 0 or above, as strcmp(). */
int tree_compare(const struct tree *a, const struct tree *b);
/* The child with this label; -1: none. */
int32_t tree_find(const struct tree *tree, int32_t node, int32_t label);
