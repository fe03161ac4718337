/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the files of everyday observations. */

#include "everyday.h"

/*
 * Leaves out uses of apps that were alive and did nothing, and merges those that hardly did anything to one of other
 * programs (TUNING_OTHER_APPS): their information is not worth its space. 0; -ENOMEM; -EOVERFLOW.
 */
int everyday_merge_small(struct everyday *everyday);

void everyday_clear(struct everyday *everyday);

/* Members of a use that are stored like amounts, by these words. */
#define EVERYDAY_ACTIVE "active_ns"
#define EVERYDAY_HAVE "have"

/* Times of any clock, whose differences are numbers; amounts that a battery can have. Others are not written. */
bool everyday_is_sane(const struct everyday *everyday);
