/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Shown percents that hold unequal charges. Each has an error of its own, as a random walk would: on an
 * iPhone the error of k of them grows with the root of k, and neighbours do not make up for each other.
 */

#include "design.h"

/* Sets the relative standard deviation of the charge of one percent, and corrects the rows' energies for it. */
void percents_set(struct design *design, double unequal);
/* Variance of a row by unequal percents, J^2; 0 for a meter's row. */
double percents_variance_j2(const struct design *design, const struct design_row *row);
/*
 * Relative standard deviation of the scale that all percents have in common. @usual: that of the calibration, which is
 * a part of it, and the whole if all rows are from a meter.
 */
double percents_scale_sd(const struct design *design, double usual);

/*
 * The size that makes the rows likeliest. @evidence: logarithm of the rows' likelihood by it; an errno, or 0.
 */
int percents_find(int (*evidence)(void *data, double unequal, double *ret), void *data, double *ret);
