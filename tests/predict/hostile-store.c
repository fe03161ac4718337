/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hostile-store FILE: makes a usage.db of one hour whose apps have malicious names. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "interval/interval.h"
#include "store/store.h"
#include "util/units.h"
#include "util/util.h"

#define POLLS 120
#define POLL_S 30

static const char *const names[] = {
        "<script>alert(1)</script>",
        "</title></style></svg><img src=x onerror=alert(2)>",
        "\"'><b onclick='alert(3)'>",
        "&lt;i&gt; &amp; --> ]]> <!--",
        "\342\200\256reversed\342\201\246" /* a mark that turns the direction */,
        "broken \xff\xc3( utf-8",
        "line\nbreak\r\tand \x1b[31mcolour",
        "| a | b |---| `code` **bold** _it_ [x](javascript:alert(4)) ![i](http://x.invalid/i.png)",
        "# heading @somebody #123 www.x.invalid https://x.invalid $x$ ~~y~~ \\| \\",
        "model total",
};

static void fill_row(struct interval_row *row, const char *name, unsigned i)
{
        usage_clear(&row->usage);
        *row = (struct interval_row){ .uid = 1000,
                                      .active_ns = POLL_S * NS_PER_S,
                                      .state = i % 2 ? STATE_FOREGROUND : STATE_BACKGROUND };
        row->usage.have = USAGE_ALL;
        if (name)
                snprintf(row->app, sizeof(row->app), "%s", name);
        else
                memset(row->app, '<', sizeof(row->app) - 1); /* an app of the greatest length */
        usage_add_cpu(&row->usage, 0, 384000, (i + 1) * NS_PER_S / 10, NS_PER_S);
}

static int fill(struct store *store, struct interval *interval)
{
        int64_t start_ns = ((int64_t)time(NULL) - POLLS * POLL_S) * (int64_t)NS_PER_S;
        int err = 0;

        for (int64_t poll = 0; !err && poll < POLLS; poll++) {
                interval->start_realtime_ns = start_ns + poll * POLL_S * (int64_t)NS_PER_S;
                interval->end_realtime_ns = interval->start_realtime_ns + POLL_S * (int64_t)NS_PER_S;
                interval->n_rows = 1;
                usage_clear(&interval->rows[0].usage);
                interval->rows[0] = (struct interval_row){ .uid = (uid_t)-1 };
                interval->rows[0].usage.have = USAGE_ALL;
                interval->rows[0].usage.time_ns = POLL_S * NS_PER_S;
                for (unsigned i = 0; i <= ARRAY_SIZE(names); i++)
                        fill_row(&interval->rows[interval->n_rows++], i < ARRAY_SIZE(names) ? names[i] : NULL, i);
                err = store_append(store, interval);
        }
        return err;
}

int main(int argc, char **argv)
{
        static struct interval_row rows[ARRAY_SIZE(names) + 2];
        _cleanup_(store_closep) struct store *store = NULL;
        struct interval interval = { .elapsed_ns = POLL_S * NS_PER_S, .rows = rows };
        int err = argc == 2 ? store_open(argv[1], STORE_SIMULATE, NULL, &store) : -EINVAL;

        if (!err)
                err = fill(store, &interval);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                usage_clear(&rows[i].usage);
        if (err)
                fprintf(stderr, "hostile-store: %s\n", strerror(-err));
        return err ? 1 : 0;
}
