/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Sums over all clients, and how each app is used on each client. Sums are integers and uses are sorted later, so
 * the result does not depend on the order of clients or on the thread that reads them.
 */

#include <errno.h>
#include <string.h>

#include "rates.h"
#include "report-features.h"
#include "threads.h"
#include "util/hash.h"
#include "util/util.h"

#define BATTERY_J 720000.0 /* 200 Wh: no device has a larger battery */
#define CHANCE 2.0         /* standard errors of a client's difference, whose rates are not independent */

struct app_total {
        int64_t id;
        wide clients, n, s1, s2, ms, own_ms, part_mj[COMPONENT_COUNT];
        struct own_use *own;
        struct drop_use *uses;
        size_t n_own, own_capacity, n_uses, uses_capacity;
        UT_hash_handle hh;
};

/* Sums over the clients of one thread, and at the end over all. */
struct totals {
        const struct rates *from;
        const struct features *features;
        struct strata strata;
        struct app_total *apps;
        wide n, s1, s2; /* over all rates */
};

static void clear(struct totals *totals)
{
        struct app_total *app, *next;

        HASH_ITER(hh, totals->apps, app, next) {
                HASH_DEL(totals->apps, app);
                free(app->own);
                free(app->uses);
                free(app);
        }
        strata_clear(&totals->strata);
}

static int find_app(struct totals *totals, int64_t id, struct app_total **ret)
{
        HASH_FIND(hh, totals->apps, &id, sizeof(id), *ret);
        if (*ret)
                return 0;
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        (*ret)->id = id;
        HASH_ADD(hh, totals->apps, id, sizeof(id), *ret);
        if (HASH_HAS(*ret))
                return 0;
        free(*ret);
        return -ENOMEM;
}

static int add_power(struct app_total *app, const struct own_use *use, double battery_w, double certain_w)
{
        int err = util_grow(&app->own, &app->own_capacity, app->n_own + 1, sizeof(*app->own));

        if (err < 0)
                return err;
        app->own[app->n_own] = *use;
        app->own[app->n_own].contradicted = (double)use->watts > battery_w;
        app->own[app->n_own++].confirmed = certain_w > 0;
        return 0;
}

/*
 * Adds an app's own energy on a client. Whatever else is true, the battery gave the app no more than the rate
 * is higher by with it, of the largest battery that there is.
 */
static int add_own(struct app_total *app, int64_t client, const struct client_rates *rates, size_t index)
{
        const struct app_sums *own = &rates->apps[index];
        const struct app_tally *tally = &rates->tallies[index];
        double with = tally->all_n > 0 ? tally->all_s / tally->all_n : 0, most = with, least = 0;
        struct own_use use = { .client = client, .part = OWN_WHOLE };
        int err;

        if (!own->own_ms)
                return 0;
        app->own_ms += own->own_ms;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                app->part_mj[i] += own->part_mj[i];
        if (own->own_n < OWN_SAMPLES_MIN)
                return 0;
        if (tally->weight > 0) {
                double more = tally->more / tally->weight;

                most = MIN(most, more + CHANCE * rates->errors[index] * rates->mean);
                least = more - CHANCE * rates->errors[index] * rates->mean;
        }
        most *= BATTERY_J * 1e-9;
        use.watts = (float)((double)own->own_mj / (double)own->own_ms);
        err = add_power(app, &use, most, least);
        for (int i = 0; !err && i < COMPONENT_COUNT; i++) {
                if (own->part_mj[i] <= 0)
                        continue;
                use.part = (uint8_t)i;
                use.watts = (float)((double)own->part_mj[i] / (double)own->own_ms);
                err = add_power(app, &use, most, least);
        }
        return err;
}

static int add_use(struct app_total *app, uint32_t client, struct drop_use use)
{
        int err = util_grow(&app->uses, &app->uses_capacity, app->n_uses + 1, sizeof(*app->uses));

        if (err < 0)
                return err;
        use.client = client;
        app->uses[app->n_uses++] = use;
        return 0;
}

static int add_app(struct totals *totals, size_t client, const struct client_rates *rates, size_t index)
{
        const struct app_sums *sums = &rates->apps[index];
        struct app_total *app;
        int err = find_app(totals, sums->app, &app);

        if (err < 0)
                return err;
        app->clients++;
        app->n += sums->n;
        app->s1 += sums->s1;
        app->s2 += sums->s2;
        app->ms += sums->ms;
        if (rates->uses[index].crude > 0)
                err = add_use(app, (uint32_t)client, rates->uses[index]);
        return err ? err : add_own(app, totals->from->clients[client], rates, index);
}

static int add_client(void *state, size_t client, struct client_rates *rates)
{
        struct totals *totals = state;
        int64_t s1, s2;
        int err = strata_set(&totals->strata, totals->features, totals->from->clients[client], rates);

        if (!err)
                err = client_rates_sum(rates, &s1, &s2);
        if (err < 0)
                return err;
        totals->n += (int64_t)rates->n;
        totals->s1 += s1;
        totals->s2 += s2;
        for (size_t i = 0; !err && i < rates->n_apps; i++)
                err = add_app(totals, client, rates, i);
        return err;
}

