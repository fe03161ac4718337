/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How often earlier answers of each kind held, and the widths that follow from it. */

#include "learn.h"

/*
 * Compares what @before says of the stretches of @design that end after @after_ns with what happened, and adds that to the
 * scores of @ret and of its profile: the cost of what was used; and a forecast and a budget, asked after the first step
 * of the level in a stretch, with what @store had recorded until then. 0; -ENOMEM; of the store.
 */
int score(const struct profile *before, const struct design *design, struct store *store, int64_t after_ns,
          struct learning *ret);
