/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How often yesterday's answers held, by their kind, and the widths that follow from it. */

#include "learn.h"

/*
 * What @before would have said of the stretches of @design that end after @after_ns goes into the scores of @ret and of
 * its profile: their energy from what was used; and, asked after their first step of the level with what @store knew
 * then, their energy as a forecast, and how long their part of the charge lasts. 0; -ENOMEM; of the store.
 */
int score(const struct profile *before, const struct design *design, struct store *store, int64_t after_ns,
          struct learning *ret);
