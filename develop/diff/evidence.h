/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Evidence that two tasks with different names are the same. */

#include "comparison.h"

/**
 * evidence_count() - count what each node of A and its partner have in common below
 * @ret: one for each node of A, to free()
 *
 * Functions that are below many tasks, as malloc() is, do not count: those below more than 5 % of the tasks'
 * names, and more than two. Nor do the kernel's entry functions, which all system calls have in common.
 * Return: 0; -ENOMEM.
 */
int evidence_count(const struct comparison *comparison, struct evidence **ret);
