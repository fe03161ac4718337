/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How far what a battery shows of everyday use may be from what was used: the rows' covariance. */

#include "design.h"

/*
 * Of the rows first..first+n-1, which have no break between them; J^2. A step that was seen late takes from one row what
 * it adds to the other; background activity reaches from row to row; old rows count less.
 */
void spread_covariance(const struct design *design, size_t first, size_t n, gsl_matrix *covariance);

/* Number of rows of the stretch that begins at @first. */
size_t spread_stretch(const struct design *design, size_t first);
