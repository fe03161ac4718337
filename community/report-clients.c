/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How many clients and rates there are, whom not to believe, and J-scores. */

#include <errno.h>
#include <string.h>

#include "report.h"
#include "util/util.h"

#define EXTREME 10         /* times the median: no device like the others, or a lie */
#define EXTREME_CLIENTS 5  /* below that, there is nothing to compare with */

const int score_percent[SCORE_POINTS] = { 5, 25, 50, 75, 95 };

struct client_list {
        struct one_client *list;
        size_t n, capacity;
};

static void free_list(struct client_list *clients)
{
        free(clients->list);
}

static int read_counts(struct database *database, struct report *report)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int64_t *const members[] = { &report->clients, &report->samples, &report->overlapping, &report->too_many, &report->fast,
                                     &report->quarantined, &report->asleep.samples };
        int rc = database_prepare(database, "SELECT count(*), coalesce(sum(n_samples), 0), coalesce(sum(overlapping), 0),"
                                            " coalesce(sum(too_many), 0), coalesce(sum(fast), 0), coalesce(sum(quarantined), 0),"
                                            " coalesce(sum(asleep_n), 0)"
                                            " FROM client WHERE n_samples > 0", &select);

        if (!rc)
                rc = select->ops->step(select);
        for (size_t i = 0; rc == 1 && i < ARRAY_SIZE(members); i++)
                *members[i] = (int64_t)select->ops->get_sum(select, (int)i);
        return rc < 0 ? rc : 0;
}

static int read_list(struct database *database, struct client_list *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT id, n, s1, coarse, model FROM client WHERE quarantined = 0 AND n > 0",
                                  &select);

        if (rc < 0)
                return rc;
        while ((rc = select->ops->step(select)) == 1) {
                const char *model = select->ops->get_text(select, 4);
                struct one_client *one;

                rc = util_grow(&ret->list, &ret->capacity, ret->n + 1, sizeof(*ret->list));
                if (rc < 0)
                        return rc;
                one = &ret->list[ret->n++];
                *one = (struct one_client){ .id = select->ops->get_int(select, 0),
                                            .n = select->ops->get_int(select, 1),
                                            .s1 = select->ops->get_int(select, 2),
                                            .coarse = select->ops->get_int(select, 3) != 0 };
                snprintf(one->model, sizeof(one->model), "%s", model ? model : "");
        }
        return rc;
}

static double mean_of(const struct one_client *client)
{
        return (double)client->s1 / (double)client->n;
}

static int compare_means(const void *a, const void *b)
{
        double x = mean_of(a), y = mean_of(b);

        return x < y ? -1 : x > y;
}

static int compare_coarse(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = ((const struct coarse_mean *)element)->client;

        return client < other ? -1 : client > other;
}

/* The sums of all apps, and with them better ones of clients with a coarse gauge. */
static int read_sums(struct database *database, int64_t limit, struct report *report, struct client_list *clients)
{
        _cleanup_free_ struct coarse_mean *means = NULL;
        size_t n = 0;
        int err = report_sums(database, limit, report, &means, &n);

        for (size_t i = 0; !err && n && i < clients->n; i++) {
                struct one_client *client = &clients->list[i];
                const struct coarse_mean *mean = bsearch(&client->id, means, n, sizeof(*means), compare_coarse);

                if (mean)
                        client->s1 = mean->s1;
        }
        return err;
}

/* The percentage of clients whose battery empties faster; of two that are alike, each is ahead of half. */
static double score_of(const struct client_list *clients, const struct one_client *own, bool same_model, size_t *ret_others)
{
        double faster = 0;
        size_t others = 0;

        for (size_t i = 0; i < clients->n; i++) {
                const struct one_client *other = &clients->list[i];

                if (other == own || other->n < COMMUNITY_SCORE_RATES_MIN || (same_model && strcmp(other->model, own->model) != 0))
                        continue;
                others++;
                faster += mean_of(other) > mean_of(own) ? 1 : mean_of(other) < mean_of(own) ? 0 : 0.5;
        }
        *ret_others = others;
        return others ? 100 * faster / (double)others : 0;
}

bool report_score(const struct report *report, int64_t client, double *rate, double *score)
{
        const struct client_list clients = { .list = report->score.list, .n = report->score.clients };
        size_t others;

        for (size_t i = 0; i < clients.n && clients.n >= COMMUNITY_CLIENTS_MIN; i++) {
                const struct one_client *own = &clients.list[i];

                if (own->id != client)
                        continue;
                *rate = mean_of(own);
                *score = score_of(&clients, own, true, &others);
                if (others < COMMUNITY_CLIENTS_MIN - 1 || !*own->model)
                        *score = score_of(&clients, own, false, &others);
                return true;
        }
        return false;
}

/* Keeps the list, by mean. */
static void find_score(struct client_list *clients, struct score_report *ret)
{
        size_t kept = 0;

        for (size_t i = 0; i < clients->n; i++)
                if (clients->list[i].n >= COMMUNITY_SCORE_RATES_MIN)
                        clients->list[kept++] = clients->list[i];
        ret->clients = kept;
        ret->list = TAKE_PTR(clients->list);
        clients->n = 0;
        if (kept < COMMUNITY_CLIENTS_MIN)
                return;
        qsort(ret->list, kept, sizeof(*ret->list), compare_means);
        for (size_t i = 0; i < kept; i++)
                ret->mean_rate += mean_of(&ret->list[i]) / (double)kept;
        for (int i = 0; i < SCORE_POINTS; i++)
                ret->rates[i] = mean_of(&ret->list[(kept - 1) * (size_t)(100 - score_percent[i]) / 100]);
}

/* Clients that are too far from the median are no part of anything; and the limit says which those are. */
static void leave_out(struct client_list *clients, struct report *report, int64_t *limit)
{
        size_t n = clients->n;

        *limit = INT32_MAX;
        if (n < EXTREME_CLIENTS)
                return;
        qsort(clients->list, n, sizeof(*clients->list), compare_means);
        report->middle_rate = mean_of(&clients->list[n / 2]);
        *limit = (int64_t)(EXTREME * MAX(report->middle_rate, 1));
        while (clients->n > 0 && clients->list[clients->n - 1].s1 > *limit * clients->list[clients->n - 1].n)
                clients->n--;
        report->extreme = (int64_t)(n - clients->n);
}

int report_clients(struct database *database, struct report *report, int64_t *limit)
{
        _cleanup_(free_list) struct client_list clients = { .n = 0 };
        int err = read_counts(database, report);

        if (!err)
                err = read_list(database, &clients);
        if (err < 0)
                return err;
        if (clients.n)
                leave_out(&clients, report, limit);
        for (size_t i = 0; i < clients.n; i++)
                report->rates += clients.list[i].n;
        err = read_sums(database, *limit, report, &clients);
        if (!err && clients.n)
                find_score(&clients, &report->score);
        return err;
}