static int merge_app(struct totals *totals, struct app_total *from)
{
        struct app_total *app;
        int err = find_app(totals, from->id, &app);

        if (!err)
                err = util_grow(&app->own, &app->own_capacity, app->n_own + from->n_own, sizeof(*app->own));
        if (!err)
                err = util_grow(&app->uses, &app->uses_capacity, app->n_uses + from->n_uses, sizeof(*app->uses));
        if (err < 0)
                return err;
        app->clients += from->clients;
        app->n += from->n;
        app->s1 += from->s1;
        app->s2 += from->s2;
        app->ms += from->ms;
        app->own_ms += from->own_ms;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                app->part_mj[i] += from->part_mj[i];
        if (from->n_own)
                memcpy(app->own + app->n_own, from->own, from->n_own * sizeof(*app->own));
        if (from->n_uses)
                memcpy(app->uses + app->n_uses, from->uses, from->n_uses * sizeof(*app->uses));
        app->n_own += from->n_own;
        app->n_uses += from->n_uses;
        free(TAKE_PTR(from->own));
        free(TAKE_PTR(from->uses));
        return 0;
}

static int merge(struct totals *totals, const struct totals *from)
{
        int err = 0;

        totals->n += from->n;
        totals->s1 += from->s1;
        totals->s2 += from->s2;
        for (struct app_total *app = from->apps; !err && app; app = app->hh.next)
                err = merge_app(totals, app);
        return err;
}

/* Reads all clients and merges the threads' sums into the first. */
static int read_totals(struct database *database, const struct features *features, int64_t limit,
                       struct report *report, struct totals *totals, size_t n)
{
        _cleanup_(rates_close) struct rates rates;
        void *states[THREADS_MAX];
        int err = rates_open(database, limit, report->samples, &rates);

        for (size_t i = 0; i < n; i++) {
                totals[i].from = &rates;
                totals[i].features = features;
                states[i] = &totals[i];
        }
        if (!err)
                err = rates_each(&rates, add_client, states, n);
        for (size_t i = 1; !err && i < n; i++)
                err = merge(totals, &totals[i]);
        report->n_used = rates.n;
        report->clients_used = TAKE_PTR(rates.clients);
        return err;
}

static int compare_apps(const void *a, const void *b)
{
        int64_t x = ((const struct app_report *)a)->id, y = ((const struct app_report *)b)->id;

        return x < y ? -1 : x > y;
}

static int list_apps(const struct totals *totals, struct report *report)
{
        report->all = (struct drop_rates){ wide_to_double(totals->n), wide_to_double(totals->s1),
                                                   wide_to_double(totals->s2) };
        report->apps = calloc(HASH_COUNT(totals->apps) + 1, sizeof(*report->apps));
        if (!report->apps)
                return -ENOMEM;
        for (struct app_total *app = totals->apps; app; app = app->hh.next) {
                const struct drop_rates with = { wide_to_double(app->n), wide_to_double(app->s1),
                                                 wide_to_double(app->s2) };
                struct app_report *made = &report->apps[report->n_apps++];

                *made = (struct app_report){ .id = app->id, .clients = wide_to_double(app->clients),
                                             .rates = wide_to_double(app->n),
                                             .hours = wide_to_double(app->ms) / 3.6e6,
                                             .own_ms = wide_to_double(app->own_ms),
                                             .own = TAKE_PTR(app->own), .n_own = app->n_own,
                                             .uses = TAKE_PTR(app->uses), .n_uses = app->n_uses };
                for (int i = 0; i < COMPONENT_COUNT; i++)
                        made->part_mj[i] = wide_to_double(app->part_mj[i]);
                made->drop.paper_rule = drop_paper_rule(&with, &report->all);
        }
        qsort(report->apps, report->n_apps, sizeof(*report->apps), compare_apps);
        return 0;
}

static int compare_client(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = *(const int64_t *)element;

        return client < other ? -1 : client > other;
}

/* Reads from where and when clients came, if any came over HTTP. */
static int read_groups(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc;

        if (!database->ops->has_table(database, "joined"))
                return 0;
        rc = database_prepare(database, "SELECT client, network, day FROM joined", &select);
        while (rc >= 0 && (rc = select->ops->step(select)) == 1) {
                int64_t id = select->ops->get_int(select, 0);
                size_t client = util_lower_bound(&id, report->clients_used, report->n_used, sizeof(id),
                                                 compare_client);

                if (client == report->n_used || report->clients_used[client] != id)
                        continue;
                for (int i = 0; i < DROP_GROUPINGS; i++) {
                        uint32_t **of = &report->groups.of[i];

                        if (!*of)
                                *of = calloc(report->n_used, sizeof(**of));
                        if (!*of)
                                return -ENOMEM;
                        (*of)[client] = (uint32_t)select->ops->get_int(select, 1 + i);
                }
        }
        return rc;
}

int report_sums(struct database *database, const struct features *features, int64_t limit, struct report *report)
{
        size_t n = threads_count();
        struct totals *totals = calloc(n, sizeof(*totals));
        int err = totals ? read_totals(database, features, limit, report, totals, n) : -ENOMEM;

        if (!err)
                err = list_apps(totals, report);
        if (!err)
                err = read_groups(database, report);
        for (size_t i = 0; totals && i < n; i++)
                clear(&totals[i]);
        free(totals);
        return err;
}
