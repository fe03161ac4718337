/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "poller.h"

#include <string.h>

#include "util/units.h"
#include "util/util.h"

/*
 * Any user may ask, and each reading costs time. So readings are at least this far apart and take at most
 * this part of the time. This is also the time resolution at which other users' sum can be observed.
 */
#define APART_NS (NS_PER_S / 2)
#define PART 20
#define ASKED_WITHIN_NS (60 * NS_PER_S) /* a client that asks less often gets the last interval of each poll */
#define ROWS_MAX 4096 /* rows of all kept intervals: 2 MB if each has a dozen operating points */

static void drop_oldest(struct live *live)
{
        interval_clear(&live->list[0]);
        live->n--;
        memmove(live->list, live->list + 1, live->n * sizeof(*live->list));
        live->list[live->n] = (struct interval){ 0 };
}

static void forget(struct live *live)
{
        while (live->n > 0)
                drop_oldest(live);
}

void live_clear(struct live *live)
{
        forget(live);
        *live = (struct live){ 0 };
}

bool live_ask(struct live *live, uint64_t now_ns)
{
        live->asked_ns = now_ns;
        return now_ns - live->read_ns >= MAX(APART_NS, PART * live->took_ns);
}

static size_t rows_kept(const struct live *live)
{
        size_t n = 0;

        for (size_t i = 0; i < live->n; i++)
                n += live->list[i].n_rows;
        return n;
}

void live_add(struct live *live, const struct interval *interval, uint64_t begin_ns, uint64_t now_ns)
{
        live->read_ns = now_ns;
        live->took_ns = now_ns - begin_ns;
        live->number++;
        if (live->asked_ns == 0 || now_ns - live->asked_ns > ASKED_WITHIN_NS) {
                live->asked_ns = 0;
                forget(live);
                return;
        }
        while (live->n == LIVE_INTERVALS || (live->n > 0 && rows_kept(live) + interval->n_rows > ROWS_MAX))
                drop_oldest(live);
        if (interval_join(&live->list[live->n], interval) == 0) {
                live->n++;
                return;
        }
        interval_clear(&live->list[live->n]); /* a gap would look like a complete answer */
        forget(live);
}

const struct interval *live_after(const struct live *live, uint64_t after, size_t *n)
{
        uint64_t wanted = after == 0 || after > live->number ? 1 : live->number - after;

        wanted = MIN(wanted, (uint64_t)LIVE_INTERVALS);
        *n = MIN((size_t)wanted, live->n);
        return live->list + (live->n - *n);
}
