/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tasks that the matching of the trees left without a partner. It must preserve the trees' branches, so it
 * matches the calls of only one branch below a frame that one program does not have.
 */

#include "comparison.h"

/* Is it done in a thread, or by an event loop? */
bool leftover_is_carried(const struct contexts *contexts, int32_t node);

/**
 * leftover_pair() - pair tasks of the same name whose paths are near
 * @left_a: for each node of A, whether it is a task without a partner; cleared for nodes of new pairs
 * @left_b: the same for each node of B
 *
 * Pairs are added to comparison->match, and replace those that their nodes had: each node still has one partner
 * at most. A pair is made only where each is the nearest one to the other, and no other is as near.
 * Return: 0; -ENOMEM.
 */
int leftover_pair(struct comparison *comparison, int alpha, char *left_a, char *left_b);
