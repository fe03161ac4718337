/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "radio-pack.h"

#include <errno.h>
#include <stdlib.h>

#include "util/bytes.h"
#include "util/util.h"

/*
 * State of one pass that packs, or unpacks @in. Both visit the cells in the same order and predict the same
 * values.
 */
struct coder {
        bool unpacks;
        struct bytes out;
        struct bytes_reader in;
        uint64_t zeros;  /* length of a run of zeros that is still to be written or returned */
        uint64_t number; /* a nonzero number already read; 0: none */
        bool ran;        /* the last item read was a run */
        int err;
};

/*
 * Maps the difference between a cell and its prediction to a number from 0: 0, -1, 1, -2, ... As a cell
 * cannot be negative, only positive differences remain beyond the prediction.
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

/* The lowest bit is 0 for a run (its length less one in the higher bits) and 1 for a number (less one). */
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

/* Reads the next run or number; neither is set at the end of the input. */
static void look(struct coder *coder)
{
        uint64_t number;

        if (coder->zeros > 0 || coder->number > 0 || coder->err || coder->in.at == coder->in.end)
                return;
        coder->err = bytes_get(&coder->in, &number);
        if (coder->err)
                return;
        if (number % 2) {
                coder->number = number / 2 + 1;
                coder->ran = false;
                return;
        }
        if (coder->ran || coder->in.at == coder->in.end)
                coder->err = -EBADMSG;
        coder->zeros = number / 2 + 1;
        coder->ran = true;
}

static uint64_t get(struct coder *coder)
{
        uint64_t number;

        look(coder);
        coder->zeros -= coder->zeros > 0;
        number = coder->number;
        coder->number = 0;
        return number;
}

static inline void code(struct coder *coder, int64_t *cell, int64_t expected)
{
        uint64_t folded;

        expected = MIN(MAX(expected, 0), RADIO_CELL_MAX);
        if (!coder->unpacks && *cell == expected) {
                coder->zeros++;
                return;
        }
        if (coder->unpacks && coder->zeros > 0) {
                coder->zeros--;
                *cell = expected;
                return;
        }
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

/* Most classes are empty: handles @n predicted zeros in each of two rows at once. */
static bool skip_zeros(struct coder *coder, size_t n, const int64_t *a, const int64_t *b)
{
        if (coder->unpacks) {
                look(coder);
                if (coder->number > 0 || (coder->zeros > 0 && coder->zeros < 2 * n))
                        return false;
                coder->zeros -= MIN(coder->zeros, 2 * n);
                return true;
        }
        if (radio_next_cell(a, 0, n) < n || radio_next_cell(b, 0, n) < n)
                return false;
        coder->zeros += 2 * n;
        return true;
}

/*
 * Predicts each rung from the one before: as many openings, and for up_ms as many silences. Each silence
 * lasted the whole step between the rungs, except those that ended meanwhile; so up_ms grows as before, less
 * the decrease of openings.
 */
static void code_silences(struct coder *coder, const struct radio_shape *shape, int64_t *up_ms, int64_t *opened)
{
        int64_t silences = 0, expected;

        if (skip_zeros(coder, shape->n_rungs, up_ms, opened))
                return;
        code(coder, &opened[0], 0);
        code(coder, &up_ms[0], 0);
        for (size_t k = 1; k < shape->n_rungs; k++) {
                int64_t ms = shape->rung_ms[k] - shape->rung_ms[k - 1];

                code(coder, &opened[k], opened[k - 1]);
                if (k > 1)
                        silences = MIN(MAX(silences + opened[k] - opened[k - 1], 0), INT32_MAX);
                expected = up_ms[k - 1] + silences * ms;
                code(coder, &up_ms[k], expected);
                if (up_ms[k] != expected) /* divide only if needed: the division is the slowest step */
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
