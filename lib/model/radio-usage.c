/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-usage.h"

#include <errno.h>
#include <stdlib.h>

#include "util/units.h"
#include "util/util.h"

static const struct {
        const char *radio; /* the NAME of its [radio NAME] */
        enum term term;
} airs[AIR_COUNT] = {
        [AIR_WIFI] = { "wifi", TERM_WIFI_RADIO },
        [AIR_CELLULAR] = { "cellular", TERM_CELLULAR },
};

int radio_prices_new(struct radio_prices **ret)
{
        struct radio_prices *prices = calloc(1, sizeof(*prices));

        if (!prices)
                return -ENOMEM;
        radio_shape_stored(&prices->shape);
        *ret = prices;
        return 0;
}

void radio_prices_free(struct radio_prices *prices)
{
        for (size_t i = 0; prices && i < AIR_COUNT; i++)
                radio_price_clear(&prices->air[i]);
        free(prices);
}

static uint32_t key_of_bytes(const struct radio_shape *shape, size_t direction)
{
        return (uint32_t)(radio_shape_cells(shape) + direction);
}

static int add(struct points *points, enum air air, uint32_t key, uint64_t amount, const uint64_t part[3])
{
        struct point point = { .group = air, .key = key };

        point.amount = mul_div(amount, part[1], part[2]) - mul_div(amount, part[0], part[2]);

        return point.amount ? usage_points_add(points, &point) : 0;
}

int radio_usage_add(struct points *points, enum air air, const struct radio_shape *shape, const struct radio_amounts *amounts,
                    const uint64_t part[3])
{
        int err = 0;

        for (size_t i = 0; !err && i < radio_shape_cells(shape); i++)
                if (amounts->cells[i])
                        err = add(points, air, (uint32_t)i, (uint64_t)amounts->cells[i], part);
        for (size_t d = 0; !err && d < RADIO_DIRECTIONS; d++)
                err = add(points, air, key_of_bytes(shape, d), amounts->bytes[d], part);
        return err;
}

const struct radio *radio_usage_radio(const struct profile *profile, enum air air)
{
        return radio_find(&profile->radios, airs[air].radio);
}

enum term radio_usage_term(enum air air)
{
        return airs[air].term;
}

/* The part of a usage over one radio as the ladder gave it; what a database names beyond the shape is left out. */
static void take_apart(const struct radio_shape *shape, const struct usage *usage, enum air air, struct radio_amounts *ret)
{
        for (size_t i = 0; i < usage->radio.n; i++) {
                const struct point *point = &usage->radio.list[i];

                if (point->group != air)
                        continue;
                if (point->key < radio_shape_cells(shape))
                        ret->cells[point->key] = (int64_t)MIN(point->amount, (uint64_t)INT64_MAX);
                else if (point->key < key_of_bytes(shape, RADIO_DIRECTIONS))
                        ret->bytes[point->key - key_of_bytes(shape, 0)] = point->amount;
        }
}

int radio_usage_price(const struct profile *profile, enum air air, const struct usage *usage, double *ret_mj,
                      double *ret_base_mw)
{
        const struct radio_shape *shape = &profile->radio_prices->shape;
        struct radio_price *price = &profile->radio_prices->air[air];
        _cleanup_free_ int64_t *cells = calloc(radio_shape_cells(shape), sizeof(*cells));
        struct radio_amounts amounts = { .cells = cells };
        int err = cells ? 0 : -ENOMEM;

        if (!err && !price->shape)
                err = radio_price_make(price, radio_usage_radio(profile, air), RADIO_SIGNAL_HIGH, shape);
        if (err)
                return err;
        take_apart(shape, usage, air, &amounts);
        *ret_mj = radio_price_j(price, &amounts) * 1e3;
        *ret_base_mw = price->base_mw;
        return 0;
}

uint64_t radio_usage_bytes(const struct usage *usage, enum air air)
{
        struct radio_shape shape;
        uint64_t bytes = 0;

        radio_shape_stored(&shape);
        for (size_t i = 0; i < usage->radio.n; i++)
                if (usage->radio.list[i].group == air && usage->radio.list[i].key >= radio_shape_cells(&shape))
                        bytes += usage->radio.list[i].amount;
        return bytes;
}
