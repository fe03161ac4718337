/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Apps that run together: an app without effect seems to be a hog if it often runs beside one. So what was called a hog is
 * compared again, with rates from which the effects of all others that were called are taken out, in turn until they stay.
 * Integers are added up, so the order of clients is no matter; that of apps is by name.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report-joint.h"
#include "samples.h"
#include "util/util.h"

#define SWEEPS 60         /* at most; apps that are nearly always together take the longest */
#define LOG_UNIT 1e6
#define LOG_MAX 3e6       /* twenty times the rate */
#define LOG_STILL 200     /* 0.02 % */
#define TOGETHER 0.95     /* of the rates of either */
#define HOGS_MAX 4000     /* beyond, pairs would not fit */

void joint_clear(struct joint *joint)
{
        free(joint->apps);
        free(joint->logs);
        free(joint->pairs);
        free(joint->rank_of);
        free(joint->rates);
        free(joint->ranks);
        free(joint->clients);
        free(joint->ids);
        free(joint->uses);
        free(joint->room);
        *joint = (struct joint){ .n = 0 };
}

static void count_pairs(struct joint *joint, size_t from)
{
        for (size_t i = from; i < joint->n_ranks; i++)
                for (size_t j = from; j < joint->n_ranks; j++)
                        joint->pairs[joint->ranks[i] * joint->n + joint->ranks[j]]++;
}

static int add_rate(struct joint *joint, const struct rate_sample *sample, int32_t rate)
{
        size_t from = joint->n_ranks;
        int err = util_grow(&joint->rates, &joint->rates_capacity, joint->n_rates + 1, sizeof(*joint->rates));

        if (!err)
                err = util_grow(&joint->ranks, &joint->ranks_capacity, joint->n_ranks + sample->n_apps, sizeof(*joint->ranks));
        if (err < 0)
                return err;
        for (size_t i = 0; i < sample->n_apps; i++) {
                const struct app_report *app = report_app(joint->report, sample->apps[i]);
                int32_t rank = app ? joint->rank_of[app - joint->report->apps] : -1;

                if (rank >= 0)
                        joint->ranks[joint->n_ranks++] = (uint16_t)rank;
        }
        count_pairs(joint, from);
        joint->rates[joint->n_rates++] = (struct one_rate){ sample->context, rate, (uint32_t)from };
        return 0;
}

/* Which apps a client has, of whose rates the ranks begin at @from. */
static int add_uses(struct joint *joint, size_t from)
{
        size_t first = joint->n_uses;

        for (size_t i = from; i < joint->n_ranks; i++) {
                size_t at = first;
                int err;

                while (at < joint->n_uses && joint->uses[at].rank != joint->ranks[i])
                        at++;
                if (at < joint->n_uses)
                        continue;
                err = util_grow(&joint->uses, &joint->uses_capacity, joint->n_uses + 1, sizeof(*joint->uses));
                if (err < 0)
                        return err;
                joint->uses[joint->n_uses++] = (struct one_use){ joint->ranks[i], (uint32_t)joint->n_clients - 1 };
        }
        return 0;
}

static int add_client(struct joint *joint, struct client_samples *samples)
{
        struct client_sums sums = { .n = 0 };
        size_t n, from = joint->n_ranks;
        int err = util_grow(&joint->room, &joint->room_capacity, samples->n + 1, sizeof(*joint->room));

        if (!err)
                err = util_grow(&joint->clients, &joint->clients_capacity, joint->n_clients + 1, sizeof(*joint->clients));
        if (err < 0)
                return err;
        err = util_grow(&joint->ids, &joint->ids_capacity, joint->n_clients + 1, sizeof(*joint->ids));
        if (err < 0)
                return err;
        joint->ids[joint->n_clients] = samples->client;
        joint->clients[joint->n_clients++] = joint->n_rates;
        n = client_sums_rates(samples->list, samples->n, NULL, &sums, joint->room);
        for (size_t i = 0; !err && i < n; i++)
                err = add_rate(joint, &samples->list[i], joint->room[i]);
        return err ? err : add_uses(joint, from);
}

static int compare_uses(const void *a, const void *b)
{
        const struct one_use *x = a, *y = b;

        return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->client < y->client ? -1 : x->client > y->client;
}

static int compare_client(const void *key, const void *element)
{
        int64_t client = *(const int64_t *)key, other = *(const int64_t *)element;

        return client < other ? -1 : client > other;
}

