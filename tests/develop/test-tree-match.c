/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The matching of trees against slow oracles: an exhaustive search, and the recurrence over all pairs. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "tree/match.h"
#include "util/util.h"

#define NODES_MAX 40
#define LABELS 26
#define SHIFT 26

static uint64_t state = 1;

static uint32_t chance(uint32_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (uint32_t)(state >> 11) % n;
}

static const int32_t rank_of[LABELS] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                         13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25 };

static void finish(struct trie *trie, struct tree *ret)
{
        _cleanup_free_ int32_t *order = NULL;

        check_int(trie_order(trie, rank_of, LABELS, &order), 0);
        check_int(tree_make(trie, order, rank_of, ret), 0);
        trie_clear(trie);
}

/* Labels of siblings differ; a small alphabet, so that many are alike in both trees. */
static void random_trie(struct trie *trie, size_t n, uint32_t labels)
{
        *trie = (struct trie){ 0 };
        trie_child(trie, -1, 0);
        for (size_t i = 1; i < n; i++)
                trie_child(trie, (int32_t)chance(chance(2) ? (uint32_t)trie->n : (uint32_t)MIN(trie->n, (size_t)3)),
                           (int32_t)(1 + chance(labels)));
}

/* Half of the pairs are a tree and a changed copy. */
static void random_pair(struct tree *a, struct tree *b, size_t n)
{
        struct trie first, second;
        uint32_t labels = 2 + chance(5);

        random_trie(&first, 2 + chance((uint32_t)n - 1), labels);
        if (chance(2)) {
                random_trie(&second, 2 + chance((uint32_t)n - 1), labels);
        } else {
                int32_t copy[NODES_MAX] = { 0 };

                second = (struct trie){ 0 };
                trie_child(&second, -1, 0);
                for (size_t i = 1; i < first.n; i++) {
                        int32_t parent = copy[first.parent[i]], label = first.label[i];

                        if (chance(6) == 0)
                                label = (int32_t)(1 + chance(labels));
                        if (chance(8) == 0 && second.n + first.n - i < NODES_MAX)
                                parent = trie_child(&second, parent, (int32_t)(1 + chance(labels)));
                        copy[i] = chance(8) == 0 ? parent : trie_child(&second, parent, label);
                }
        }
        finish(&first, a);
        finish(&second, b);
}

/* The edit distance of the paths to v and w, by the whole table. */
static int path_distance(const struct tree *a, const struct tree *b, int32_t v, int32_t w)
{
        int32_t of_v[NODES_MAX], of_w[NODES_MAX], n = a->depth[v] + 1, m = b->depth[w] + 1;
        int table[NODES_MAX + 1][NODES_MAX + 1];

        for (int32_t i = n; i-- > 0; v = a->parent[v])
                of_v[i] = a->label[v];
        for (int32_t i = m; i-- > 0; w = b->parent[w])
                of_w[i] = b->label[w];
        for (int32_t i = 0; i <= n; i++)
                for (int32_t j = 0; j <= m; j++) {
                        int best = i + j;

                        if (i > 0)
                                best = MIN(best, table[i - 1][j] + 1);
                        if (j > 0)
                                best = MIN(best, table[i][j - 1] + 1);
                        if (i > 0 && j > 0)
                                best = MIN(best, table[i - 1][j - 1] + (of_v[i - 1] != of_w[j - 1]));
                        table[i][j] = best;
                }
        return table[n][m];
}

struct oracle {
        const struct tree *a, *b;
        int alpha;
        enum match_objective objective;
        int64_t score[NODES_MAX][NODES_MAX]; /* 0: may not be matched */
        int64_t tree[NODES_MAX][NODES_MAX], forest[NODES_MAX][NODES_MAX];
        int32_t partner[NODES_MAX];
        int64_t best;
};

static void prepare(struct oracle *oracle)
{
        for (int32_t v = 0; v < oracle->a->n; v++)
                for (int32_t w = 0; w < oracle->b->n; w++) {
                        int distance = path_distance(oracle->a, oracle->b, v, w);
                        bool equal = oracle->a->label[v] == oracle->b->label[w];
                        int64_t score = equal ? MATCH_SCORE - distance : 1;

                        if (oracle->objective == MATCH_COUNT)
                                score = 1;
                        oracle->score[v][w] = distance <= oracle->alpha && score > 0 ? score << SHIFT | 1 : 0;
                }
}

