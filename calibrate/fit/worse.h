/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Is a profile clearly worse than the one of the same device that it would replace? */

#include <stdbool.h>
#include <stddef.h>

#include "model/profile.h"

/*
 * True if it has coefficients of fewer components, or if the energy of typical sessions has an interval half
 * as wide again. @why: the reason, to follow "it". A profile of another device, or without errors (an
 * import), is never better.
 */
bool worse_than(const struct profile *profile, const struct profile *before, char *why, size_t size);
