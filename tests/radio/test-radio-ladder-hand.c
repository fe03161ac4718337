/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ladder of a few bursts, worked out by hand. */

#include "check.h"
#include "radio/radio-ladder.h"
#include "util/util.h"

static int64_t sum_of(const struct radio_ladder *ladder, uint64_t owner, bool opened, size_t rung)
{
        int64_t sum = 0;

        for (size_t i = 0; i < ladder->n_owners; i++)
                for (size_t c = 0; ladder->owners[i].owner == owner && c < radio_shape_classes(ladder->shape); c++)
                        sum += ladder->owners[i].cells[opened ? radio_cell_opened(ladder->shape, c, rung) :
                                                                radio_cell_up(ladder->shape, c, rung)];
        return sum;
}

static void poll_ms(struct radio_ladder *ladder, struct radio_burst *bursts, size_t n, int64_t until_ms)
{
        for (size_t i = 0; i < n; i++) {
                bursts[i].first_ns *= 1000000;
                bursts[i].last_ns *= 1000000;
        }
        check_int(radio_ladder_poll(ladder, bursts, n, until_ms * 1000000), 0);
}

/* Compares with results by hand, for rungs of 0, 1, 2, 4 ... s. */
static void check_by_hand(void)
{
        struct radio_burst first[] = { { 7, 10000, 10500, { 3, 0 } }, { 8, 12000, 12000, { 1, 0 } } };
        struct radio_burst second[] = { { 8, 33000, 33000, { 0, 1 } } }, late[] = { { 9, 33200, 33700, { 2, 0 } } };
        _cleanup_(radio_ladder_clear) struct radio_ladder ladder = { 0 };
        struct radio_shape shape;

        radio_shape_make(&shape, 1000, 1, 1, true, 0);
        check_int(shape.rung_ms[3], 4000);
        check_int(radio_ladder_start(&ladder, &shape), 0);
        poll_ms(&ladder, NULL, 0, 5000);
        check_int(ladder.n_owners, 0);
        poll_ms(&ladder, first, 2, 14000);
        /* 1 s: 7 was up for 0.5 s and 1 s more, then 8 for 1 s */
        check_int(sum_of(&ladder, 7, false, 1), 1500);
        check_int(sum_of(&ladder, 8, false, 1), 1000);
        check_int(sum_of(&ladder, 8, true, 1), 1);
        /* 2 s: both share the span of 2 s, 3 packets to 1; its silence so far is 7's, which opened it */
        check_near(sum_of(&ladder, 7, false, 2), 1500 + 2000, 1);
        check_int(sum_of(&ladder, 7, false, 2) + sum_of(&ladder, 8, false, 2), 4000);
        check_int(sum_of(&ladder, 8, true, 2), 0);
        /* the span of the longest timer goes on, and is charged to 7, which sent nothing more */
        poll_ms(&ladder, NULL, 0, 20000);
        check_int(sum_of(&ladder, 7, false, 1), 0);
        check_int(sum_of(&ladder, 7, false, 3), 2000); /* 4 s: until 16 s */
        check_int(sum_of(&ladder, 7, false, 4), 6000);
        check_int(sum_of(&ladder, 8, false, 4), 0);
        /* a packet that ends the silence shares it if the span goes on: 13 s of 32 s, and 1 s more */
        poll_ms(&ladder, second, 1, 34000);
        check_int(sum_of(&ladder, 8, true, 5), 1);
        check_int(sum_of(&ladder, 7, false, 5), 8000); /* 16 s: until 28 s */
        check_int(sum_of(&ladder, 8, true, 6), 0);
        check_int(sum_of(&ladder, 8, false, 6), 14000);
        /* a late burst takes no time that was counted already */
        poll_ms(&ladder, late, 1, 40000);
        check_int(sum_of(&ladder, 7, false, 6) + sum_of(&ladder, 8, false, 6) + sum_of(&ladder, 9, false, 6), 6000);
}

int main(void)
{
        check_by_hand();
        return check_result();
}
