/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tasks that the matching of the trees left over. It must keep where paths part, so of the calls below a frame that one program
 * does not have it keeps those of one branch only.
 */

#include "comparison.h"

/**
 * leftover_pair() - pair tasks of the same name whose paths are near
 * @left_a: of each node of A whether it is a task without a partner; the pairs' are unset
 * @left_b: likewise
 *
 * Pairs are added to comparison->match, in the place of those that their nodes had: each node still has one partner at most. A
 * pair is made only where each is the nearest one to the other, and no other is as near.
 * Return: 0; -ENOMEM.
 */
int leftover_pair(struct comparison *comparison, int alpha, char *left_a, char *left_b);
