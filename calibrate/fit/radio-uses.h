/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What apps usually do over a radio, as what is kept of it: to say how certain a fitted radio is. */

#include "radio/radio-ladder.h"

#define RADIO_USES 6    /* a call, ssh, a game, a stream, mail and a download */
#define RADIO_USE_S 300.0

/* @ret->cells: free() it. 0; -ENOMEM. */
int radio_use(const struct radio_shape *shape, size_t use, struct radio_amounts *ret);
