/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "joined.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

void joined_clear(struct joined *joined)
{
        trie_clear(&joined->trie);
        free(joined->order);
        free(joined->a);
        free(joined->b);
        *joined = (struct joined){ 0 };
}

/* Copies a name. Unprintable characters become '?', those of @reserved '_'. @buf has FRAME_NAME_MAX bytes. */
static void spell(const char *text, size_t length, const char *reserved, char *buf)
{
        char copy[FRAME_NAME_MAX];

        snprintf(copy, sizeof(copy), "%.*s", (int)MIN(length, sizeof(copy) - 1), text);
        util_printable(copy, buf, FRAME_NAME_MAX);
        for (char *at = strpbrk(buf, reserved); at; at = strpbrk(at, reserved))
                *at = '_';
}

void joined_spell(const struct joined *joined, int32_t label, struct joined_frame *ret)
{
        const char *text = labels_text(joined->comparison->labels, label), *name = text + 1,
                   *library = strchr(name, '\t');

        spell(name, strcspn(name, "\t"), ";", ret->name);
        if (!ret->name[0])
                snprintf(ret->name, sizeof(ret->name), "[unknown]");
        if (*text == CONTEXT_APP && joined->dsos)
                library = joined->program;
        else if (library)
                library++;
        else
                library = "";
        spell(library, strlen(library), ";@ ", ret->dso);
}

static void name_program(struct joined *joined)
{
        const struct stacks *stacks = &joined->comparison->a->stacks;
        const char *name = stacks->program;

        if (!name)
                name = stacks->trie.n > 1 ? labels_text(&stacks->labels, stacks->trie.label[1]) : "";
        spell(name, strlen(name), ";@ ", joined->program);
        if (!joined->program[0])
                snprintf(joined->program, sizeof(joined->program), "app");
}

/* Adds A's nodes, which keep their numbers. */
static int add_a(struct joined *joined)
{
        const struct contexts *contexts = &joined->comparison->a->contexts;

        for (int32_t v = 0; v < contexts->tree.n; v++) {
                int32_t node = trie_child(&joined->trie, contexts->tree.parent[v], contexts->label[v]);

                if (node < 0)
                        return node;
        }
        return 0;
}

/* Adds B's nodes. @at: set to the joined node of each node of B. */
static int add_b(struct joined *joined, int32_t *at)
{
        const struct comparison *comparison = joined->comparison;
        const struct contexts *contexts = &comparison->b->contexts;

        for (int32_t w = 1; w < contexts->tree.n; w++)
                at[w] = -1;
        for (int32_t v = 1; v < comparison->a->contexts.tree.n; v++) {
                int32_t w = comparison->match.partner[v];

                if (w > 0 && comparison_has_evidence(comparison, v, w))
                        at[w] = v;
        }
        for (int32_t w = 1; w < contexts->tree.n; w++) {
                if (at[w] < 0)
                        at[w] = trie_child(&joined->trie, at[contexts->tree.parent[w]], contexts->label[w]);
                if (at[w] < 0)
                        return at[w];
        }
        return 0;
}

/* Sums up self costs by joined node. @at: the joined node of each node of the side; NULL: the same numbers. */
static int fill(const struct joined *joined, const struct side *side, const int32_t *at, int64_t **ret)
{
        size_t n = joined->trie.n;
        _cleanup_free_ double *self = calloc(n, sizeof(*self));
        double sum = 0;
        int64_t written = 0;

        *ret = calloc(n, sizeof(**ret));
        if (!self || !*ret)
                return -ENOMEM;
        for (int32_t i = 0; i < side->contexts.tree.n; i++)
                self[at ? at[i] : i] += side_self(side, i);
        for (size_t i = 0; i < n; i++) {
                int32_t node = joined->order[i];

                sum += self[node];
                if (sum >= 0x1p62)
                        return -ERANGE;
                (*ret)[node] = llround(sum) - written;
                written += (*ret)[node];
        }
        return 0;
}

int joined_make(const struct comparison *comparison, struct joined *ret)
{
        _cleanup_(joined_clear) struct joined joined = { .comparison = comparison };
        _cleanup_free_ int32_t *at = calloc((size_t)comparison->b->contexts.tree.n, sizeof(*at)), *rank = NULL;
        int err;

        if (!at)
                return -ENOMEM;
        name_program(&joined);
        joined.dsos = side_has_dsos(comparison->a) || side_has_dsos(comparison->b);
        err = add_a(&joined);
        if (err == 0)
                err = add_b(&joined, at);
        if (err == 0)
                err = labels_rank(comparison->labels, &rank);
        if (err == 0)
                err = trie_order(&joined.trie, rank, comparison->labels->n, &joined.order);
        if (err == 0)
                err = fill(&joined, comparison->a, NULL, &joined.a);
        if (err == 0)
                err = fill(&joined, comparison->b, at, &joined.b);
        if (err < 0)
                return err;
        *ret = joined;
        joined = (struct joined){ 0 };
        return 0;
}
