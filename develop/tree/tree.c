/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

void tree_clear(struct tree *tree)
{
        free(tree->parent);
        free(tree->label);
        free(tree->end);
        free(tree->depth);
        free(tree->first);
        free(tree->child);
        *tree = (struct tree){ 0 };
}

static int allocate(struct tree *tree, size_t n)
{
        tree->parent = calloc(n, sizeof(*tree->parent));
        tree->label = calloc(n, sizeof(*tree->label));
        tree->end = calloc(n, sizeof(*tree->end));
        tree->depth = calloc(n, sizeof(*tree->depth));
        tree->first = calloc(n + 1, sizeof(*tree->first));
        tree->child = calloc(n, sizeof(*tree->child));
        tree->n = (int32_t)n;
        return tree->parent && tree->label && tree->end && tree->depth && tree->first && tree->child ? 0 : -ENOMEM;
}

static void list_children(struct tree *tree)
{
        int32_t at = 0;

        for (int32_t v = 0; v < tree->n; v++) {
                tree->first[v] = at;
                for (int32_t child = v + 1; child < tree->end[v]; child = tree->end[child])
                        tree->child[at++] = child;
        }
        tree->first[tree->n] = at;
}

int tree_make(const struct trie *trie, const int32_t *order, const int32_t *rank, struct tree *ret)
{
        _cleanup_free_ int32_t *number = calloc(trie->n, sizeof(*number));
        _cleanup_(tree_clear) struct tree tree = { 0 };

        if (!number || allocate(&tree, trie->n) < 0)
                return -ENOMEM;
        for (int32_t i = 0; i < tree.n; i++) {
                int32_t parent = trie->parent[order[i]];

                number[order[i]] = i;
                tree.parent[i] = parent < 0 ? -1 : number[parent];
                tree.label[i] = rank[trie->label[order[i]]];
                tree.depth[i] = parent < 0 ? 0 : tree.depth[tree.parent[i]] + 1;
        }
        for (int32_t i = tree.n - 1; i >= 0; i--) {
                tree.end[i] = MAX(tree.end[i], i + 1);
                if (i > 0)
                        tree.end[tree.parent[i]] = MAX(tree.end[tree.parent[i]], tree.end[i]);
        }
        list_children(&tree);
        *ret = tree;
        tree = (struct tree){ 0 };
        return 0;
}

int tree_by_levels(const struct tree *tree, struct tree *ret, int32_t **ret_from)
{
        _cleanup_free_ int32_t *from = calloc((size_t)tree->n, sizeof(*from));
        _cleanup_(tree_clear) struct tree made = { 0 };
        int32_t n = 1;

        if (!from || allocate(&made, (size_t)tree->n) < 0)
                return -ENOMEM;
        made.parent[0] = -1;
        for (int32_t i = 0; i < tree->n; i++) {
                made.label[i] = tree->label[from[i]];
                made.depth[i] = tree->depth[from[i]];
                made.first[i] = n - 1;
                for (int32_t at = tree->first[from[i]]; at < tree->first[from[i] + 1]; at++, n++) {
                        from[n] = tree->child[at];
                        made.parent[n] = i;
                        made.child[n - 1] = n;
                }
        }
        made.first[made.n] = n - 1;
        free(made.end);
        made.end = NULL;
        *ret = made;
        made = (struct tree){ 0 };
        *ret_from = TAKE_PTR(from);
        return 0;
}

int tree_compare(const struct tree *a, const struct tree *b)
{
        if (a->n != b->n)
                return a->n < b->n ? -1 : 1;
        for (int32_t i = 0; i < a->n; i++) {
                if (a->depth[i] != b->depth[i])
                        return a->depth[i] < b->depth[i] ? -1 : 1;
                if (a->label[i] != b->label[i])
                        return a->label[i] < b->label[i] ? -1 : 1;
        }
        return 0;
}

int32_t tree_find(const struct tree *tree, int32_t node, int32_t label)
{
        int32_t low = tree->first[node], high = tree->first[node + 1];

        while (low < high) {
                int32_t middle = low + (high - low) / 2;

                if (tree->label[tree->child[middle]] < label)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < tree->first[node + 1] && tree->label[tree->child[low]] == label ? tree->child[low] : -1;
}
