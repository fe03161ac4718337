/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * fill-store FILE [DAYS [BUSY]]: a usage.db as a poller leaves it after 30 days (or DAYS) of polls every 30 s on a
 * machine with 60 apps, all of which do something in each poll (or only BUSY of them, others in others); rolled up as
 * the poller does it.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "interval/interval.h"
#include "store/store.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define N_APPS 60
#define POLL_S 30

static uint64_t draw(uint64_t below)
{
        static uint64_t state = UINT64_C(88172645463325252);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

static void fill_row(struct interval_row *row, unsigned app)
{
        static const uint32_t khz[] = { 245000, 384000, 460800, 499200, 576000, 614400,
                                        652800, 691200, 768000, 806400, 844800, 998400 };

        usage_clear(&row->usage);
        *row = (struct interval_row){ .uid = 1000, .active_ns = POLL_S * NS_PER_S };
        snprintf(row->app, sizeof(row->app), "app-%u", app);
        row->state = app == 7 && draw(2) ? STATE_FOREGROUND : STATE_BACKGROUND;
        row->usage.have = USAGE_ALL;
        for (unsigned i = 0; i < 6; i++)
                usage_add_cpu(&row->usage, 0, khz[draw(ARRAY_SIZE(khz))], draw(NS_PER_S), draw(NS_PER_S));
        row->usage.read_bytes = draw(1000000);
        row->usage.write_bytes = draw(1000000);
        row->usage.wifi_rx_bytes = draw(100000);
        row->usage.wifi_wakes = draw(3);
        if (row->state == STATE_FOREGROUND)
                usage_add_screen(&row->usage, 178, POLL_S * NS_PER_S);
}

static void fill_base(struct interval_row *row)
{
        usage_clear(&row->usage);
        *row = (struct interval_row){ .uid = (uid_t)-1 };
        row->usage.have = USAGE_ALL;
        row->usage.time_ns = row->usage.wifi_on_ns = POLL_S * NS_PER_S;
}

static int fill(struct store *store, struct interval *interval, int64_t start_ns, unsigned polls, unsigned busy)
{
        static const struct store_retention retention = { 48, 60, 0 };

        for (unsigned poll = 0; poll < polls; poll++) {
                int err;

                interval->start_realtime_ns = start_ns + (int64_t)(poll * POLL_S * NS_PER_S);
                interval->end_realtime_ns = interval->start_realtime_ns + (int64_t)(POLL_S * NS_PER_S);
                interval->n_rows = 1;
                fill_base(&interval->rows[0]);
                for (unsigned app = 0; app < N_APPS; app++)
                        if (busy == N_APPS || app == 7 || draw(N_APPS) < busy)
                                fill_row(&interval->rows[interval->n_rows++], app);
                err = store_append(store, interval);
                if (!err)
                        err = store_roll_up(store, interval->end_realtime_ns, &retention);
                if (err)
                        return err;
        }
        return 0;
}

int main(int argc, char **argv)
{
        static struct interval_row rows[N_APPS + 1];
        _cleanup_(store_closep) struct store *store = NULL;
        struct interval interval = { .elapsed_ns = POLL_S * NS_PER_S, .rows = rows };
        uint64_t days = 30, busy = N_APPS;
        int err;

        if (argc < 2 || argc > 4 || (argc > 2 && util_parse_u64(argv[2], &days) < 0) ||
            (argc > 3 && (util_parse_u64(argv[3], &busy) < 0 || busy > N_APPS)))
                return 2;
        err = store_open(argv[1], STORE_WRITE, NULL, &store);
        if (!err)
                err = fill(store, &interval,
                           ((int64_t)time(NULL) - (int64_t)days * 86400) * (int64_t)NS_PER_S,
                           (unsigned)days * 86400 / POLL_S, (unsigned)busy);
        for (unsigned i = 0; i <= N_APPS; i++)
                usage_clear(&rows[i].usage);
        if (err)
                fprintf(stderr, "fill-store: %s: %s\n", argv[1], strerror(-err));
        return err ? 1 : 0;
}
