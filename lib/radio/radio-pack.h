/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What an owner's traffic amounted to, in few bytes, to be stored. Most cells are 0, and none is negative.
 *
 * First the version, which stands for this format and for the shape: who changes one of them takes the next. Then bytes
 * sent and received, and the cells in the order of radio-pack.c: each as its difference to what the cells before let
 * expect, and runs of differences of 0 as how many there are; those at the end need no byte. Whatever can be unpacked
 * is what radio_pack() makes of the result.
 */

#include "radio-ladder.h"

#define RADIO_PACK_VERSION 1
#define RADIO_CELL_MAX (INT64_C(1) << 53) /* up to here a double is exact */

/* @ret: free() it. 0; -ENOMEM; -ERANGE: a cell is negative, or more than RADIO_CELL_MAX. */
int radio_pack(const struct radio_shape *shape, const struct radio_amounts *amounts, unsigned char **ret, size_t *ret_n);
/* @ret: its owner is 0; free() its cells. 0; -ENOMEM; -EBADMSG: radio_pack() makes no such bytes of this shape. */
int radio_unpack(const struct radio_shape *shape, const unsigned char *data, size_t n, struct radio_amounts *ret);
