/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Amounts of a radio's traffic as bytes and back; what real traffic gives is in test-radio-ladder. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "radio/radio-pack.h"
#include "util/util.h"

static struct radio_shape shape;

static uint64_t random_u64(void)
{
        static uint64_t state = 17;
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

/* Small ones and large ones, up to the largest. */
static int64_t random_cell(void)
{
        int64_t cell = (int64_t)(random_u64() >> (10 + random_u64() % 53));

        return random_u64() % 16 == 0 ? RADIO_CELL_MAX : MIN(cell, RADIO_CELL_MAX);
}

/* One in @each is not 0, or as the one before. */
static void fill(int64_t *cells, uint64_t each)
{
        for (size_t i = 0; i < radio_shape_cells(&shape); i++)
                cells[i] = random_u64() % each ? i > 0 && random_u64() % 2 ? cells[i - 1] : 0 : random_cell();
}

/* Amounts that are accepted are the same when packed again. */
static bool accepted(const unsigned char *data, size_t n)
{
        struct radio_amounts amounts = { 0 };
        unsigned char *again = NULL;
        size_t n_again = 0;
        int err = radio_unpack(&shape, data, n, &amounts);

        check(err == 0 || err == -EBADMSG);
        if (err)
                return false;
        check_int(radio_pack(&shape, &amounts, &again, &n_again), 0);
        check(n == n_again && memcmp(data, again, n) == 0);
        free(again);
        free(amounts.cells);
        return true;
}

static void there_and_back(uint64_t each)
{
        _cleanup_free_ int64_t *cells = calloc(radio_shape_cells(&shape), sizeof(*cells));
        struct radio_amounts amounts = { .bytes = { random_u64(), UINT64_MAX }, .cells = cells }, unpacked = { 0 };
        _cleanup_free_ unsigned char *packed = NULL;
        size_t n = 0, step;

        fill(cells, each);
        check_int(radio_pack(&shape, &amounts, &packed, &n), 0);
        check_int(radio_unpack(&shape, packed, n, &unpacked), 0);
        check(memcmp(unpacked.bytes, amounts.bytes, sizeof(amounts.bytes)) == 0);
        check(memcmp(unpacked.cells, cells, radio_shape_cells(&shape) * sizeof(*cells)) == 0);
        free(unpacked.cells);
        step = n / 64 + 1;
        for (size_t i = 0; i < n; i += step) {
                unsigned char kept = packed[i];

                accepted(packed, i);
                packed[i] ^= (unsigned char)(1 << random_u64() % 8);
                accepted(packed, n);
                packed[i] = kept;
        }
}

static void check_packed(const struct radio_amounts *amounts, const unsigned char *want, size_t n_want)
{
        _cleanup_free_ unsigned char *packed = NULL;
        size_t n = 0;

        check_int(radio_pack(&shape, amounts, &packed, &n), 0);
        check_int(n, n_want);
        check(n == n_want && memcmp(packed, want, n) == 0);
}

/* The format: whoever changes it takes another version. */
static void by_hand(void)
{
        static const unsigned char packets[] = {
                1, 44, 0xac, 2,  /* version; bytes sent and received */
                2 * (7 - 1) + 1, /* 7 packets of class 0 sent */
                2 * (1 - 1),     /* one zero: none was received */
                2 * (5 - 1) + 1, /* 5 of class 1 sent */
        };
        static const unsigned char silence[] = {
                1, 0, 0,
                0x9e, 1,          /* 80 zeros: no packets */
                2 * (1 - 1) + 1,  /* one span opened at rung 0 ... */
                2 * (1 - 1),      /* ... where silence takes no time */
                2 * (1 - 1) + 1,  /* one less at the next */
                2 * (60 - 1) + 1, /* up for 60 ms, also at all others */
        };
        _cleanup_free_ int64_t *cells = calloc(radio_shape_cells(&shape), sizeof(*cells));
        struct radio_amounts amounts = { .bytes = { 44, 300 }, .cells = cells };

        cells[radio_cell_packets(0, RADIO_TX)] = 7;
        cells[radio_cell_packets(1, RADIO_TX)] = 5;
        check_packed(&amounts, packets, sizeof(packets));
        memset(cells, 0, radio_shape_cells(&shape) * sizeof(*cells));
        memset(amounts.bytes, 0, sizeof(amounts.bytes));
        check_packed(&amounts, (const unsigned char[]){ 1, 0, 0 }, 3);
        cells[radio_cell_opened(&shape, 0, 0)] = 1;
        for (size_t k = 1; k < shape.n_rungs; k++)
                cells[radio_cell_up(&shape, 0, k)] = 60;
        check_packed(&amounts, silence, sizeof(silence));
}

static void refused(void)
{
        static const struct {
                size_t n;
                unsigned char data[20];
        } cases[] = {
                { 0, { 0 } },
                { 1, { 1 } },                                                           /* no bytes */
                { 2, { 1, 0 } },
                { 3, { 0, 0, 0 } },                                                     /* versions */
                { 3, { 2, 0, 0 } },
                { 4, { 0x81, 0, 0, 0 } },                                               /* longer than needed */
                { 4, { 1, 0x80, 0, 0 } },
                { 5, { 1, 0, 0, 0x81, 0 } },
                { 4, { 1, 0, 0, 0x81 } },                                               /* goes on */
                { 12, { 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 } }, /* 2^64 and more */
                { 4, { 1, 0, 0, 4 } },                                                  /* zeros at the end */
                { 6, { 1, 0, 0, 0, 0, 1 } },                                            /* zeros after zeros */
                { 6, { 1, 0, 0, 0xfe, 0x7f, 1 } },                                      /* more zeros than cells */
                { 14, { 1, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1 } },
                { 11, { 1, 0, 0, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20 } },    /* 2^53 + 1 */
                { 13, { 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
        };
        _cleanup_free_ unsigned char *full = calloc(1, radio_shape_cells(&shape) + 4);
        _cleanup_free_ int64_t *cells = calloc(radio_shape_cells(&shape), sizeof(*cells));
        struct radio_amounts amounts = { .cells = cells };
        unsigned char *packed = NULL;
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ unsigned char *data = malloc(cases[i].n + 1);

                memcpy(data, cases[i].data, cases[i].n);
                if (accepted(data, cases[i].n)) {
                        check_failures++;
                        fprintf(stderr, "case %zu was not refused\n", i);
                }
        }
        /* a number for each cell, and one more */
        memset(full, 1, radio_shape_cells(&shape) + 4);
        full[1] = full[2] = 0;
        check(accepted(full, radio_shape_cells(&shape) + 3));
        check(!accepted(full, radio_shape_cells(&shape) + 4));
        cells[9] = -1;
        check_int(radio_pack(&shape, &amounts, &packed, &n), -ERANGE);
        cells[9] = RADIO_CELL_MAX + 1;
        check_int(radio_pack(&shape, &amounts, &packed, &n), -ERANGE);
        check(!packed);
}

int main(void)
{
        radio_shape_stored(&shape);
        by_hand();
        refused();
        for (uint64_t each = 1; each <= 3000; each = each * 5 / 4 + 1)
                there_and_back(each);
        return check_result();
}
