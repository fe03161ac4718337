/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * fill-store FILE [DAYS [BUSY]]: a usage.db as a poller leaves it after 30 days (or DAYS) of polls every 30 s on a
 * machine with 60 apps, all of which do something in each poll (or only BUSY of them, others in others); rolled up as
 * the poller does it. Polls that are older than their retention are summed up here before they are stored: their hours
 * and days are the same to the bit, and a year takes a minute.
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
#define POLLS_AT_ONCE 120 /* an hour */

static uint64_t draw(uint64_t below)
{
        static uint64_t state = UINT64_C(88172645463325252);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % below;
}

static void fill_row(struct interval_row *row)
{
        static const uint32_t khz[] = { 245000, 384000, 460800, 499200, 576000, 614400,
                                        652800, 691200, 768000, 806400, 844800, 998400 };

        row->active_ns += POLL_S * NS_PER_S;
        row->usage.have = USAGE_ALL;
        for (unsigned i = 0; i < 6; i++)
                usage_add_cpu(&row->usage, 0, khz[draw(ARRAY_SIZE(khz))], draw(NS_PER_S), draw(NS_PER_S));
        row->usage.read_bytes += draw(1000000);
        row->usage.write_bytes += draw(1000000);
        row->usage.wifi_rx_bytes += draw(100000);
        row->usage.wifi_wakes += draw(3);
        if (row->state == STATE_FOREGROUND)
                usage_add_screen(&row->usage, 178, POLL_S * NS_PER_S);
}

static void fill_base(struct interval_row *row)
{
        row->usage.have = USAGE_ALL;
        row->usage.time_ns += POLL_S * NS_PER_S;
        row->usage.wifi_on_ns += POLL_S * NS_PER_S;
}

/* The base, each app in the background, and app-7 in the foreground. */
#define N_OWNERS (N_APPS + 2)

static void add_poll(struct interval_row *owners, unsigned busy)
{
        fill_base(&owners[0]);
        for (unsigned app = 0; app < N_APPS; app++)
                if (busy == N_APPS || app == 7 || draw(N_APPS) < busy)
                        fill_row(&owners[app == 7 && draw(2) ? N_APPS + 1 : app + 1]);
}

static void clear_owners(struct interval_row *owners)
{
        for (unsigned i = 0; i < N_OWNERS; i++)
                usage_clear(&owners[i].usage);
        memset(owners, 0, N_OWNERS * sizeof(*owners));
        owners[0].uid = (uid_t)-1;
        for (unsigned i = 1; i < N_OWNERS; i++) {
                owners[i].uid = 1000;
                snprintf(owners[i].app, sizeof(owners[i].app), "app-%u", i <= N_APPS ? i - 1 : 7);
        }
        owners[N_APPS + 1].state = STATE_FOREGROUND;
}

/* Those that did something, one after the other. */
static void list_rows(struct interval *interval, const struct interval_row *owners)
{
        interval->n_rows = 0;
        for (unsigned i = 0; i < N_OWNERS; i++)
                if (owners[i].usage.have)
                        interval->rows[interval->n_rows++] = owners[i];
}

static int fill(struct store *store, struct interval *interval, int64_t start_ns, unsigned polls, unsigned busy)
{
        static const struct store_retention retention = { 48, 60, 0 };
        static struct interval_row owners[N_OWNERS];
        const unsigned kept = 3 * 86400 / POLL_S; /* beyond the retention, so that rows not rolled up are kept, too */
        int err = 0;

        for (unsigned poll = 0, n; !err && poll < polls; poll += n) {
                n = poll % POLLS_AT_ONCE == 0 && poll + POLLS_AT_ONCE + kept <= polls ? POLLS_AT_ONCE : 1;
                clear_owners(owners);
                for (unsigned i = 0; i < n; i++)
                        add_poll(owners, busy);
                list_rows(interval, owners);
                interval->elapsed_ns = n * POLL_S * NS_PER_S;
                interval->start_realtime_ns = start_ns + (int64_t)(poll * POLL_S * NS_PER_S);
                interval->end_realtime_ns = interval->start_realtime_ns + (int64_t)interval->elapsed_ns;
                err = store_append(store, interval);
                if (!err)
                        err = store_roll_up(store, interval->end_realtime_ns, &retention);
        }
        clear_owners(owners);
        return err;
}

/* The begin of an hour. */
static int64_t start_of(uint64_t days)
{
        int64_t start_s = (int64_t)time(NULL) - (int64_t)days * 86400;

        return (start_s - start_s % (POLL_S * POLLS_AT_ONCE)) * (int64_t)NS_PER_S;
}

int main(int argc, char **argv)
{
        static struct interval_row rows[N_OWNERS];
        _cleanup_(store_closep) struct store *store = NULL;
        struct interval interval = { .rows = rows };
        uint64_t days = 30, busy = N_APPS;
        int err;

        if (argc < 2 || argc > 4 || (argc > 2 && util_parse_u64(argv[2], &days) < 0) ||
            (argc > 3 && (util_parse_u64(argv[3], &busy) < 0 || busy > N_APPS)))
                return 2;
        err = store_open(argv[1], STORE_WRITE, NULL, &store);
        if (!err)
                err = fill(store, &interval, start_of(days), (unsigned)days * 86400 / POLL_S, (unsigned)busy);
        if (err)
                fprintf(stderr, "fill-store: %s: %s\n", argv[1], strerror(-err));
        return err ? 1 : 0;
}
