/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Covariance of the rows: the error of the energy that a battery shows for everyday use. */

#include "design.h"

/*
 * Covariance (J^2) of the rows first..first+n-1, which have no break between them. A step that was seen late adds to
 * one row the energy that it takes from the other; background activity is correlated from row to row; old rows count
 * less. @within: include the variation within apps.
 */
void spread_covariance(const struct design *design, size_t first, size_t n, bool within, gsl_matrix *covariance);

/* Number of rows of the stretch that begins at @first. */
size_t spread_stretch(const struct design *design, size_t first);
