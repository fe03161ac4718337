/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define NAMES_SHARE 0.05 /* a function below a greater share of the tasks' names is no evidence */
#define NAMES_MIN 2     /* it may be below so many in any case: a pair of tasks with different names has two */

/* Functions and the tasks that they are below: the function's label in the upper 32 bits, the task's in the lower. */
struct below {
        uint64_t *pairs;
        size_t n;
};

static int compare_pairs(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static int list_side(const struct side *side, const struct labels *labels, struct below *below)
{
        const struct contexts *contexts = &side->contexts;
        /* The label of the nearest task at or above each node; -1: none. */
        _cleanup_free_ int32_t *task = calloc((size_t)contexts->tree.n, sizeof(*task));

        if (!task)
                return -ENOMEM;
        task[0] = -1;
        for (int32_t i = 1; i < contexts->tree.n; i++) {
                int32_t above = task[contexts->tree.parent[i]];

                task[i] = contexts_is_task(contexts, labels, i) ? contexts->label[i] : above;
                if (above >= 0)
                        below->pairs[below->n++] = (uint64_t)contexts->label[i] << 32 | (uint32_t)above;
        }
        return 0;
}

/* Does the kernel run this function in each system call? */
static bool is_entry(const char *label)
{
        static const char *const names[] = { "entry_SYSCALL", "do_syscall_64",  "x64_sys_call",
                                             "syscall_exit_", "el0_svc",        "el0t_64_sync",
                                             "do_el0_svc",    "invoke_syscall", "ret_fast_syscall" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strncmp(label + 1, names[i], strlen(names[i])) == 0) /* after its class */
                        return true;
        return false;
}

static void mark_entries(const struct labels *labels, char *common)
{
        for (size_t i = 0; i < labels->n; i++)
                common[i] = is_entry(labels_text(labels, (int32_t)i));
}

/* Marks labels that are below too many of the tasks' names. */
static void mark_common(const struct below *below, size_t names, char *common)
{
        double most = MAX(NAMES_MIN, NAMES_SHARE * (double)names);
        size_t count = 0;

        for (size_t i = 0; i < below->n; i++) {
                if (i > 0 && below->pairs[i] == below->pairs[i - 1])
                        continue;
                count = i > 0 && below->pairs[i] >> 32 == below->pairs[i - 1] >> 32 ? count + 1 : 1;
                if ((double)count > most)
                        common[below->pairs[i] >> 32] = 1;
        }
}

static size_t count_names(const struct comparison *comparison, char *seen)
{
        const struct side *sides[] = { comparison->a, comparison->b };
        size_t n = 0;

        for (size_t side = 0; side < ARRAY_SIZE(sides); side++) {
                const struct contexts *contexts = &sides[side]->contexts;

                for (int32_t i = 1; i < contexts->tree.n; i++) {
                        if (seen[contexts->label[i]] || !contexts_is_task(contexts, comparison->labels, i))
                                continue;
                        seen[contexts->label[i]] = 1;
                        n++;
                }
        }
        return n;
}

static bool is_equal(const struct comparison *comparison, int32_t v)
{
        int32_t w = comparison->match.partner[v];

        return w >= 0 && comparison->a->contexts.label[v] == comparison->b->contexts.label[w];
}

int evidence_count(const struct comparison *comparison, struct evidence **ret)
{
        const struct tree *tree = &comparison->a->contexts.tree;
        size_t n = (size_t)tree->n + (size_t)comparison->b->contexts.tree.n;
        _cleanup_free_ char *common = calloc(comparison->labels->n + 1, 1),
                            *seen = calloc(comparison->labels->n + 1, 1);
        _cleanup_free_ uint64_t *pairs = calloc(n, sizeof(*pairs));
        _cleanup_free_ struct evidence *evidence = calloc((size_t)tree->n, sizeof(*evidence));
        struct below below = { .pairs = pairs };
        int err;

        if (!common || !seen || !pairs || !evidence)
                return -ENOMEM;
        err = list_side(comparison->a, comparison->labels, &below);
        if (err == 0)
                err = list_side(comparison->b, comparison->labels, &below);
        if (err < 0)
                return err;
        qsort(below.pairs, below.n, sizeof(*below.pairs), compare_pairs);
        mark_entries(comparison->labels, common);
        mark_common(&below, count_names(comparison, seen), common);
        for (int32_t v = tree->n - 1; v > 0; v--) {
                int32_t parent = tree->parent[v];
                bool counts = is_equal(comparison, v) && !common[comparison->a->contexts.label[v]];

                evidence[parent].pairs += evidence[v].pairs + counts;
                evidence[parent].places += evidence[v].places + (counts && !is_equal(comparison, parent));
        }
        *ret = TAKE_PTR(evidence);
        return 0;
}
