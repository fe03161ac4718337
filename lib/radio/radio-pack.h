/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Packs an owner's traffic into few bytes for the store. Most cells are 0, and none is negative.
 *
 * The format begins with a version that stands for this format and for the shape: a change of either needs a
 * new version. Bytes sent and received follow, then the cells in the order of radio-pack.c. Each cell is
 * stored as its difference to a prediction from earlier cells, and a run of zero differences as its length; a
 * run at the end is left out. Each owner has one encoding: unpacking accepts only bytes that radio_pack()
 * would produce again.
 */

#include "radio-ladder.h"

#define RADIO_PACK_VERSION 1
#define RADIO_CELL_MAX (INT64_C(1) << 53) /* integers up to here are exact in a double */

/* @ret: free() it. Returns 0; -ENOMEM; -ERANGE if a cell is negative or above RADIO_CELL_MAX. */
int radio_pack(const struct radio_shape *shape, const struct radio_amounts *amounts, unsigned char **ret,
               size_t *ret_n);
/*
 * @ret: its owner is 0; free() its cells. Returns 0; -ENOMEM; -EBADMSG if radio_pack() does not make such bytes of
 * this shape.
 */
int radio_unpack(const struct radio_shape *shape, const unsigned char *data, size_t n, struct radio_amounts *ret);
