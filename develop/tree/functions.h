/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds which functions of the app are the same in several programs, and the name that each is shown with.
 *
 * contexts_make() gives each function of the app its whole name as label. A function gets the short name instead
 * (name_text()), so that it may meet one of another program, unless short names collide: two functions of that
 * name stand side by side, or a program has several and one of them is in another program, too. Functions of such
 * a name are paired: equal whole names first, then names that differ in a number, in its order, then by fewer and
 * fewer owners, where each program has one of that name left.
 */

#include "contexts.h"

/* Call it before contexts_finish(). @labels: those that all contexts share. 0; -ENOMEM; -E2BIG. */
int functions_name(struct contexts *const *contexts, size_t n, struct labels *labels);
