/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Apps that run together: an app without effect seems to be a hog if it often runs beside one. So what was called a hog is
 * compared again, with rates from which the effects of all others that were called are taken out, in turn until they stay.
 * Integers are added up, so the order of clients is no matter; that of apps is by name.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "rates.h"
#include "report-joint.h"
#include "util/util.h"

#define SWEEPS 60         /* at most; apps that are nearly always together take the longest */
#define LOG_UNIT 1e6
#define LOG_MAX 3e6       /* twenty times the rate */
#define LOG_STILL 200     /* 0.02 % */
#define TOGETHER 0.95     /* of the rates of either */
#define HOGS_MAX 10000    /* beyond, pairs would not fit */

void joint_clear(struct joint *joint)
{
        free(joint->apps);
        free(joint->logs);
        free(joint->pairs);
        free(joint->paired);
        free(joint->rank_of);
        free(joint->cells);
        free(joint->ranks);
        free(joint->clients);
        free(joint->uses);
        free(joint->with);
        free(joint->without);
        *joint = (struct joint){ .n = 0 };
}

/* One of these apps on a client: the bit of a rate, and the app. */
struct bit {
        size_t bit;
        uint16_t rank;
};

/* Cells of the client that is read, by a hash of their context and their apps; 1 + index in joint->cells. */
struct finder {
        struct joint *joint;
        struct bit *bits;   /* of the client */
        size_t *slots;
        uint16_t *ranks;    /* of a rate */
        size_t n_bits, bits_capacity, slots_capacity, mask, ranks_capacity;
};

static void free_finder(struct finder *finder)
{
        free(finder->bits);
        free(finder->slots);
        free(finder->ranks);
}

/* Which of these apps the client has. */
static int list_bits(struct finder *finder, const struct client_rates *rates, uint32_t client)
{
        struct joint *joint = finder->joint;

        finder->n_bits = 0;
        for (size_t i = 0; i < rates->n_apps; i++) {
                const struct app_report *app = report_app(joint->report, rates->apps[i]);
                int32_t rank = app ? joint->rank_of[app - joint->report->apps] : -1;

                if (rank < 0)
                        continue;
                if (util_grow(&finder->bits, &finder->bits_capacity, finder->n_bits + 1, sizeof(*finder->bits)) < 0 ||
                    util_grow(&joint->uses, &joint->uses_capacity, joint->n_uses + 1, sizeof(*joint->uses)) < 0)
                        return -ENOMEM;
                finder->bits[finder->n_bits++] = (struct bit){ i, (uint16_t)rank };
                joint->uses[joint->n_uses++] = (struct one_use){ (uint32_t)rank, client };
        }
        return util_grow(&finder->ranks, &finder->ranks_capacity, finder->n_bits + 1, sizeof(*finder->ranks));
}

/* Twice as many slots as cells there can be. */
static int clear_slots(struct finder *finder, size_t n)
{
        size_t size = 4;
        int err;

        while (size < 2 * n)
                size *= 2;
        err = util_grow(&finder->slots, &finder->slots_capacity, size, sizeof(*finder->slots));
        if (err < 0)
                return err;
        memset(finder->slots, 0, size * sizeof(*finder->slots));
        finder->mask = size - 1;
        return 0;
}

static bool same_cell(const struct joint *joint, size_t cell, int64_t context, const uint16_t *ranks, size_t n)
{
        size_t first = joint->cells[cell].first, end = cell + 1 < joint->n_cells ? joint->cells[cell + 1].first : joint->n_ranks;

        return joint->cells[cell].context == context && end - first == n &&
               memcmp(joint->ranks + first, ranks, n * sizeof(*ranks)) == 0;
}

/* A new cell, at the end. */
static int add_cell(struct joint *joint, int64_t context, const uint16_t *ranks, size_t n)
{
        int err = util_grow(&joint->cells, &joint->cells_capacity, joint->n_cells + 2, sizeof(*joint->cells));

        if (!err)
                err = util_grow(&joint->ranks, &joint->ranks_capacity, joint->n_ranks + n + 1, sizeof(*joint->ranks));
        if (!err && joint->n_ranks + n > UINT32_MAX)
                err = -ENOMEM;
        if (err < 0)
                return err;
        joint->cells[joint->n_cells++] = (struct cell){ .context = context, .first = (uint32_t)joint->n_ranks };
        memcpy(joint->ranks + joint->n_ranks, ranks, n * sizeof(*ranks));
        joint->n_ranks += n;
        return 0;
}

