/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Joins tasks of equal names that have no partner because a different main loop, thread or runner calls them. */

#include "comparison.h"

#define ELSEWHERE 2 /* in left_a and left_b: the task is joined */

/**
 * elsewhere_join() - counts tasks of equal names, and joins those that are done elsewhere
 * @left_a, @left_b: for each node, whether it is a task without a partner; joined tasks become ELSEWHERE
 * @add:             gets the dearest node of each side, which the others follow in next_a and next_b
 *
 * The left tasks of one name become one task if at least one of them is below a carrier; those that only one program
 * has left join the only task of that name that has a partner.
 * Fills in comparison->equal and apart as they were before the join. Return: 0; -ENOMEM.
 */
int elsewhere_join(struct comparison *comparison, char *left_a, char *left_b,
                   void (*add)(struct comparison *comparison, int32_t v, int32_t w));