/* All ways to give the children of v from the @i-th on to children of w that are not @used. */
static int64_t give(const struct oracle *oracle, int32_t v, int32_t w, int32_t i, uint64_t used)
{
        const struct tree *a = oracle->a, *b = oracle->b;
        int64_t best;

        if (i == a->first[v + 1])
                return 0;
        best = give(oracle, v, w, i + 1, used);
        for (int32_t j = b->first[w]; j < b->first[w + 1]; j++) {
                uint64_t bit = (uint64_t)1 << (j - b->first[w]);
                int64_t weight = oracle->tree[a->child[i]][b->child[j]];

                if (!(used & bit) && weight > 0)
                        best = MAX(best, weight + give(oracle, v, w, i + 1, used | bit));
        }
        return best;
}

static int64_t recurrence(struct oracle *oracle)
{
        const struct tree *a = oracle->a, *b = oracle->b;

        for (int32_t v = a->n - 1; v >= 0; v--)
                for (int32_t w = b->n - 1; w >= 0; w--) {
                        int64_t forest = give(oracle, v, w, a->first[v], 0), tree;

                        for (int32_t i = a->first[v]; i < a->first[v + 1]; i++)
                                forest = MAX(forest, oracle->forest[a->child[i]][w]);
                        for (int32_t j = b->first[w]; j < b->first[w + 1]; j++)
                                forest = MAX(forest, oracle->forest[v][b->child[j]]);
                        tree = forest + oracle->score[v][w];
                        for (int32_t i = a->first[v]; i < a->first[v + 1]; i++)
                                tree = MAX(tree, oracle->tree[a->child[i]][w]);
                        for (int32_t j = b->first[w]; j < b->first[w + 1]; j++)
                                tree = MAX(tree, oracle->tree[v][b->child[j]]);
                        oracle->forest[v][w] = forest;
                        oracle->tree[v][w] = tree;
                }
        return oracle->tree[0][0];
}

static bool is_above(const struct tree *tree, int32_t x, int32_t y)
{
        return x <= y && y < tree->end[x];
}

static int32_t common(const struct tree *tree, int32_t x, int32_t y)
{
        while (!is_above(tree, x, y))
                x = tree->parent[x];
        return x;
}

/* Is the lowest node above both x and y above z, and not z itself? */
static bool parts_above(const struct tree *tree, int32_t x, int32_t y, int32_t z)
{
        int32_t node = common(tree, x, y);

        return node != z && is_above(tree, node, z);
}

static bool parts_alike(const struct oracle *oracle, const int32_t v[3], const int32_t w[3])
{
        for (int i = 0; i < 3; i++)
                if (parts_above(oracle->a, v[i], v[(i + 1) % 3], v[(i + 2) % 3]) !=
                    parts_above(oracle->b, w[i], w[(i + 1) % 3], w[(i + 2) % 3]))
                        return false;
        return true;
}

/*
 * May (v, w) join the pairs of nodes before v? Who is above whom, of all pairs; and Zhang's condition, of
 * all triples.
 */
static bool fits(const struct oracle *oracle, int32_t v, int32_t w)
{
        for (int32_t x = 0; x < v; x++) {
                int32_t y = oracle->partner[x];

                if (y < 0)
                        continue;
                if (y == w || is_above(oracle->a, x, v) != is_above(oracle->b, y, w) ||
                    is_above(oracle->a, v, x) != is_above(oracle->b, w, y))
                        return false;
                for (int32_t p = 0; p < x; p++)
                        if (oracle->partner[p] >= 0 && !parts_alike(oracle, (int32_t[]){ v, x, p },
                                                                    (int32_t[]){ w, y, oracle->partner[p] }))
                                return false;
        }
        return true;
}

static void exhaust(struct oracle *oracle, int32_t v, int64_t sum)
{
        if (v == oracle->a->n) {
                oracle->best = MAX(oracle->best, sum);
                return;
        }
        oracle->partner[v] = -1;
        exhaust(oracle, v + 1, sum);
        for (int32_t w = 0; w < oracle->b->n; w++) {
                if (!oracle->score[v][w] || !fits(oracle, v, w))
                        continue;
                oracle->partner[v] = w;
                exhaust(oracle, v + 1, sum + oracle->score[v][w]);
                oracle->partner[v] = -1;
        }
}

