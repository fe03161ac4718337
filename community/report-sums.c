/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Sums over clients, of which each client is one term: they are integers and add up, so the order of clients is no matter,
 * nor where their rates are. And the means of clients with a coarse gauge, for which everybody's rates have to be known.
 */

#include <errno.h>

#include "rates.h"
#include "report.h"
#include "util/hash.h"
#include "util/util.h"

/* The members of struct drop_sums, in their order, and the time. */
enum { CLIENTS, N, S1, S2, BOTH, MORE, LESS, W, WW, WA, WB, WAA, WBB, WAB, WWA, WWB, X, XX, WX, MS, SUM_COUNT };

struct app_total {
        int64_t id;
        wide sums[SUM_COUNT];
        UT_hash_handle hh;
};

struct coarse_client {
        int64_t id;
        size_t first, n; /* of its rates */
};

struct totals {
        struct app_total *apps;
        wide clients, n, s1, s2; /* of all rates */
        struct prior prior;
        struct coarse_client *coarse;
        struct client_rate *rates; /* theirs */
        size_t n_coarse, coarse_capacity, n_rates, rates_capacity;
        struct app_sums *room; /* of the apps of a client */
        size_t room_capacity;
};

static void clear(struct totals *totals)
{
        struct app_total *app, *next;

        HASH_ITER(hh, totals->apps, app, next) {
                HASH_DEL(totals->apps, app);
                free(app);
        }
        free(totals->coarse);
        free(totals->rates);
        free(totals->room);
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

static void add_app(wide *sums, const struct app_sums *app)
{
        const wide terms[SUM_COUNT] = {
                [CLIENTS] = 1, [N] = app->n, [S1] = app->s1, [S2] = app->s2,
                [BOTH] = app->w > 0, [MORE] = app->x > 0, [LESS] = app->x < 0,
                [W] = app->w, [WW] = app->w * app->w, [WA] = app->wa, [WB] = app->wb, [WAA] = (wide)app->wa * app->wa,
                [WBB] = (wide)app->wb * app->wb, [WAB] = (wide)app->wa * app->wb, [WWA] = (wide)app->w * app->wa,
                [WWB] = (wide)app->w * app->wb, [X] = app->x, [XX] = (wide)app->x * app->x, [WX] = (wide)app->w * app->x,
                [MS] = app->ms,
        };

        for (int i = 0; i < SUM_COUNT; i++)
                sums[i] += terms[i];
}

/* Adds a rate to each app that was in use. */
static void add_rate(struct app_sums *apps, size_t n_apps, const struct client_rate *rate)
{
        for (size_t byte = 0; byte < (n_apps + 7) / 8; byte++)
                for (unsigned bits = rate->apps[byte]; bits; bits &= bits - 1) {
                        struct app_sums *app = &apps[byte * 8 + (size_t)__builtin_ctz(bits)];

                        app->n++;
                        app->s1 += rate->rate;
                        app->s2 += (int64_t)rate->rate * rate->rate;
                }
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

static int add_client(struct totals *totals, int64_t client, const struct client_rates *rates)
{
        int64_t n = (int64_t)rates->n, s1 = 0;
        int err = util_grow(&totals->room, &totals->room_capacity, rates->n_apps + 1, sizeof(*totals->room));

        if (err < 0)
                return err;
        for (size_t i = 0; i < rates->n_apps; i++)
                totals->room[i] = (struct app_sums){ .app = rates->apps[i], .ms = rates->ms[i] };
        for (size_t i = 0; i < rates->n; i++) {
                s1 += rates->list[i].rate;
                totals->s2 += (int64_t)rates->list[i].rate * rates->list[i].rate;
                add_rate(totals->room, rates->n_apps, &rates->list[i]);
        }
        totals->n += n;
        totals->s1 += s1;
        totals->clients++;
        for (size_t i = 0; !err && i < rates->n_apps; i++) {
                struct app_total *app;

                client_sums_weigh(&totals->room[i], n, s1);
                err = find_app(totals, rates->apps[i], &app);
                if (!err)
                        add_app(app->sums, &totals->room[i]);
        }
        if (!err && rates->coarse)
                err = add_coarse(totals, client, rates);
        if (!err && !rates->coarse)
                add_prior(&totals->prior, rates);
        return err;
}

static int read_totals(struct database *database, int64_t limit, int64_t samples, struct totals *totals)
{
        _cleanup_(rates_close) struct rates rates;
        int rc = rates_open(database, limit, samples, &rates);

        while (!rc && (rc = rates_next(&rates)) == 1)
                rc = add_client(totals, rates.clients[rates.client], &rates.list);
        return rc;
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
        for (const struct app_total *app = totals->apps; app; app = app->hh.next) {
                struct drop_sums sums;
                double *const members[] = { &sums.clients, &sums.n, &sums.s1, &sums.s2, &sums.both, &sums.more, &sums.less,
                                            &sums.w, &sums.ww, &sums.wa, &sums.wb, &sums.waa, &sums.wbb, &sums.wab, &sums.wwa,
                                            &sums.wwb, &sums.x, &sums.xx, &sums.wx };
                struct app_report *made = &report->apps[report->n_apps++];

                for (size_t i = 0; i < ARRAY_SIZE(members); i++)
                        *members[i] = (double)app->sums[i];
                *made = (struct app_report){ .id = app->id, .clients = sums.clients, .rates = sums.n,
                                             .hours = (double)app->sums[MS] / 3.6e6 };
                drop_compare(&sums, &all, &made->drop);
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
        struct totals totals = { .n = 0 };
        int err = read_totals(database, limit, report->samples, &totals);

        if (!err)
                err = list_apps(&totals, report);
        if (!err)
                err = slice_coarse(&totals, ret);
        *ret_n = totals.n_coarse;
        clear(&totals);
        return err;
}