static int add_rate(struct finder *finder, const struct client_rate *rate, int64_t context)
{
        struct joint *joint = finder->joint;
        uint64_t hash = (uint64_t)context;
        size_t n = 0, slot;

        for (size_t i = 0; i < finder->n_bits; i++) {
                const struct bit *bit = &finder->bits[i];

                if (rate->apps[bit->bit / 8] >> bit->bit % 8 & 1) {
                        finder->ranks[n++] = bit->rank;
                        hash = (hash ^ bit->rank) * 0x9E3779B97F4A7C15;
                }
        }
        for (slot = (hash >> 32) & finder->mask; finder->slots[slot]; slot = (slot + 1) & finder->mask)
                if (same_cell(joint, finder->slots[slot] - 1, context, finder->ranks, n))
                        break;
        if (!finder->slots[slot]) {
                if (add_cell(joint, context, finder->ranks, n) < 0)
                        return -ENOMEM;
                finder->slots[slot] = joint->n_cells;
        }
        joint->cells[finder->slots[slot] - 1].n++;
        joint->cells[finder->slots[slot] - 1].s1 += rate->rate;
        return 0;
}

/* Of the app that was asked for: its rates on a client that has it. */
static int add_asked(struct joint *joint, const struct client_rates *rates, int64_t asked)
{
        size_t app = 0;

        while (app < rates->n_apps && rates->apps[app] != asked)
                app++;
        if (app == rates->n_apps)
                return 0;
        if (util_grow(&joint->with, &joint->with_capacity, joint->n_with + rates->n, sizeof(*joint->with)) < 0 ||
            util_grow(&joint->without, &joint->without_capacity, joint->n_without + rates->n, sizeof(*joint->without)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n; i++)
                if (rates->list[i].apps[app / 8] >> app % 8 & 1)
                        joint->with[joint->n_with++] = rates->list[i].rate;
                else
                        joint->without[joint->n_without++] = rates->list[i].rate;
        return 0;
}

static int add_client(struct finder *finder, const struct client_rates *rates, uint32_t client)
{
        struct joint *joint = finder->joint;
        int err = list_bits(finder, rates, client);

        if (err < 0 || !finder->n_bits)
                return err;
        err = clear_slots(finder, rates->n);
        joint->clients[client].first = joint->n_cells;
        for (size_t i = 0; !err && i < rates->n; i++)
                err = add_rate(finder, &rates->list[i], rates->contexts[rates->list[i].context]);
        joint->clients[client].end = joint->n_cells;
        if (!err && joint->report->asked >= 0)
                err = add_asked(joint, rates, joint->report->apps[joint->report->asked].id);
        return err;
}

static int compare_uses(const void *a, const void *b)
{
        const struct one_use *x = a, *y = b;

        return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->client < y->client ? -1 : x->client > y->client;
}

static void count_pairs(struct joint *joint)
{
        for (size_t cell = 0; cell < joint->n_cells; cell++)
                for (size_t i = joint->cells[cell].first; i < joint->cells[cell + 1].first; i++)
                        for (size_t j = joint->cells[cell].first; j < joint->cells[cell + 1].first; j++)
                                joint->pairs[joint->ranks[i] * joint->n + joint->ranks[j]] += joint->cells[cell].n;
}

static int read_rates(struct database *database, int64_t limit, struct joint *joint)
{
        _cleanup_(free_finder) struct finder finder = { .joint = joint };
        _cleanup_(rates_close) struct rates rates;
        int rc = rates_open(database, limit, joint->report->samples, &rates);

        joint->clients = calloc(rates.n + 1, sizeof(*joint->clients));
        joint->cells = calloc(1, sizeof(*joint->cells));
        if (!joint->clients || !joint->cells)
                return -ENOMEM;
        joint->cells_capacity = 1;
        joint->n_clients = rates.n;
        for (size_t i = 0; i < rates.n; i++)
                joint->clients[i].id = rates.clients[i];
        while (!rc && (rc = rates_next(&rates)) == 1)
                rc = add_client(&finder, &rates.list, (uint32_t)rates.client);
        if (rc < 0)
                return rc;
        joint->cells[joint->n_cells] = (struct cell){ .first = (uint32_t)joint->n_ranks };
        if (joint->n_uses)
                qsort(joint->uses, joint->n_uses, sizeof(*joint->uses), compare_uses);
        count_pairs(joint);
        return 0;
}

static bool together(const struct joint *joint, size_t a, size_t b)
{
        double both = joint->pairs[a * joint->n + b];

        return a == b || (both >= TOGETHER * joint->pairs[a * joint->n + a] && both >= TOGETHER * joint->pairs[b * joint->n + b]);
}

static void find_paired(struct joint *joint)
{
        for (size_t a = 0; a < joint->n; a++)
                for (size_t b = 0; b < joint->n; b++)
                        joint->paired[a] |= a != b && together(joint, a, b);
}

/* Sum of the logarithms of all that is in use but an app, and those that are always with it; is it itself in use? */
static int64_t others(const struct joint *joint, size_t cell, size_t rank, bool *with)
{
        int64_t sum = 0;

        *with = false;
        for (size_t i = joint->cells[cell].first; i < joint->cells[cell + 1].first; i++) {
                size_t other = joint->ranks[i];

                if (other == rank)
                        *with = true;
                else if (!joint->paired[rank] || !together(joint, rank, other))
                        sum += joint->logs[other];
        }
        return sum;
}

double joint_sum(const struct joint *joint, size_t cell, size_t rank, bool *with)
{
        int64_t log = others(joint, cell, rank, with);
        double sum = (double)joint->cells[cell].s1;

        return log ? sum * exp(-(double)log / LOG_UNIT) : sum;
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
static void adjust_client(const struct joint *joint, const struct joint_client *client, size_t rank, struct drop_sums *sums)
{
        struct app_sums app = { .n = 0 };
        int64_t n = 0, before = 0, after = 0;
        double level;

        for (size_t i = client->first; i < client->end; i++) {
                bool with;
                int64_t sum = llround(joint_sum(joint, i, rank, &with));

                n += joint->cells[i].n;
                before += joint->cells[i].s1;
                after += sum;
                app.n += with ? joint->cells[i].n : 0;
                app.s1 += with ? sum : 0;
        }
        if (app.n == 0 || after <= 0)
                return;
        level = (double)before / (double)after;
        app.s1 = llround((double)app.s1 * level);
        client_sums_weigh(&app, n, before);
        drop_add(sums, &app);
}

/* @use: where those of the app begin. The end of them. */
static size_t adjust_app(const struct joint *joint, size_t use, struct drop *ret)
{
        struct drop_sums sums = { .n = 0 };
        const struct all_sums none = { .rate = joint->report->middle_rate };
        uint32_t rank = joint->uses[use].rank;

        for (; use < joint->n_uses && joint->uses[use].rank == rank; use++)
                adjust_client(joint, &joint->clients[joint->uses[use].client], rank, &sums);
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
        joint->paired = calloc(joint->n, sizeof(*joint->paired));
        joint->rank_of = malloc((report->n_apps + 1) * sizeof(*joint->rank_of));
        if (!joint->logs || !joint->pairs || !joint->paired || !joint->rank_of)
                return -ENOMEM;
        for (size_t i = 0; i < report->n_apps; i++)
                joint->rank_of[i] = -1;
        for (size_t i = 0; i < joint->n; i++)
                joint->rank_of[joint->apps[i]] = (int32_t)i;
        err = read_rates(database, limit, joint);
        if (!err)
                find_paired(joint);
        /* One alone is what it was. */
        for (int round = 0; !err && report->n_hogs > 1 && round < SWEEPS; round++)
                if (sweep(joint) <= LOG_STILL)
                        break;
        return err ? err : name_together(joint);
}
