/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cost of usage.db. */

#include <errno.h>

#include "cost.h"
#include "util/util.h"

static int add_row(void *data, const struct store_row *row)
{
        return cost_maker_add(data, row);
}

static int make(const struct profile *profile, struct store *store, const struct store_query *query, bool intervals,
                struct cost **ret)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        struct store_battery battery = { 0 };
        int err;

        err = cost_maker_new(&maker);
        if (err < 0)
                return err;
        if (!intervals)
                cost_maker_omit_intervals(maker);
        err = store_battery(store, query->from_ns, query->to_ns, &battery);
        if (err < 0)
                return err;
        if (battery.elapsed_ns == 0)
                return -ENODATA;
        err = store_battery_step(store, &battery.step);
        if (err < 0)
                return err;
        err = store_rows(store, query, add_row, maker);
        if (err < 0)
                return err;
        return cost_maker_finish(maker, profile, &battery, ret);
}

static struct store_query span_of(int64_t uid, int64_t from_ns, int64_t to_ns)
{
        return (struct store_query){ .from_ns = from_ns, .to_ns = to_ns, .grain = STORE_BEST, .uid = uid,
                                     .others = true };
}

int cost_make_for(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns,
                  int64_t to_ns, struct cost **ret)
{
        const struct store_query query = span_of(uid, from_ns, to_ns);

        return make(profile, store, &query, true, ret);
}

int cost_make_sums(const struct profile *profile, struct store *store, int64_t uid, int64_t from_ns, int64_t to_ns,
                   struct cost **ret)
{
        const struct store_query query = span_of(uid, from_ns, to_ns);

        return make(profile, store, &query, false, ret);
}

int cost_make_times(struct store *store, int64_t uid, struct cost **ret)
{
        struct store_query query = span_of(uid, INT64_MIN, INT64_MAX);
        _cleanup_(profile_freep) struct profile *blank = NULL;
        int err = profile_new("", 1, &blank);

        query.times = true;
        return err ? err : make(blank, store, &query, false, ret);
}

int cost_make(const struct profile *profile, struct store *store, int64_t from_ns, int64_t to_ns,
              struct cost **ret)
{
        return cost_make_for(profile, store, -1, from_ns, to_ns, ret);
}
