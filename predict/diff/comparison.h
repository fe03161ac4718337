/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tasks of two programs, side by side. */

#include "estimate.h"
#include "side.h"
#include "tree/match.h"

enum task_match {
        TASK_BOTH,
        TASK_ONLY_A,
        TASK_ONLY_B,
        TASK_POSSIBLE, /* matched, with different names and too little in common below */
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
        int32_t evidence;       /* pairs with equal names below */
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
        double total_a, total_b;
        double smallest;       /* difference that this much data can show */
        bool calls;            /* counted on both sides */
};

struct comparison {
        struct side *a, *b;
        const struct labels *labels;
        struct match match;
        bool fell_back; /* the pairs took too much: match.alpha or match.objective is not what was asked for */
        int32_t *evidence; /* of each node of A, pairs with equal names below it */
        struct task *tasks;
        size_t n;
        struct comparable comparable;
};

/* 0; -ENOMEM; -E2BIG. */
int comparison_make(struct side *a, struct side *b, const struct labels *labels, int alpha, enum match_objective objective,
                    struct comparison *ret);
void comparison_clear(struct comparison *comparison);
/* A label's name without its class and library, into @buf. */
const char *task_name(const struct labels *labels, int32_t label, char *buf, size_t size);
/* Who called it: the app's callback, or the program. */
const char *task_from(const struct side *side, const struct labels *labels, int32_t node, char *buf, size_t size);
/* Is a task of A dearer than that of B by more than this share, by the lower bound? */
bool task_is_dearer(const struct task *task, double share);
