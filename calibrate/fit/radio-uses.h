/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Typical traffic of apps over a radio, as stored amounts, to determine the error of a fitted radio. */

#include "radio/radio-ladder.h"

#define RADIO_USES 6    /* a call, ssh, a game, a stream, mail and a download */
#define RADIO_USE_S 300.0

/* @ret->cells: free() it. Returns 0 or -ENOMEM. */
int radio_use(const struct radio_shape *shape, size_t use, struct radio_amounts *ret);
