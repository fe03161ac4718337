/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A history from usage.db: polls where it is recent, hours and days where it is old. */

#include <errno.h>
#include <time.h>

#include "history.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define HOUR_NS (INT64_C(3600) * (int64_t)NS_PER_S)
#define DAY_NS (24 * HOUR_NS)

/*
 * The end of one grain and the begin of the next, at the edge of a period of the coarser one: a period that is cut
 * would count twice or not at all.
 */
static int64_t edge(int64_t ns, int64_t period_ns)
{
        return ns - ns % period_ns;
}

/* Rows as they come, ascending. */
struct reading {
        struct history *history;
        int64_t now_ns, last_ns;
};

/*
 * A record that ends in the future, and begins a day or more after the last one before it, was dated by a
 * clock that was ahead. With it all others would count as old. The time of a virtual device may run past the clock.
 */
static bool is_ahead(struct reading *reading, int64_t start_ns, int64_t end_ns)
{
        if (end_ns > reading->now_ns && reading->last_ns != INT64_MIN && start_ns > reading->last_ns + DAY_NS)
                return true;
        reading->last_ns = MAX(reading->last_ns, end_ns);
        return false;
}

static int add_row(void *data, const struct store_row *row)
{
        struct reading *reading = data;

        if (is_ahead(reading, row->start_ns, row->end_ns))
                return 0;
        return history_add(reading->history, row);
}

static int add_level(void *data, const struct store_poll *level)
{
        struct reading *reading = data;

        return is_ahead(reading, level->start_ns, level->end_ns) ? 0 : history_add_level(reading->history, level);
}

/* -ENODATA: nothing is recorded until then, and @end_ns stays. */
static int find_last(struct store *store, int64_t until_ns, int64_t *end_ns)
{
        struct store_battery until = { 0 };
        int64_t first_ns, last_ns;
        int err = store_span(store, &first_ns, &last_ns);

        if (!err && last_ns > until_ns) {
                err = store_battery(store, INT64_MIN, until_ns, &until);
                last_ns = until.last_ns;
        }
        if (!err)
                *end_ns = last_ns;
        return err;
}

/*
 * End of the history. An interval of a time at which the clock was ahead, perhaps by years, is not the end: it would
 * make all others old and coarse. If all are ahead, as on a virtual device, the clock is ignored.
 */
static int find_end(struct store *store, int64_t until_ns, int64_t now, int64_t *end_ns)
{
        int err = find_last(store, until_ns, end_ns);

        if (err < 0 || *end_ns <= now)
                return err;
        err = find_last(store, now, end_ns);
        return err == -ENODATA ? 0 : err;
}

static int read_until(const struct profile *profile, struct store *store, int64_t uid, int64_t until_ns,
                      enum history_extent extent, struct history **ret)
{
        _cleanup_(history_freep) struct history *history = NULL;
        struct store_query query = { .grain = STORE_DAY, .from_ns = INT64_MIN, .uid = uid, .others = true };
        struct reading reading = { .now_ns = (int64_t)util_clock_ns(CLOCK_REALTIME), .last_ns = INT64_MIN };
        struct reading levels = reading;
        int64_t end_ns = 0;
        int err = find_end(store, until_ns, reading.now_ns, &end_ns);

        if (err < 0)
                return err;
        err = history_new(profile, &history);
        if (err < 0)
                return err;
        reading.history = levels.history = history;
        history->others = uid >= 0;
        query.to_ns = edge(end_ns - TUNING_HOUR_DAYS * DAY_NS, DAY_NS);
        if (extent == HISTORY_RECENT)
                query.from_ns = query.to_ns - TUNING_DAY_DAYS * DAY_NS;
        err = store_rows(store, &query, add_row, &reading);
        if (err < 0)
                return err;
        query.grain = STORE_HOUR;
        query.from_ns = query.to_ns;
        query.to_ns = edge(end_ns - TUNING_RAW_HOURS * HOUR_NS, HOUR_NS);
        err = store_rows(store, &query, add_row, &reading);
        if (err < 0)
                return err;
        query.grain = STORE_RAW;
        query.from_ns = query.to_ns;
        query.to_ns = until_ns;
        err = store_levels(store, query.from_ns, query.to_ns, add_level, &levels);
        if (err < 0)
                return err;
        err = store_rows(store, &query, add_row, &reading);
        if (err < 0)
                return err;
        err = history_finish(history);
        if (err < 0)
                return err;
        if (!(history->awake_s > 0))
                return -ENODATA;
        *ret = TAKE_PTR(history);
        return 0;
}

int history_read_for(const struct profile *profile, struct store *store, int64_t uid, enum history_extent extent,
                     struct history **ret)
{
        return read_until(profile, store, uid, INT64_MAX, extent, ret);
}

static int add_name(void *data, const struct store_row *row)
{
        return history_add_name(data, row);
}

int history_read_names(const struct profile *profile, struct store *store, int64_t uid, struct history **ret)
{
        _cleanup_(history_freep) struct history *history = NULL;
        int err = history_new(profile, &history);

        if (!err)
                err = store_apps(store, uid, add_name, history);
        if (!err)
                err = history_finish(history);
        if (err)
                return err;
        history->others = uid >= 0;
        *ret = TAKE_PTR(history);
        return 0;
}

int history_read_until(const struct profile *profile, struct store *store, int64_t until_ns, struct history **ret)
{
        return read_until(profile, store, -1, until_ns, HISTORY_RECENT, ret);
}

int history_read(const struct profile *profile, struct store *store, struct history **ret)
{
        return history_read_for(profile, store, -1, HISTORY_WHOLE, ret);
}
