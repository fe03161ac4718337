/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the files of everyday observations. */

#include "everyday.h"

/*
 * Leaves out uses of apps that were alive and did nothing, and makes one of other programs (TUNING_OTHER_APPS) of those
 * that hardly did anything: what they tell is not worth its place. 0; -ENOMEM; -EOVERFLOW.
 */
int everyday_merge_small(struct everyday *everyday);
