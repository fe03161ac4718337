/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What speaks for two tasks with different names being the same. */

#include "comparison.h"

/**
 * evidence_count() - of each node of A, what it and its partner have in common below
 * @ret: as many as A has nodes, to free()
 *
 * Functions that are below many tasks, as malloc() is, do not count: below more than 5 % of the tasks' names, and more than two. Nor
 * does the way into the kernel, which all system calls have in common.
 * Return: 0; -ENOMEM.
 */
int evidence_count(const struct comparison *comparison, struct evidence **ret);
