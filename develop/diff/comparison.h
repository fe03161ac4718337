/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tasks of two programs, side by side. */

#include "estimate.h"
#include "side.h"
#include "tree/match.h"

/* A task needs so many samples on one side: sums of fewer vary more than their interval shows. */
#define TASK_SAMPLES_MIN 10

/* Matched pairs with equal names below a node of A and its partner, without functions that are below many tasks. */
struct evidence {
        int32_t pairs;
        /*
         * Pairs whose parents are not a pair with equal names: a function has its callees below it wherever
         * it is called.
         */
        int32_t places;
};

enum task_match {
        TASK_BOTH,
        TASK_ONLY_A,
        TASK_ONLY_B,
        TASK_POSSIBLE, /* matched, with different names and little in common below */
};

/* A task in one of the programs. */
struct task_side {
        int32_t node; /* -1: the program does not have the task */
        struct sampled sampled;
        struct estimate interval;
        double samples; /* number of samples in all runs */
        double usual;   /* mean value of a sample of the whole program, divided by the number of runs */
        double calls;   /* NAN: unknown */
};

struct task {
        struct task_side a, b;
        enum task_match match;
        int distance;           /* edits between the two paths; -1: no pair, or @elsewhere */
        int32_t evidence;       /* number of pairs, by evidence_count() */
        /* The programs do it below different main loops, threads or runners, so its callers cannot be compared. */
        bool elsewhere;
        struct estimate difference;
        double p;               /* after Holm's adjustment */
        bool significant;
        double by_calls, by_price; /* parts of the difference, in its unit; NAN: calls are not known */
        int32_t plain_rank_a, plain_rank_b; /* rank of its function by self cost; -1: no self cost */
};

/* How alike two programs are. */
struct comparable {
        double energy_common, functions_common; /* shares of frameworks' energy and functions that both have */
        double without_app_a, without_app_b;    /* shares of the cost whose stacks have no frame of the app */
        double own_a, own_b;                    /* shares of the app's own functions, outside of tasks */
        double in_own_a, in_own_b;              /* the same as costs, with the functions that --own makes tasks */
        double total_a, total_b;
        double sure;           /* sum of the significant differences, A - B; of tasks in one another, only the outer */
        double smallest;       /* smallest difference that this much data can show; NAN: unknown */
        bool calls;            /* calls were counted on both sides */
};

struct worth;

struct comparison {
        struct side *a, *b;
        const struct labels *labels;
        struct match match;
        bool fell_back; /* the trees have too many pairs: match.alpha is less than requested */
        struct evidence *evidence; /* for each node of A, by evidence_count() */
        int32_t *next_a, *next_b;  /* for each node the next one of the same task elsewhere; 0: none */
        size_t equal, apart;       /* tasks of names that both have; how many of them are left apart on both sides */
        bool chosen;               /* @equal and @apart decided match.alpha */
        struct task *tasks;
        size_t n;
        struct task total; /* the whole programs */
        struct comparable comparable;
        const struct worth *worth; /* worth on this device; NULL: not known */
};

#define ALPHA_BY_DATA (-1)
#define ALPHA_LEAST 3 /* the smallest that is tried; accuracy is measured with it (METHOD.md) */
#define ALPHA_MOST 5  /* the largest that is tried, as in the paper */

/* How to match. */
struct match_wish {
        int alpha; /* ALPHA_BY_DATA: the smallest at which few tasks of equal names are left apart */
        enum match_objective objective;
};

/* Are more than APART_FEW of the tasks of equal names left apart? */
bool comparison_is_apart(const struct comparison *comparison);
/* Finds which tasks are the same, in no order and without measuring them. 0; -ENOMEM; -E2BIG. */
int comparison_match(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                     struct comparison *ret);
/* Matches, measures and sorts the tasks. 0; -ENOMEM; -E2BIG. */
int comparison_make(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                    struct comparison *ret);
/* Does a matched pair count as the same function, because the names are equal or enough below them is the same? */
bool comparison_has_evidence(const struct comparison *comparison, int32_t v, int32_t w);
void comparison_clear(struct comparison *comparison);
/* Share of a side in the app's own functions, outside of tasks. 0; -ENOMEM. */
int comparable_own(const struct side *side, const struct labels *labels, double *ret);
/*
 * Is the total cost of A more than 1 + @share times that of B, significantly? @tests: the number of such tests
 * that are made together (Bonferroni).
 */
bool comparison_is_dearer(const struct side *a, const struct side *b, double share, size_t tests);
/* Fills comparison->comparable and the ranks of tasks in a plain profile. 0; -ENOMEM. */
int comparable_measure(struct comparison *comparison);
/* Sets comparable.sure. The tasks must be in their order. 0; -ENOMEM. */
int comparable_sum_sure(struct comparison *comparison);
/* A label's name without its class and library, into @buf. */
const char *task_name(const struct labels *labels, int32_t label, char *buf, size_t size);
/* Who called it: the app's callback, or the program. */
const char *task_from(const struct side *side, const struct labels *labels, int32_t node, char *buf, size_t size);
/* Who called a task of two programs; "elsewhere" if the two differ (task->elsewhere). */
const char *task_where(const struct comparison *comparison, const struct task *task, char *buf, size_t size);
/*
 * Counts the calls of each node that is a task: those of its function, if only one task calls that; else NAN.
 * free() @ret. 0; -ENOMEM.
 */
int task_count_calls(const struct side *side, const struct labels *labels, double **ret);
/* Sums up the task at task->node and at the nodes after it in @next or NULL. @calls: by task_count_calls(), or NULL. */
void task_measure(const struct side *side, const double *calls, const int32_t *next, struct task_side *task);
/*
 * The p-value of a task costing more or less than @factor times that of another program. It is 1, not significant,
 * for fewer than 10 samples in both, and for a difference of less than the usual sample: the kernel starts with
 * samples of one cycle each.
 */
double task_p(const struct task_side *a, const struct task_side *b, double factor);
/*
 * Finds the task of A with the greatest difference among those that cost significantly (by Holm, for all tasks)
 * more than 1 + @share times that of B; NULL: none. 0; -ENOMEM.
 */
int task_find_dearer(const struct comparison *comparison, double share, const struct task **ret);
