/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The table of apps frees itself: an hour or a day keeps no more apps of one user than anybody uses, and names that
 * nothing refers to any more are dropped.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/subordinate.h"
#include "util/tuning.h"
#include "util/util.h"

/* Times of an app in a sum, over both states if it has totals in both. */
struct weight {
        size_t app; /* index into the store's apps */
        uid_t uid; /* who pays for it */
        uint64_t busy_ns, active_ns;
};

static int by_app(const void *a, const void *b)
{
        const struct weight *one = a, *other = b;

        return one->app < other->app ? -1 : one->app > other->app;
}

static int by_user_and_weight(const void *a, const void *b)
{
        const struct weight *one = a, *other = b;

        if (one->uid != other->uid)
                return one->uid < other->uid ? -1 : 1;
        if (one->busy_ns != other->busy_ns)
                return one->busy_ns > other->busy_ns ? -1 : 1;
        if (one->active_ns != other->active_ns)
                return one->active_ns > other->active_ns ? -1 : 1;
        return by_app(a, b);
}

/* One for each app; how many. */
static size_t weigh(const struct store *store, const struct totals *totals, struct weight *weights)
{
        size_t n = 0;

        for (size_t i = 0; i < totals->n; i++) {
                const struct total *total = &totals->list[i];

                weights[i] = (struct weight){ total->app, subordinate_owner(store->apps[total->app].uid),
                                              usage_busy_ns(&total->usage),
                                              total->active_ns };
        }
        qsort(weights, totals->n, sizeof(*weights), by_app);
        for (size_t i = 0; i < totals->n; i++) {
                if (n > 0 && weights[n - 1].app == weights[i].app) {
                        weights[n - 1].busy_ns += weights[i].busy_ns;
                        weights[n - 1].active_ns += weights[i].active_ns;
                } else {
                        weights[n++] = weights[i];
                }
        }
        qsort(weights, n, sizeof(*weights), by_user_and_weight);
        return n;
}

/* Moves what an app did to the other programs of its user. */
static int give_to_others(struct store *store, struct totals *totals, size_t at, int64_t others)
{
        enum app_state state = totals->list[at].state;
        struct total *to, *from;
        int err;

        to = totals_of(store, totals, (uint64_t)others, state, &err);
        from = &totals->list[at];
        if (err || to == from)
                return err;
        to->active_ns = MAX(to->active_ns, from->active_ns);
        err = usage_add(&to->usage, &from->usage);
        usage_clear(&from->usage);
        from->active_ns = 0;
        return err;
}

static int cut_app(struct store *store, struct totals *totals, const struct weight *weight)
{
        size_t n = totals->n;
        int64_t others;
        int err = names_app(store, TUNING_OTHER_APPS, weight->uid, &others);

        for (size_t i = 0; !err && i < n; i++)
                if (totals->list[i].app == weight->app)
                        err = give_to_others(store, totals, i, others);
        return err;
}

int store_cut_apps(struct store *store, struct totals *totals)
{
        _cleanup_free_ struct weight *weights = NULL;
        size_t n, of_user = 0;
        int err = 0;

        if (totals->n <= TUNING_STORE_APPS_OF_PERIOD)
                return 0;
        weights = calloc(totals->n, sizeof(*weights));
        if (!weights)
                return -ENOMEM;
        n = weigh(store, totals, weights);
        for (size_t i = 0; !err && i < n; i++) {
                of_user = i > 0 && weights[i].uid == weights[i - 1].uid ? of_user + 1 : 0;
                if (of_user >= TUNING_STORE_APPS_OF_PERIOD)
                        err = cut_app(store, totals, &weights[i]);
        }
        return err;
}

static bool is_crowded(const struct store *store)
{
        bool crowded = store->n_apps > TUNING_STORE_APPS / 2;

        for (size_t i = 0; i < store->n_users; i++)
                crowded = crowded || store->users[i].n > TUNING_STORE_APPS_OF_USER / 2;
        return crowded;
}

static void mark(const struct store *store, uint64_t id, bool *used)
{
        const struct app_name *app = names_find_app(store, id);

        if (app)
                used[app - store->apps] = true;
}

struct marking {
        const struct store *store;
        bool *used;
};

static void mark_summary_app(void *data, uint64_t id)
{
        const struct marking *marking = data;

        mark(marking->store, id, marking->used);
}

static int mark_rows(struct store *store, bool *used)
{
        sqlite3_stmt *rows = store_statement(store, SQL_USED_APPS);
        int more;

        if (!rows)
                return -EBADMSG;
        while ((more = store_step(store, rows)) == 1)
                mark(store, (uint64_t)sqlite3_column_int64(rows, 0), used);
        return more;
}

static int mark_alive(struct store *store, bool *used)
{
        sqlite3_stmt *sets = store_statement(store, SQL_ALIVE);
        int more = 0, err = 0;

        if (!sets)
                return -EBADMSG;
        while (!err && (more = store_step(store, sets)) == 1) {
                struct bytes_reader reader = store_reader_of(sets, 0);
                uint64_t app = 0, step;

                while (!err && reader.at < reader.end) {
                        err = bytes_get(&reader, &step);
                        app += err ? 0 : step;
                        mark(store, app, used);
                }
        }
        sqlite3_reset(sets);
        return err ? err : more;
}

static int drop_unused(struct store *store, const bool *used)
{
        sqlite3_stmt *drop = store_statement(store, SQL_DROP_APP);
        int err = drop ? 0 : -EBADMSG;

        for (size_t i = 0; !err && i < store->n_apps; i++) {
                if (used[i])
                        continue;
                sqlite3_bind_int64(drop, 1, store->apps[i].id);
                err = store_step(store, drop);
        }
        return err;
}

int store_prune_apps(struct store *store)
{
        return is_crowded(store) ? store_drop_unused_apps(store) : 0; /* all rows are read for it */
}

int store_drop_unused_apps(struct store *store)
{
        _cleanup_free_ bool *used = NULL;
        int err;

        used = calloc(store->n_apps, sizeof(*used));
        if (!used)
                return -ENOMEM;
        err = mark_rows(store, used);
        if (!err)
                err = store_each_summary_app(store, mark_summary_app, &(struct marking){ store, used });
        if (!err)
                err = mark_alive(store, used);
        if (!err)
                err = drop_unused(store, used);
        store->alive_id = 0; /* the set that was written last may name what is gone */
        return err ? err : names_load(store);
}
