/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How much CPU time two files of folded stacks take to read, to make contexts of, and to match, and the
 * most memory that was used.
 *
 * Usage: bench-diff A B PREFIX ALPHA...; PREFIX of the frameworks' frames
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "read.h"
#include "tree/contexts.h"
#include "tree/match.h"
#include "util/util.h"

#define RUNS 3

static double now(void)
{
        struct timespec time;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int load(const char *path, const char *prefix, struct stacks *stacks, struct labels *labels,
                struct contexts *contexts)
{
        const char *prefixes[] = { prefix, NULL };
        const struct context_rules rules = { .frames = { .framework_prefixes = prefixes } };
        struct read read = { .name = path, .stacks = stacks };
        double start = now(), parsed;
        struct stat status;

        if (stat(path, &status) < 0 || stacks_new(stacks) < 0 || read_file(&read, path) < 0)
                return -1;
        parsed = now();
        if (contexts_make(stacks, &rules, labels, contexts) < 0)
                return -1;
        printf("%s: %.1f MB read in %.3f s (%.0f MB/s), contexts in %.3f s\n", path,
               (double)status.st_size * 1e-6, parsed - start,
               (double)status.st_size * 1e-6 / (parsed - start), now() - parsed);
        return 0;
}

static int match(const struct contexts *a, const struct contexts *b, int alpha)
{
        struct match found = { 0 };
        double best = 0, start;
        struct rusage usage;

        for (int i = 0; i < RUNS; i++) {
                match_clear(&found);
                start = now();
                if (match_within(&a->tree, &b->tree, alpha, MATCH_SIMILAR, &match_limits, &found) < 0)
                        return -1;
                best = i == 0 ? now() - start : MIN(best, now() - start);
        }
        getrusage(RUSAGE_SELF, &usage);
        printf("alpha %d: %.3f s, %d pairs%s, %ld MB\n", alpha, best, found.matched,
               found.alpha != alpha ? " (fell back)" : "", usage.ru_maxrss / 1024);
        match_clear(&found);
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_(stacks_clear) struct stacks stacks_a = { 0 }, stacks_b = { 0 };
        _cleanup_(contexts_clear) struct contexts a = { 0 }, b = { 0 };
        _cleanup_(labels_clear) struct labels labels = { 0 };
        _cleanup_free_ int32_t *rank = NULL;

        if (argc < 5) {
                fprintf(stderr, "Usage: bench-diff A B PREFIX ALPHA...\n");
                return 2;
        }
        if (load(argv[1], argv[3], &stacks_a, &labels, &a) < 0 ||
            load(argv[2], argv[3], &stacks_b, &labels, &b) < 0 || labels_rank(&labels, &rank) < 0 ||
            contexts_finish(&a, rank, labels.n) < 0 || contexts_finish(&b, rank, labels.n) < 0)
                return 1;
        printf("%d and %d nodes\n", a.tree.n, b.tree.n);
        for (int i = 4; i < argc; i++)
                if (match(&a, &b, atoi(argv[i])) < 0)
                        return 1;
        return 0;
}
