/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Order of numbers, for qsort() and bsearch(): negative, 0 or positive. */

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares @a with @b, and if they are equal @c with @d. */
#define ORDER_TWO(a, b, c, d) (ORDER(a, b) ? ORDER(a, b) : ORDER(c, d))