static int read_clients(struct database *database, int64_t limit, int64_t **ret, size_t *ret_n)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        size_t capacity = 0;
        int rc = database_prepare(database, "SELECT id FROM client WHERE quarantined = 0 AND n > 0 AND s1 <= $1 * n ORDER BY id", &select);

        if (rc < 0)
                return rc;
        select->ops->set_int(select, 1, limit);
        while ((rc = select->ops->step(select)) == 1) {
                rc = util_grow(ret, &capacity, *ret_n + 1, sizeof(**ret));
                if (rc < 0)
                        return rc;
                (*ret)[(*ret_n)++] = select->ops->get_int(select, 0);
        }
        return rc;
}

static int read_rates(struct database *database, int64_t limit, struct joint *joint)
{
        _cleanup_(client_samples_close) struct client_samples samples = { .n = 0 };
        _cleanup_free_ int64_t *clients = NULL;
        int64_t all = 0;
        size_t n = 0;
        int err = read_clients(database, limit, &clients, &n), rc = 0;

        if (!err)
                err = client_samples_open(database, CLIENT_SAMPLES_OF_ALL, &samples);
        while (!err && n && (rc = client_samples_next(&samples)) == 1) {
                all += (int64_t)samples.n;
                if (bsearch(&samples.client, clients, n, sizeof(*clients), compare_client))
                        err = add_client(joint, &samples);
        }
        if (!err && rc < 0)
                err = rc;
        if (!err && n && all != joint->report->samples) {
                log_error(database->log, "%s: %" PRId64 " samples of %" PRId64 " are there; the database is damaged", database->name, all,
                          joint->report->samples);
                err = -EUCLEAN;
        }
        if (!err)
                err = util_grow(&joint->clients, &joint->clients_capacity, joint->n_clients + 1, sizeof(*joint->clients));
        if (!err)
                err = util_grow(&joint->rates, &joint->rates_capacity, joint->n_rates + 1, sizeof(*joint->rates));
        if (err < 0)
                return err;
        if (joint->n_uses)
                qsort(joint->uses, joint->n_uses, sizeof(*joint->uses), compare_uses);
        joint->clients[joint->n_clients] = joint->n_rates;
        joint->rates[joint->n_rates] = (struct one_rate){ 0, 0, (uint32_t)joint->n_ranks };
        return 0;
}

static bool together(const struct joint *joint, size_t a, size_t b)
{
        double both = joint->pairs[a * joint->n + b];

        return a == b || (both >= TOGETHER * joint->pairs[a * joint->n + a] && both >= TOGETHER * joint->pairs[b * joint->n + b]);
}

/* Sum of the logarithms of all that is in use but an app, and those that are always with it; is it itself in use? */
static int64_t others(const struct joint *joint, size_t rate, size_t rank, bool *with)
{
        int64_t sum = 0;

        *with = false;
        for (size_t i = joint->rates[rate].first; i < joint->rates[rate + 1].first; i++) {
                size_t other = joint->ranks[i];

                *with |= other == rank;
                if (!together(joint, rank, other))
                        sum += joint->logs[other];
        }
        return sum;
}

double joint_rate(const struct joint *joint, size_t rate, size_t rank, bool *with)
{
        int64_t log = others(joint, rate, rank, with);

        return log ? joint->rates[rate].rate * exp(-(double)log / LOG_UNIT) : joint->rates[rate].rate;
}

static int compare_rank(const void *key, const void *element)
{
        uint32_t rank = *(const uint32_t *)key, other = ((const struct one_use *)element)->rank;

        return rank < other ? -1 : rank > other;
}

size_t joint_uses(const struct joint *joint, size_t rank)
{
        uint32_t key = (uint32_t)rank;
        size_t use = util_lower_bound(&key, joint->uses, joint->n_uses, sizeof(*joint->uses), compare_rank);

        return use < joint->n_uses && joint->uses[use].rank == key ? use : joint->n_uses;
}

/* One client's part of an app's sums, without the others' effects; its mean stays what it was. */
static void adjust_client(const struct joint *joint, size_t client, size_t rank, struct drop_sums *sums)
{
        size_t from = joint->clients[client], n = joint->clients[client + 1] - from;
        struct app_sums app = { .n = 0 };
        int64_t before = 0, after = 0;
        double level;

        for (size_t i = 0; i < n; i++) {
                bool with;
                int64_t rate = llround(joint_rate(joint, from + i, rank, &with));

                before += joint->rates[from + i].rate;
                after += rate;
                app.n += with;
                app.s1 += with ? rate : 0;
        }
        if (app.n == 0 || after <= 0)
                return;
        level = (double)before / (double)after;
        app.s1 = llround((double)app.s1 * level);
        client_sums_weigh(&app, (int64_t)n, before);
        drop_add(sums, &app);
}

