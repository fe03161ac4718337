/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-usage.h"

#include <errno.h>
#include <stdlib.h>

#include "radio/radio-pack.h"
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

/* How many cells and bytes are not 0. */
static size_t count(const struct radio_shape *shape, const struct radio_amounts *amounts)
{
        size_t n = 0, end = radio_shape_cells(shape);

        for (size_t i = 0; (i = radio_next_cell(amounts->cells, i, end)) < end; i++)
                n++;
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                n += amounts->bytes[d] != 0;
        return n;
}

static void append(struct points *points, enum air air, uint32_t key, uint64_t amount, const uint64_t part[3])
{
        bool whole = part[0] == 0 && part[1] == part[2];

        if (!whole)
                amount = mul_div(amount, part[1], part[2]) - mul_div(amount, part[0], part[2]);
        if (amount)
                points->list[points->n++] = (struct point){ .group = air, .key = key, .amount = amount };
}

int radio_usage_append(struct points *points, enum air air, const struct radio_shape *shape,
                       const struct radio_amounts *amounts, const uint64_t part[3])
{
        struct point *grown = reallocarray(points->list, points->n + count(shape, amounts) + 1, sizeof(*grown));
        size_t end = radio_shape_cells(shape);

        if (!grown)
                return -ENOMEM;
        points->list = grown;
        for (size_t i = 0; (i = radio_next_cell(amounts->cells, i, end)) < end; i++)
                append(points, air, (uint32_t)i, (uint64_t)amounts->cells[i], part);
        for (size_t d = 0; d < RADIO_DIRECTIONS; d++)
                append(points, air, key_of_bytes(shape, d), amounts->bytes[d], part);
        return 0;
}

const struct radio *radio_usage_radio(const struct profile *profile, enum air air)
{
        return radio_find(&profile->radios, airs[air].radio);
}

enum term radio_usage_term(enum air air)
{
        return airs[air].term;
}

int radio_usage_amounts(const struct radio_shape *shape, const struct points *points, enum air air,
                        struct radio_amounts *ret)
{
        struct radio_amounts amounts = { 0 };

        for (size_t i = 0; i < points->n; i++) {
                const struct point *point = &points->list[i];

                if (point->group != air)
                        continue;
                if (!amounts.cells)
                        amounts.cells = calloc(radio_shape_cells(shape), sizeof(*amounts.cells));
                if (!amounts.cells)
                        return -ENOMEM;
                if (point->key < radio_shape_cells(shape))
                        amounts.cells[point->key] = (int64_t)MIN(point->amount, (uint64_t)INT64_MAX);
                else if (point->key < key_of_bytes(shape, RADIO_DIRECTIONS))
                        amounts.bytes[point->key - key_of_bytes(shape, 0)] = point->amount;
        }
        *ret = amounts;
        return amounts.cells ? 0 : -ENOENT;
}

static int pack_air(const struct radio_shape *shape, const struct points *points, enum air air, struct bytes *bytes)
{
        _cleanup_free_ unsigned char *data = NULL;
        struct radio_amounts amounts;
        size_t n;
        int err = radio_usage_amounts(shape, points, air, &amounts);

        if (err)
                return err == -ENOENT ? 0 : err;
        err = radio_pack(shape, &amounts, &data, &n);
        free(amounts.cells);
        if (!err)
                err = bytes_put(bytes, air);
        if (!err)
                err = bytes_put(bytes, n);
        return err ? err : bytes_put_raw(bytes, data, n);
}

int radio_usage_pack(const struct points *points, struct bytes *bytes)
{
        struct radio_shape shape;
        int err = 0;

        if (points->n == 0)
                return 0;
        radio_shape_stored(&shape);
        for (enum air air = 0; !err && air < AIR_COUNT; air++)
                err = pack_air(&shape, points, air, bytes);
        return err;
}

static int unpack_air(const struct radio_shape *shape, struct bytes_reader *reader, uint64_t *next_air,
                      struct points *points)
{
        struct radio_amounts amounts;
        uint64_t air, n;
        int err = bytes_get(reader, &air);

        if (!err)
                err = bytes_get(reader, &n);
        if (err || air < *next_air || air >= AIR_COUNT || n > (uint64_t)(reader->end - reader->at))
                return -EBADMSG;
        err = radio_unpack(shape, reader->at, (size_t)n, &amounts);
        if (err)
                return err;
        reader->at += n;
        *next_air = air + 1;
        err = radio_usage_append(points, (enum air)air, shape, &amounts, (uint64_t[]){ 0, 1, 1 });
        free(amounts.cells);
        return err;
}

int radio_usage_unpack(struct bytes_reader *reader, struct points *ret)
{
        struct points points = { 0 };
        struct radio_shape shape;
        uint64_t next_air = 0;
        int err = 0;

        if (reader->at < reader->end)
                radio_shape_stored(&shape);
        while (!err && reader->at < reader->end)
                err = unpack_air(&shape, reader, &next_air, &points);
        if (err)
                free(points.list);
        else
                *ret = points;
        return err;
}

/* Prices of the cells by the profile's radio, made at the first call; NULL: no memory. */
static const struct radio_price *price_of(const struct profile *profile, enum air air)
{
        struct radio_price *price = &profile->radio_prices->air[air];

        if (!price->shape && radio_price_make(price, radio_usage_radio(profile, air), RADIO_SIGNAL_HIGH,
                                              &profile->radio_prices->shape) < 0)
                return NULL;
        return price;
}

int radio_usage_price(const struct profile *profile, enum air air, const struct usage *usage, double *ret_mj)
{
        const struct radio_price *price = price_of(profile, air);
        struct radio_amounts amounts;
        int err = price ? radio_usage_amounts(price->shape, &usage->radio, air, &amounts) : -ENOMEM;

        *ret_mj = err ? 0 : radio_price_j(price, &amounts) * 1e3;
        if (!err)
                free(amounts.cells);
        return err == -ENOENT ? 0 : err;
}

int radio_usage_rest_mw(const struct profile *profile, enum air air, double *ret_mw)
{
        const struct radio_price *price = price_of(profile, air);

        *ret_mw = price ? price->base_mw : 0;
        return price ? 0 : -ENOMEM;
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
