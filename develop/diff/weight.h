/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Quantities that are compared instead of energy: other columns of a folder of `joulecast record`. */

#include "side.h"

enum weight {
        WEIGHT_ENERGY,
        WEIGHT_TIME,  /* CPU time in ns */
        WEIGHT_BYTES, /* bytes read from and written to storages, and received from and sent to networks */
        WEIGHT_CALLS, /* counted calls of library functions */
};

#define WEIGHT_WORDS "energy time bytes calls"

enum weight weight_of(const char *word); /* one of WEIGHT_WORDS; NULL: energy */
/*
 * Replaces the side's values by this quantity. @folder: the folder that the side was read from. 0; a negative
 * errno after its sentence.
 */
int weight_take(const char *folder, enum weight weight, const struct log *log, struct side *side);
