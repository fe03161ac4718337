/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Amounts made of packets (radio-ladder.h) as a keyed amount of a usage, and their energy by the radios of
 * a profile. A key is a cell of radio_shape_stored(); the bytes of each direction have the two keys after
 * the last cell.
 */

#include "profile.h"
#include "radio/radio-price.h"
#include "usage.h"
#include "util/bytes.h"

/* Prices of these amounts by the profile's radios; made when first needed, as that takes some ms. */
struct radio_prices {
        struct radio_shape shape;
        struct radio_price air[AIR_COUNT]; /* without a shape: not made yet */
};

int radio_prices_new(struct radio_prices **ret);
void radio_prices_free(struct radio_prices *prices);

/*
 * Appends the part from part[0] to part[1] of part[2] of an owner's amounts; adjacent parts sum to the whole exactly.
 * @points must not have any of this radio or of later ones. 0; -ENOMEM.
 */
int radio_usage_append(struct points *points, enum air air, const struct radio_shape *shape,
                       const struct radio_amounts *amounts, const uint64_t part[3]);

/*
 * Packs the points into few bytes: for each radio that has any, its number, how many bytes follow, and these
 * (radio-pack.h). radio_usage_unpack() reads the rest of @reader. 0; -ENOMEM; -EBADMSG; -ERANGE: an amount beyond
 * RADIO_CELL_MAX.
 */
int radio_usage_pack(const struct points *points, struct bytes *bytes);
int radio_usage_unpack(struct bytes_reader *reader, struct points *ret);

/*
 * The amounts of one radio, as the ladder gave them, without keys beyond the shape; free() its cells.
 * 0; -ENOENT: there are none; -ENOMEM.
 */
int radio_usage_amounts(const struct radio_shape *shape, const struct points *points, enum air air,
                        struct radio_amounts *ret);

/* The profile's [radio NAME] for it, NULL: there is none; and the term of its coefficient. */
const struct radio *radio_usage_radio(const struct profile *profile, enum air air);
enum term radio_usage_term(enum air air);

/* Energy of a usage's packets by the profile's radio, above its power at rest; mJ. 0; -ENOMEM. */
int radio_usage_price(const struct profile *profile, enum air air, const struct usage *usage, double *ret_mj);
/* Power at rest: what the radio draws if there is never a packet; mW. 0; -ENOMEM. */
int radio_usage_rest_mw(const struct profile *profile, enum air air, double *ret_mw);
/* Bytes of both directions. */
uint64_t radio_usage_bytes(const struct usage *usage, enum air air);
