/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-pack.h"

#include <errno.h>
#include <stdlib.h>

#include "util/bytes.h"
#include "util/util.h"

/* Packs, or unpacks what is in @in: both go through the cells in the same order and expect the same. */
struct coder {
        bool unpacks;
        struct bytes out;
        struct bytes_reader in;
        uint64_t zeros; /* a run of them: to be written, or still to be returned */
        bool ran;       /* the last number read was a run */
        int err;
};

/*
 * A cell's difference to what is expected, as a number from 0 on: below and above by turns, 0, -1, 1, -2, ..., until a
 * cell would be negative; from there on only above.
 */
static uint64_t fold(int64_t cell, int64_t expected)
{
        int64_t more = cell - expected;

        if (more > expected)
                return (uint64_t)cell;
        return more >= 0 ? (uint64_t)more * 2 : (uint64_t)-more * 2 - 1;
}

static int64_t unfold(uint64_t folded, int64_t expected)
{
        if (folded > (uint64_t)expected * 2)
                return (int64_t)folded;
        return folded % 2 ? expected - (int64_t)(folded / 2) - 1 : expected + (int64_t)(folded / 2);
}

/* The lowest bit: 0, a run of one more zero than the rest says; 1, a number that is one more than the rest says. */
static void put(struct coder *coder, uint64_t folded)
{
        if (folded == 0) {
                coder->zeros++;
                return;
        }
        if (!coder->err && coder->zeros > 0)
                coder->err = bytes_put(&coder->out, (coder->zeros - 1) * 2);
        coder->zeros = 0;
        if (!coder->err)
                coder->err = bytes_put(&coder->out, (folded - 1) * 2 + 1);
}

static uint64_t get(struct coder *coder)
{
        uint64_t number;

        if (coder->zeros > 0) {
                coder->zeros--;
                return 0;
        }
        if (coder->err || coder->in.at == coder->in.end)
                return 0;
        coder->err = bytes_get(&coder->in, &number);
        if (coder->err)
                return 0;
        if (number % 2) {
                coder->ran = false;
                return number / 2 + 1;
        }
        if (coder->ran || coder->in.at == coder->in.end)
                coder->err = -EBADMSG;
        coder->ran = true;
        coder->zeros = number / 2;
        return 0;
}

static void code(struct coder *coder, int64_t *cell, int64_t expected)
{
        uint64_t folded;

        expected = MIN(MAX(expected, 0), RADIO_CELL_MAX);
        if (!coder->unpacks) {
                if (*cell < 0 || *cell > RADIO_CELL_MAX)
                        coder->err = -ERANGE;
                else
                        put(coder, fold(*cell, expected));
                return;
        }
        folded = get(coder);
        if (folded > 2 * (uint64_t)RADIO_CELL_MAX || unfold(folded, expected) > RADIO_CELL_MAX)
                coder->err = -EBADMSG;
        else
                *cell = unfold(folded, expected);
}

/*
 * From rung to rung as many silences as before. Each was up all the time since the rung before, but for those that
 * ended meanwhile: so it grows as before, less what is opened less.
 */
static void code_silences(struct coder *coder, const struct radio_shape *shape, int64_t *up_ms, int64_t *opened)
{
        int64_t silences = 0;

        code(coder, &opened[0], 0);
        code(coder, &up_ms[0], 0);
        for (size_t k = 1; k < shape->n_rungs; k++) {
                int64_t ms = shape->rung_ms[k] - shape->rung_ms[k - 1];

                code(coder, &opened[k], opened[k - 1]);
                if (k > 1)
                        silences = MIN(MAX(silences + opened[k] - opened[k - 1], 0), INT32_MAX);
                code(coder, &up_ms[k], up_ms[k - 1] + silences * ms);
                silences = (up_ms[k] - up_ms[k - 1]) / ms;
        }
}

static void code_cells(struct coder *coder, const struct radio_shape *shape, int64_t *cells)
{
        for (size_t i = 0; i < radio_cell_up(shape, 0, 0); i++)
                code(coder, &cells[i], 0);
        for (size_t c = 0; c < radio_shape_classes(shape); c++)
                code_silences(coder, shape, &cells[radio_cell_up(shape, c, 0)], &cells[radio_cell_opened(shape, c, 0)]);
        for (size_t d = 0; d < shape->n_ages; d++)
                for (size_t k = 0; k < shape->n_rungs; k++)
                        code(coder, &cells[radio_cell_early(shape, k, d)],
                             k > 0 ? cells[radio_cell_early(shape, k - 1, d)] : 0);
}

int radio_pack(const struct radio_shape *shape, const struct radio_amounts *amounts, unsigned char **ret, size_t *ret_n)
{
        struct coder coder = { 0 };

        coder.err = bytes_put(&coder.out, RADIO_PACK_VERSION);
        for (size_t d = 0; !coder.err && d < RADIO_DIRECTIONS; d++)
                coder.err = bytes_put(&coder.out, amounts->bytes[d]);
        code_cells(&coder, shape, amounts->cells);
        if (coder.err) {
                bytes_clear(&coder.out);
                return coder.err;
        }
        *ret = coder.out.data;
        *ret_n = coder.out.n;
        return 0;
}

int radio_unpack(const struct radio_shape *shape, const unsigned char *data, size_t n, struct radio_amounts *ret)
{
        struct radio_amounts amounts = { .cells = calloc(radio_shape_cells(shape), sizeof(*amounts.cells)) };
        struct coder coder = { .unpacks = true, .in = { data, data + n } };
        uint64_t version = 0;

        if (!amounts.cells)
                return -ENOMEM;
        coder.err = bytes_get(&coder.in, &version);
        for (size_t d = 0; !coder.err && d < RADIO_DIRECTIONS; d++)
                coder.err = bytes_get(&coder.in, &amounts.bytes[d]);
        if (!coder.err && version == RADIO_PACK_VERSION)
                code_cells(&coder, shape, amounts.cells);
        if (coder.err || coder.in.at != coder.in.end || version != RADIO_PACK_VERSION) {
                free(amounts.cells);
                return -EBADMSG;
        }
        *ret = amounts;
        return 0;
}
