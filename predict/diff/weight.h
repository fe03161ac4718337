/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What is compared instead of energy: other columns of a folder of `joulecast record`. */

#include "side.h"

enum weight {
        WEIGHT_ENERGY,
        WEIGHT_TIME,  /* of CPUs, in ns */
        WEIGHT_BYTES, /* of storages and networks, both ways */
        WEIGHT_CALLS, /* of functions of libraries, as they were counted */
};

#define WEIGHT_WORDS "energy time bytes calls"

enum weight weight_of(const char *word); /* one of WEIGHT_WORDS; NULL: energy */
/* Puts it in the place of the side's values. @folder: that the side was read from. 0; a negative errno after its sentence. */
int weight_take(const char *folder, enum weight weight, const struct log *log, struct side *side);