/* @use: where those of the app begin. The end of them. */
static size_t adjust_app(const struct joint *joint, size_t use, struct drop *ret)
{
        struct drop_sums sums = { .n = 0 };
        const struct all_sums none = { .rate = joint->report->middle_rate };
        uint32_t rank = joint->uses[use].rank;

        for (; use < joint->n_uses && joint->uses[use].rank == rank; use++)
                adjust_client(joint, joint->uses[use].client, rank, &sums);
        drop_compare(&sums, &none, ret);
        return use;
}

static struct app_report *app_of(const struct joint *joint, size_t rank)
{
        return &joint->report->apps[joint->apps[rank]];
}

/* ln of the factor by which the rate is higher. */
static int64_t log_of(const struct drop *drop)
{
        double factor = drop->enough && drop->rate_with > 0 && drop->rate_without > 0 ? drop->rate_with / drop->rate_without : 1;

        return llround(MAX(MIN(log(factor) * LOG_UNIT, LOG_MAX), -LOG_MAX));
}

/* The greatest change. */
static int64_t sweep(struct joint *joint)
{
        int64_t change = 0;

        for (size_t use = 0; use < joint->n_uses;) {
                size_t rank = joint->uses[use].rank;
                struct drop drop, *kept = &app_of(joint, rank)->drop;
                int64_t before = joint->logs[rank];

                use = adjust_app(joint, use, &drop);
                joint->logs[rank] = log_of(&drop);
                change = MAX(change, llabs(joint->logs[rank] - before));
                drop.paper_rule = kept->paper_rule;
                *kept = drop;
        }
        return change;
}

/* Of those that are always together, one stands for all: the first by name. */
static int name_together(struct joint *joint)
{
        for (size_t a = 0; a < joint->n; a++)
                for (size_t b = a + 1; b < joint->n; b++) {
                        struct app_report *first = app_of(joint, a);

                        if (first->hidden || app_of(joint, b)->hidden || !together(joint, a, b))
                                continue;
                        first->together = reallocarray(first->together, first->n_together + 1, sizeof(*first->together));
                        if (!first->together)
                                return -ENOMEM;
                        first->together[first->n_together++] = app_of(joint, b)->name;
                        app_of(joint, b)->hidden = true;
                }
        return 0;
}

static int compare_names(const void *a, const void *b, void *data)
{
        const struct app_report *apps = data;

        return strcmp(apps[*(const size_t *)a].name, apps[*(const size_t *)b].name);
}

/* The hogs, and the app that is asked for. */
static int list_apps(struct joint *joint)
{
        struct report *report = joint->report;
        bool asked = report->asked >= 0;

        joint->apps = malloc((report->n_hogs + 1) * sizeof(*joint->apps));
        if (!joint->apps)
                return -ENOMEM;
        for (size_t i = 0; i < report->n_hogs; i++) {
                joint->apps[joint->n++] = report->hogs[i];
                asked &= (int64_t)report->hogs[i] != report->asked;
        }
        if (asked)
                joint->apps[joint->n++] = (size_t)report->asked;
        qsort_r(joint->apps, joint->n, sizeof(*joint->apps), compare_names, report->apps);
        return 0;
}

int report_joint(struct database *database, int64_t limit, struct report *report, struct joint *joint)
{
        int err;

        *joint = (struct joint){ .report = report };
        if (report->n_hogs > HOGS_MAX) {
                log_error(database->log, "%s: more than %d apps seem to be hogs; this is not a community that can be compared",
                          database->name, HOGS_MAX);
                return -E2BIG;
        }
        err = list_apps(joint);
        if (err < 0 || !joint->n)
                return err;
        joint->logs = calloc(joint->n, sizeof(*joint->logs));
        joint->pairs = calloc(joint->n * joint->n, sizeof(*joint->pairs));
        joint->rank_of = malloc((report->n_apps + 1) * sizeof(*joint->rank_of));
        if (!joint->logs || !joint->pairs || !joint->rank_of)
                return -ENOMEM;
        for (size_t i = 0; i < report->n_apps; i++)
                joint->rank_of[i] = -1;
        for (size_t i = 0; i < joint->n; i++)
                joint->rank_of[joint->apps[i]] = (int32_t)i;
        err = read_rates(database, limit, joint);
        /* One alone is what it was. */
        for (int round = 0; !err && report->n_hogs > 1 && round < SWEEPS; round++)
                if (sweep(joint) <= LOG_STILL)
                        break;
        return err ? err : name_together(joint);
}
