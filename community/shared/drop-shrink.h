/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "drop.h"

/**
 * drop_shrink() - the minutes of each app, given those of all others
 *
 * Which apps are called hogs is chosen by the same data that say what they cost. So those that came out too dear are
 * called more often than those that came out too cheap, and most intervals that miss the truth are above it. The
 * minutes of all compared apps show how many apps cost how much, and by Bayes' rule an interval that takes this for its
 * prior holds for the chosen ones, too (Dawid, Selection paradoxes of Bayesian inference, 1994).
 *
 * Prior: a mixture of normal distributions around 0, whose scales are a grid and whose weights are those under which
 * the estimates are most likely (Stephens, False discovery rates: a new deal, Biostatistics 18:275, 2017). An app that
 * is unlike all others belongs to a wide one, and stays what it was.
 *
 * Changes minutes and its bounds in those of @drops that are `enough`. Returns 0 or -ENOMEM.
 */
int drop_shrink(struct drop *drops, size_t n);
