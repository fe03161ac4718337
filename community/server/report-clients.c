/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts clients and rates, excludes implausible clients, and computes J-scores. */

#include <errno.h>
#include <string.h>

#include "report.h"
#include "util/util.h"

#define EXTREME 10 /* this many times the median is implausible: a different kind of device, or false data */
#define EXTREME_CLIENTS 5  /* with fewer clients there is no basis for a comparison */

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
        int64_t *const members[] = { &report->clients, &report->samples, &report->overlapping, &report->too_many,
                                     &report->fast, &report->quarantined, &report->asleep.samples };
        int rc = database_prepare(database,
                                  "SELECT count(*), coalesce(sum(n_samples), 0), coalesce(sum(overlapping), 0),"
                                            " coalesce(sum(too_many), 0), coalesce(sum(fast), 0),"
                                            " coalesce(sum(quarantined), 0), coalesce(sum(asleep_n), 0)"
                                            " FROM client WHERE n_samples > 0", &select);

        if (!rc)
                rc = select->ops->step(select);
        for (size_t i = 0; rc == 1 && i < ARRAY_SIZE(members); i++)
                *members[i] = (int64_t)select->ops->get_sum(select, (int)i);
        return rc < 0 ? rc : 0;
}

/* A number for a text (FNV-1a); 0: unknown. */
static uint32_t number_of(const char *text)
{
        uint32_t number = 2166136261;

        for (; text && *text; text++)
                number = (number ^ (uint8_t)*text) * 16777619;
        return text ? number : 0;
}

static int read_list(struct database *database, struct client_list *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database,
                                  "SELECT id, n, s1, os, model FROM client WHERE quarantined = 0 AND n > 0",
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
                                            .os = number_of(select->ops->get_text(select, 3)) };
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

/* Percentage of clients whose battery discharges faster. Clients with equal rates count half. */
static double score_of(const struct client_list *clients, const struct one_client *own, bool same_model,
                       size_t *ret_others)
{
        double faster = 0;
        size_t others = 0;

        for (size_t i = 0; i < clients->n; i++) {
                const struct one_client *other = &clients->list[i];

                if (other == own || other->n < COMMUNITY_SCORE_RATES_MIN ||
                    (same_model && strcmp(other->model, own->model) != 0))
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

/* Keeps the list, sorted by mean rate. */
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

static int compare_kinds(const void *a, const void *b)
{
        int64_t x = ((const struct client_kind *)a)->id, y = ((const struct client_kind *)b)->id;

        return x < y ? -1 : x > y;
}

static int list_kinds(const struct client_list *clients, struct report *report)
{
        report->kinds = calloc(clients->n + 1, sizeof(*report->kinds));
        if (!report->kinds)
                return -ENOMEM;
        report->n_kinds = clients->n;
        for (size_t i = 0; i < clients->n; i++)
                report->kinds[i] = (struct client_kind){ clients->list[i].id, clients->list[i].os,
                                                         number_of(*clients->list[i].model ? clients->list[i].model :
                                                                   NULL) };
        if (clients->n)
                qsort(report->kinds, clients->n, sizeof(*report->kinds), compare_kinds);
        return 0;
}

/* Excludes clients too far from the median everywhere; @limit is the highest mean rate that is included. */
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

int report_clients(struct database *database, const struct features *features, struct report *report,
                   int64_t *limit)
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
        err = list_kinds(&clients, report);
        if (!err)
                err = report_sums(database, features, *limit, report);
        if (!err && clients.n)
                find_score(&clients, &report->score);
        return err;
}
