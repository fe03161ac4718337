/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What speaks for two tasks with different names being the same. */

#include "comparison.h"

/**
 * evidence_count() - of each node of A, the pairs with equal names below it
 * @ret: as many numbers as A has nodes, to free()
 *
 * Functions that are below many tasks, as malloc() is, do not count: below more than 5 % of the tasks' names, and more than two. Nor
 * does the way into the kernel, which all system calls have in common.
 * Return: 0; -ENOMEM.
 */
int evidence_count(const struct comparison *comparison, int32_t **ret);
