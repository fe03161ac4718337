/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "read.h"
#include "tree/functions.h"
#include "tree/match.h"
#include "tree/overrides.h"
#include "util/util.h"

/* Folded stacks, the contexts that are made of them, and a match of these with themselves, which is perfect. */
static void check_contexts(const struct stacks *stacks)
{
        const char *prefixes[] = { "f", NULL };
        const struct match_limits limits = { .bytes = (size_t)64 << 20, .edges = 10000, .steps = 10000000 };
        struct context_rules rules = { .frames = { .dsos = true } };
        _cleanup_(labels_clear) struct labels labels = { 0 };
        _cleanup_(overrides_clear) struct overrides overrides = { 0 };
        _cleanup_(contexts_clear) struct contexts contexts = { 0 };
        _cleanup_(match_clear) struct match match = { 0 };
        _cleanup_free_ int32_t *rank = NULL;

        if (stacks->trie.n % 2)
                rules = (struct context_rules){ .frames = { .framework_prefixes = prefixes }, .keep = true };
        rules.own = stacks->trie.n % 3 == 0;
        fuzz_assert(overrides_add(&overrides, stacks, &rules.frames, &labels) == 0);
        fuzz_assert(overrides_finish(&overrides, &labels) == 0);
        rules.overrides = &overrides;
        fuzz_assert(contexts_make(stacks, &rules, &labels, &contexts) == 0);
        fuzz_assert(functions_name(&(struct contexts *){ &contexts }, 1, &labels) == 0);
        fuzz_assert(labels_rank(&labels, &rank) == 0);
        fuzz_assert(contexts_finish(&contexts, rank, labels.n) == 0);
        fuzz_assert(contexts.tree.n >= 1 && contexts.tree.n <= (int32_t)stacks->trie.n * (rules.own ? 2 : 1));
        if (contexts.tree.n > 500 ||
            match_within(&contexts.tree, &contexts.tree, 1, MATCH_SIMILAR, &limits, &match) < 0)
                return;
        fuzz_assert(match.matched == contexts.tree.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(stacks_clear) struct stacks stacks = { 0 };
        _cleanup_(folded_freep) struct folded *folded = NULL;
        struct read read = { .name = "fuzz", .stacks = &stacks };

        fuzz_assert(stacks_new(&stacks) == 0 && stacks_begin(&stacks) == 0 && folded_new(&folded) == 0);
        if (folded_parse(&read, folded, (const char *)data, size) == 0)
                check_contexts(&stacks);
        return 0;
}
