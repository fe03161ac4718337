/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A trie of calling contexts while it grows: a node is one path of labels from the root, which is node 0. */

#include <stddef.h>
#include <stdint.h>

/* More than any tree of a real program; keeps hostile input within the memory bound. */
#define TRIE_NODES_MAX 2000000

struct trie {
        int32_t *parent, *label; /* a parent has a smaller number than its children; the root's is -1 */
        size_t n, parents, labels;
        int32_t *first; /* first[v + 1] is the child that node v got first; -1: none. Most nodes have no other */
        size_t capacity; /* each of the three lists has room for at least so many */
        int32_t *slots; /* open addressing, for children that are not the first; -1: free */
        size_t n_slots, used;
};

void trie_clear(struct trie *trie);
/* The child of a node with this label, new or not; @parent -1: the root. -ENOMEM; -E2BIG: too many nodes. */
int32_t trie_child(struct trie *trie, int32_t parent, int32_t label);
int32_t trie_find(const struct trie *trie, int32_t parent, int32_t label); /* -1: it is not there */

/**
 * trie_order() - number the nodes from the root down, children in the order of their labels
 * @rank:  rank of each label
 * @n:     number of labels
 * @ret:   the nodes in that order; free() it
 *
 * Return: 0; -ENOMEM.
 */
int trie_order(const struct trie *trie, const int32_t *rank, size_t n, int32_t **ret);
