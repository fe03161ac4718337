/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tasks of two programs, side by side. */

#include "estimate.h"
#include "side.h"
#include "tree/match.h"

/* A task needs so many samples on one side: sums of fewer spread more than their interval says. */
#define TASK_SAMPLES_MIN 10

/* What a node of A and its partner have in common below: pairs with equal names that are not below everything. */
struct evidence {
        int32_t pairs;
        int32_t places; /* pairs that are not below another one: a function has what it calls below it wherever it is called */
};

enum task_match {
        TASK_BOTH,
        TASK_ONLY_A,
        TASK_ONLY_B,
        TASK_POSSIBLE, /* matched, with different names and little in common below */
};

/* Of one side. */
struct task_side {
        int32_t node; /* -1: not there */
        struct sampled sampled;
        struct estimate interval;
        double samples; /* of all runs */
        double calls;   /* NAN: unknown */
};

struct task {
        struct task_side a, b;
        enum task_match match;
        int distance;           /* of the paths; -1: no pair */
        int32_t evidence;       /* pairs, by evidence_count() */
        struct estimate difference;
        double p;               /* after Holm */
        bool significant;
        double by_calls, by_price; /* shares of the difference; NAN: calls are not known */
        int32_t plain_rank_a, plain_rank_b; /* in a profile by function; -1: it costs nothing itself */
};

/* How alike two programs are. */
struct comparable {
        double energy_common, functions_common; /* shares of frameworks' energy and functions that both have */
        double without_app_a, without_app_b;    /* shares of stacks */
        double own_a, own_b;                    /* shares of the app's own functions, outside of tasks */
        double total_a, total_b;
        double smallest;       /* difference that this much data can show */
        bool calls;            /* counted on both sides */
};

struct comparison {
        struct side *a, *b;
        const struct labels *labels;
        struct match match;
        bool fell_back; /* the pairs took too much: match.alpha is less than asked for */
        struct evidence *evidence; /* of each node of A, by evidence_count() */
        struct task *tasks;
        size_t n;
        struct comparable comparable;
};

/* How to match. */
struct match_wish {
        int alpha;
        enum match_objective objective;
};

/* Only which tasks are the same, and in no order. 0; -ENOMEM; -E2BIG. */
int comparison_match(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                     struct comparison *ret);
/* All of it. */
int comparison_make(struct side *a, struct side *b, const struct labels *labels, const struct match_wish *wish,
                    struct comparison *ret);
/* Of a pair of the matching: are the names equal, or is enough below the same for it to count as the same function? */
bool comparison_has_evidence(const struct comparison *comparison, int32_t v, int32_t w);
void comparison_clear(struct comparison *comparison);
/* comparison->comparable and the ranks of tasks in a plain profile. 0; -ENOMEM. */
int comparable_measure(struct comparison *comparison);
/* A label's name without its class and library, into @buf. */
const char *task_name(const struct labels *labels, int32_t label, char *buf, size_t size);
/* Who called it: the app's callback, or the program. */
const char *task_from(const struct side *side, const struct labels *labels, int32_t node, char *buf, size_t size);
/* Calls of each node that is a task, else NAN: those of its function, if that is called as one task only. 0; -ENOMEM. */
int task_count_calls(const struct side *side, const struct labels *labels, double **ret);
/* What the task of task->node costs. @calls: of task_count_calls(). */
void task_measure(const struct side *side, const double *calls, struct task_side *task);
/* The dearest task of A that costs for sure (of all tasks, by Holm) more than 1 + @share times that of B; NULL: none. 0; -ENOMEM. */
int task_find_dearer(const struct comparison *comparison, double share, const struct task **ret);
