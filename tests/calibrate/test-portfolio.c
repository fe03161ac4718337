/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The portfolio from a usage database. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "fit/portfolio-usage.h"
#include "store/store.h"
#include "util/units.h"

/* Half an hour of a reader app, @n times, in a usage database. */
static void record(const char *path, size_t n)
{
        struct store *store;

        check_int(store_open(path, STORE_WRITE, NULL, &store), 0);
        for (size_t i = 0; i < n; i++) {
                struct interval_row rows[2] = { 0 };
                struct interval interval = { .elapsed_ns = 1800 * NS_PER_S, .rows = rows, .n_rows = 2 };

                interval.start_realtime_ns = (int64_t)(1000000 + 1800 * i) * (int64_t)NS_PER_S;
                interval.end_realtime_ns = interval.start_realtime_ns + 1800 * (int64_t)NS_PER_S;
                rows[0].usage = (struct usage){ .have = USAGE_ALL, .time_ns = 1800 * NS_PER_S };
                rows[0].uid = (uid_t)-1;
                rows[1].state = STATE_FOREGROUND;
                snprintf(rows[1].app, sizeof(rows[1].app), "reader");
                rows[1].usage.have = USAGE_ALL;
                usage_add_cpu(&rows[1].usage, 0, 300000, 180 * NS_PER_S, 180 * NS_PER_S);
                usage_add_screen(&rows[1].usage, 40, 1800 * NS_PER_S);
                check_int(store_append(store, &interval), 0);
                usage_clear(&rows[1].usage);
        }
        store_close(store);
}

static void recorded_usage_is_the_portfolio(void)
{
        char folder[] = "/tmp/test-fit-XXXXXX", path[64], command[80];
        struct portfolio_usage usage = { 0 };
        uint64_t awake = 0;

        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/usage.db", folder);
        check_int(portfolio_usage_recorded(path, &usage), -ENOENT);
        record(path, 1);
        check_int(portfolio_usage_recorded(path, &usage), -ENODATA); /* half an hour is too little */
        unlink(path);
        record(path, 20);
        check_int(portfolio_usage_recorded(path, &usage), 0);
        check(usage.n_totals >= 10 && usage.n_totals <= 24);
        check_int(usage.n_apps, 1);
        for (size_t i = 0; i < usage.n_totals; i++)
                awake += usage.totals[i].time_ns;
        check_int(awake / NS_PER_S, 20 * 1800);
        if (usage.n_apps == 1)
                check_int(usage_screen_ns(&usage.apps[0]) / NS_PER_S, 20 * 1800);
        portfolio_usage_clear(&usage);
        snprintf(command, sizeof(command), "rm -r %s", folder);
        check_int(system(command), 0);
}

int main(void)
{
        recorded_usage_is_the_portfolio();
        return check_result();
}
