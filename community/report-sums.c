/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Sums over clients, of which each client is one term: they are integers and add up, so the order of clients is no matter,
 * nor where their rates are. And the means of clients with a coarse gauge, for which everybody's rates have to be known.
 */

#include <errno.h>
#include <string.h>

#include "rates.h"
#include "report.h"
#include "threads.h"
#include "util/hash.h"
#include "util/util.h"

struct app_total {
        int64_t id;
        struct drop_sums sums;
        wide ms, own_ms, part_mj[COMPONENT_COUNT];
        struct own_use *own;
        size_t n_own, own_capacity;
        UT_hash_handle hh;
};

struct coarse_client {
        int64_t id;
        size_t first, n; /* of its rates */
};

/* Of the clients of one thread; then of all. */
struct totals {
        const struct rates *from;
        struct app_total *apps;
        wide clients, n, s1, s2; /* of all rates */
        struct prior prior;
        struct coarse_client *coarse;
        struct client_rate *rates; /* theirs */
        size_t n_coarse, coarse_capacity, n_rates, rates_capacity;
};

static void clear(struct totals *totals)
{
        struct app_total *app, *next;

        HASH_ITER(hh, totals->apps, app, next) {
                HASH_DEL(totals->apps, app);
                free(app->own);
                free(app);
        }
        free(totals->coarse);
        free(totals->rates);
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

static int add_power(struct app_total *app, int64_t client, const struct app_sums *own, int part, int64_t mj)
{
        int err = util_grow(&app->own, &app->own_capacity, app->n_own + 1, sizeof(*app->own));

        if (err < 0)
                return err;
        app->own[app->n_own++] = (struct own_use){ .client = client, .watts = (float)((double)mj / (double)own->own_ms),
                                                   .part = (uint8_t)part, .cheaper = own->x < 0 };
        return 0;
}

/* An app's own energy on a client. */
static int add_own(struct app_total *app, int64_t client, const struct app_sums *own)
{
        int err;

        if (!own->own_ms)
                return 0;
        app->own_ms += own->own_ms;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                app->part_mj[i] += own->part_mj[i];
        if (own->own_n < OWN_SAMPLES_MIN)
                return 0;
        err = add_power(app, client, own, OWN_WHOLE, own->own_mj);
        for (int i = 0; !err && i < COMPONENT_COUNT; i++)
                if (own->part_mj[i] > 0)
                        err = add_power(app, client, own, i, own->part_mj[i]);
        return err;
}

static int add_coarse(struct totals *totals, int64_t client, const struct client_rates *rates)
{
        int err = util_grow(&totals->coarse, &totals->coarse_capacity, totals->n_coarse + 1, sizeof(*totals->coarse));

        if (!err)
                err = util_grow(&totals->rates, &totals->rates_capacity, totals->n_rates + rates->n, sizeof(*totals->rates));
        if (err < 0)
                return err;
        totals->coarse[totals->n_coarse++] = (struct coarse_client){ client, totals->n_rates, rates->n };
        for (size_t i = 0; i < rates->n; i++) {
                totals->rates[totals->n_rates] = rates->list[i];
                totals->rates[totals->n_rates++].apps = NULL;
        }
        return 0;
}

static void add_prior(struct prior *prior, const struct client_rates *rates)
{
        for (size_t i = 0; i < rates->n; i++) {
                int32_t bin = MIN(rates->list[i].rate, RATE_MAX) / PRIOR_BIN;

                prior->n[bin]++;
                prior->s1[bin] += rates->list[i].rate;
        }
}

static int add_client(void *state, size_t client, struct client_rates *rates)
{
        struct totals *totals = state;
        int64_t id = totals->from->clients[client], s1, s2;
        int err = 0;

        client_rates_sum(rates, &s1, &s2);
        totals->clients++;
        totals->n += (int64_t)rates->n;
        totals->s1 += s1;
        totals->s2 += s2;
        for (size_t i = 0; !err && i < rates->n_apps; i++) {
                struct app_total *app;

                err = find_app(totals, rates->apps[i].app, &app);
                if (err < 0)
                        return err;
                drop_add(&app->sums, &rates->apps[i]);
                app->ms += rates->apps[i].ms;
                err = add_own(app, id, &rates->apps[i]);
        }
        if (!err && rates->coarse)
                err = add_coarse(totals, id, rates);
        if (!err && !rates->coarse)
                add_prior(&totals->prior, rates);
        return err;
}

static int merge_app(struct totals *totals, struct app_total *from)
{
        struct app_total *app;
        int err = find_app(totals, from->id, &app);

        if (!err)
                err = util_grow(&app->own, &app->own_capacity, app->n_own + from->n_own, sizeof(*app->own));
        if (err < 0)
                return err;
        drop_merge(&app->sums, &from->sums);
        app->ms += from->ms;
        app->own_ms += from->own_ms;
        for (int i = 0; i < COMPONENT_COUNT; i++)
                app->part_mj[i] += from->part_mj[i];
        if (from->n_own)
                memcpy(app->own + app->n_own, from->own, from->n_own * sizeof(*app->own));
        app->n_own += from->n_own;
        free(TAKE_PTR(from->own));
        return 0;
}

static int merge_coarse(struct totals *totals, const struct totals *from)
{
        int err = util_grow(&totals->coarse, &totals->coarse_capacity, totals->n_coarse + from->n_coarse,
                            sizeof(*totals->coarse));

        if (!err)
                err = util_grow(&totals->rates, &totals->rates_capacity, totals->n_rates + from->n_rates, sizeof(*totals->rates));
        if (err < 0)
                return err;
        for (size_t i = 0; i < from->n_coarse; i++) {
                totals->coarse[totals->n_coarse] = from->coarse[i];
                totals->coarse[totals->n_coarse++].first += totals->n_rates;
        }
        if (from->n_rates)
                memcpy(totals->rates + totals->n_rates, from->rates, from->n_rates * sizeof(*totals->rates));
        totals->n_rates += from->n_rates;
        return 0;
}

static int merge(struct totals *totals, const struct totals *from)
{
        int err = merge_coarse(totals, from);

        totals->clients += from->clients;
        totals->n += from->n;
        totals->s1 += from->s1;
        totals->s2 += from->s2;
        for (int i = 0; i < PRIOR_BINS; i++) {
                totals->prior.n[i] += from->prior.n[i];
                totals->prior.s1[i] += from->prior.s1[i];
        }
        for (struct app_total *app = from->apps; !err && app; app = app->hh.next)
                err = merge_app(totals, app);
        return err;
}

/* The sums of all threads, in the first. */
static int read_totals(struct database *database, int64_t limit, int64_t samples, struct totals *totals, size_t n)
{
        _cleanup_(rates_close) struct rates rates;
        void *states[THREADS_MAX];
        int err = rates_open(database, limit, samples, &rates);

        for (size_t i = 0; i < n; i++) {
                totals[i].from = &rates;
                states[i] = &totals[i];
        }
        if (!err)
                err = rates_each(&rates, add_client, states, n);
        for (size_t i = 1; !err && i < n; i++)
                err = merge(totals, &totals[i]);
        return err;
}

static int compare_apps(const void *a, const void *b)
{
        int64_t x = ((const struct app_report *)a)->id, y = ((const struct app_report *)b)->id;

        return x < y ? -1 : x > y;
}

static int list_apps(const struct totals *totals, struct report *report)
{
        const struct all_sums all = { (double)totals->clients, (double)totals->n, (double)totals->s1, (double)totals->s2,
                                      report->middle_rate };

        report->apps = calloc(HASH_COUNT(totals->apps) + 1, sizeof(*report->apps));
        if (!report->apps)
                return -ENOMEM;
        for (struct app_total *app = totals->apps; app; app = app->hh.next) {
                struct app_report *made = &report->apps[report->n_apps++];

                *made = (struct app_report){ .id = app->id, .clients = (double)app->sums.clients, .rates = (double)app->sums.n,
                                             .hours = (double)app->ms / 3.6e6, .own_ms = (double)app->own_ms,
                                             .own = TAKE_PTR(app->own), .n_own = app->n_own };
                for (int i = 0; i < COMPONENT_COUNT; i++)
                        made->part_mj[i] = (double)app->part_mj[i];
                drop_compare(&app->sums, &all, &made->drop);
        }
        qsort(report->apps, report->n_apps, sizeof(*report->apps), compare_apps);
        return 0;
}

static int compare_means(const void *a, const void *b)
{
        int64_t x = ((const struct coarse_mean *)a)->client, y = ((const struct coarse_mean *)b)->client;

        return x < y ? -1 : x > y;
}

/* A coarse gauge's single readings say little, so its mean is that of what they can have been. */
static int slice_coarse(const struct totals *totals, struct coarse_mean **ret)
{
        struct coarse_mean *list = calloc(totals->n_coarse + 1, sizeof(*list));

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < totals->n_coarse; i++) {
                const struct coarse_client *client = &totals->coarse[i];

                list[i].client = client->id;
                list[i].s1 = client_rates_slice(totals->rates + client->first, client->n, &totals->prior);
        }
        qsort(list, totals->n_coarse, sizeof(*list), compare_means);
        *ret = list;
        return 0;
}

int report_sums(struct database *database, int64_t limit, struct report *report, struct coarse_mean **ret, size_t *ret_n)
{
        size_t n = threads_count();
        struct totals *totals = calloc(n, sizeof(*totals));
        int err = totals ? read_totals(database, limit, report->samples, totals, n) : -ENOMEM;

        if (!err)
                err = list_apps(totals, report);
        if (!err)
                err = slice_coarse(totals, ret);
        *ret_n = totals ? totals->n_coarse : 0;
        for (size_t i = 0; totals && i < n; i++)
                clear(&totals[i]);
        free(totals);
        return err;
}
