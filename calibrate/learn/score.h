/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Rates at which earlier answers of each kind held, and the widths of intervals that follow from these. */

#include "learn.h"

/*
 * Compares the answers of @before for the stretches of @design that end after @after_ns with the energy that was used,
 * and adds the results to the scores of @ret and of its profile: the cost of the stretch; and a forecast and a budget,
 * asked after the first step of the level in a stretch, with the recordings of @store until then (NULL: neither). 0;
 * -ENOMEM; an error of the store.
 */
int score(const struct profile *before, const struct design *design, struct store *store, int64_t after_ns,
          struct learning *ret);