/* A matching that is allowed, and whose pairs make the sum that it says. */
static void check_matching(struct oracle *oracle, const struct match *match)
{
        int64_t sum = 0;

        for (int32_t v = 0; v < oracle->a->n; v++) {
                int32_t w = match->partner[v];

                if (w >= 0) {
                        check(oracle->score[v][w] > 0);
                        check(fits(oracle, v, w));
                        check_int(match->distance[v], path_distance(oracle->a, oracle->b, v, w));
                        sum += oracle->score[v][w];
                }
                oracle->partner[v] = w;
        }
        check_int(sum, match->score << SHIFT | match->matched);
}

static void check_pair(size_t n, int alpha, enum match_objective objective, bool search)
{
        _cleanup_(tree_clear) struct tree a = { 0 }, b = { 0 };
        _cleanup_(match_clear) struct match match = { 0 }, turned = { 0 };
        struct oracle *oracle = calloc(1, sizeof(*oracle));
        int64_t best;

        random_pair(&a, &b, n);
        *oracle = (struct oracle){ .a = &a, .b = &b, .alpha = alpha, .objective = objective };
        prepare(oracle);
        best = recurrence(oracle);
        check_int(match_trees(&a, &b, alpha, objective, &match_limits, &match), 0);
        check_int(match.score << SHIFT | match.matched, best);
        check_matching(oracle, &match);
        if (search) {
                exhaust(oracle, 0, 0);
                check_int(best, oracle->best);
        }
        match_clear(&match);
        check_int(match_within(&a, &b, alpha, objective, &match_limits, &match), 0);
        check_int(match_within(&b, &a, alpha, objective, &match_limits, &turned), 0);
        for (int32_t v = 0; v < a.n; v++)
                check(match.partner[v] < 0 || turned.partner[match.partner[v]] == v);
        check_int(turned.matched, match.matched);
        match_clear(&turned);
        check_int(match_within(&a, &a, alpha, objective, &match_limits, &turned), 0);
        for (int32_t v = 0; v < a.n; v++)
                check_int(turned.partner[v], v);
        check_int(turned.matched, a.n);
        free(oracle);
}

/*
 * Two nodes whose paths are longer than alpha apart may have children that are paired one by one: c below a;b has the
 * children x, y, z, and so have three other nodes c, each below its own child of a.
 */
static void check_far_parents(void)
{
        _cleanup_(tree_clear) struct tree a = { 0 }, b = { 0 };
        _cleanup_(match_clear) struct match match = { 0 };
        struct trie first = { 0 }, second = { 0 };
        int32_t node = 0;

        for (int32_t label = 0; label < 4; label++)
                node = trie_child(&first, label ? node : -1, label);
        trie_child(&second, -1, 0);
        for (int32_t i = 0; i < 4; i++) {
                int32_t top = trie_child(&second, trie_child(&second, 0, 1), 10 + i);

                trie_child(&first, node, 20 + i);
                trie_child(&second, trie_child(&second, top, 3), 20 + i);
        }
        finish(&first, &a);
        finish(&second, &b);
        check_int(match_trees(&a, &b, 1, MATCH_SIMILAR, &match_limits, &match), 0);
        check_int(match.matched, 6);
        check_int(match.score, 2 * 12 + 4 * 11);
}

static void check_limits(void)
{
        const struct match_limits tight = { .bytes = 400, .edges = 100, .steps = 1000 }, none = { 0 };
        _cleanup_(tree_clear) struct tree a = { 0 }, b = { 0 };
        _cleanup_(match_clear) struct match match = { 0 };
        struct trie first = { 0 }, second = { 0 };

        random_trie(&first, 30, 20);
        random_trie(&second, 30, 20);
        finish(&first, &a);
        finish(&second, &b);
        check_int(match_trees(&a, &b, 3, MATCH_SIMILAR, &tight, &match), -E2BIG);
        check_int(match_within(&a, &b, 3, MATCH_SIMILAR, &tight, &match), 0);
        check(match.alpha < 3);
        match_clear(&match);
        check_int(match_within(&a, &b, 3, MATCH_SIMILAR, &none, &match), 0);
        check_int(match.alpha, 0);
}

int main(void)
{
        for (int i = 0; i < 2000; i++)
                for (int alpha = 0; alpha <= 3; alpha++)
                        check_pair(20, alpha, i % 4 == 3 ? MATCH_COUNT : MATCH_SIMILAR, false);
        for (int i = 0; i < 2000; i++)
                check_pair(7, i % 4, i % 3 == 0 ? MATCH_COUNT : MATCH_SIMILAR, true);
        check_far_parents();
        check_limits();
        return check_result();
}
