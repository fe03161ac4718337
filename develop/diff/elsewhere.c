/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elsewhere.h"

#include <errno.h>
#include <stdlib.h>

#include "leftover.h"
#include "util/util.h"

/* The tasks of one name in one program. */
struct named {
        size_t n, left;
        int32_t dearest; /* the dearest task that is left; 0: none is left */
        int32_t other;   /* one that has a partner; 0: all are left */
        bool carried;    /* one of those that are left is below a carrier */
};

static struct named *list_names(const struct side *side, const struct labels *labels, const char *left)
{
        struct named *names = calloc(labels->n + 1, sizeof(*names));
        const struct contexts *contexts = &side->contexts;

        for (int32_t i = 1; names && i < contexts->tree.n; i++) {
                struct named *name = &names[contexts->label[i]];

                if (!contexts_is_task(contexts, labels, i) || contexts->label[i] == contexts->carrier)
                        continue;
                name->n++;
                if (!left[i]) {
                        name->other = i;
                        continue;
                }
                name->left++;
                name->carried |= leftover_is_carried(contexts, i);
                if (name->dearest == 0 || side_value(side, i) > side_value(side, name->dearest))
                        name->dearest = i;
        }
        return names;
}

/*
 * Tasks of a name that only one program has left, because it does a part of that work in a thread, belong to the one
 * that has a partner, if there is no second.
 */
static void follow_pair(struct named *name)
{
        if (name->left > 0 && name->n == name->left + 1 && name->carried)
                name->dearest = name->other;
}

/* Links the left tasks of each joined name behind the dearest one, or the one that has a partner. */
static void chain(const struct side *side, const char *joined, const struct named *names, char *left, int32_t *next)
{
        const struct contexts *contexts = &side->contexts;

        for (int32_t i = contexts->tree.n - 1; i > 0; i--) {
                int32_t label = contexts->label[i], first = names[label].dearest;

                if (!left[i] || !(joined[label] || (first > 0 && first == names[label].other)))
                        continue;
                left[i] = ELSEWHERE;
                if (i != first) {
                        next[i] = next[first];
                        next[first] = i;
                }
        }
}

int elsewhere_join(struct comparison *comparison, char *left_a, char *left_b,
                   void (*add)(struct comparison *comparison, int32_t v, int32_t w))
{
        struct side *a = comparison->a, *b = comparison->b;
        size_t n = comparison->labels->n;
        _cleanup_free_ struct named *names_a = list_names(a, comparison->labels, left_a),
                                    *names_b = list_names(b, comparison->labels, left_b);
        _cleanup_free_ char *joined = calloc(n + 1, 1);

        comparison->next_a = calloc((size_t)a->contexts.tree.n, sizeof(*comparison->next_a));
        comparison->next_b = calloc((size_t)b->contexts.tree.n, sizeof(*comparison->next_b));
        if (!names_a || !names_b || !joined || !comparison->next_a || !comparison->next_b)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                comparison->equal += MIN(names_a[i].n, names_b[i].n);
                comparison->apart += MIN(names_a[i].left, names_b[i].left);
                joined[i] = names_a[i].left > 0 && names_b[i].left > 0 && (names_a[i].carried || names_b[i].carried);
                if (joined[i])
                        add(comparison, names_a[i].dearest, names_b[i].dearest);
                else if (names_a[i].left == 0 || names_b[i].left == 0)
                        follow_pair(names_a[i].left ? &names_a[i] : &names_b[i]);
        }
        chain(a, joined, names_a, left_a, comparison->next_a);
        chain(b, joined, names_b, left_b, comparison->next_b);
        return 0;
}
