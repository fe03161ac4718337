/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Apps that run together: an app without effect seems to be a hog if it often runs beside one. So what was called a hog is
 * compared again, with rates from which the effects of all others that were called are taken out, in turn until they stay.
 * Integers are added up, so the order of clients is no matter; that of apps is by name.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "rates.h"
#include "report-joint.h"
#include "threads.h"
#include "util/util.h"

#define SWEEPS 60         /* at most; apps that are nearly always together take the longest */
#define LOG_UNIT 1e6
#define LOG_MAX 3e6       /* twenty times the rate */
#define LOG_STILL 200     /* 0.02 % */
#define TOGETHER 0.95     /* of the rates of either */
#define CLIENTS_TAKEN (size_t)256  /* by a thread at a time; */
#define CLIENTS_WORTH (size_t)4096 /* and so many are worth another thread */
#define HOGS_MAX 10000    /* beyond, pairs would not fit */

void joint_clear(struct joint *joint)
{
        free(joint->apps);
        free(joint->logs);
        free(joint->pairs);
        free(joint->paired);
        free(joint->rank_of);
        for (size_t i = 0; i < joint->n_parts; i++) {
                free(joint->parts[i].cells);
                free(joint->parts[i].ranks);
                free(joint->parts[i].uses);
                free(joint->parts[i].with);
                free(joint->parts[i].without);
        }
        free(joint->parts);
        free(joint->clients);
        free(joint->uses);
        *joint = (struct joint){ .n = 0 };
}

/* One of these apps on a client: the bit of a rate, and the app. */
struct bit {
        size_t bit;
        uint16_t rank;
};

/* Cells of the client that is read, by a hash of their context and their apps; 1 + index in part->cells. */
struct finder {
        struct joint_part *part;
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
        struct joint_part *part = finder->part;
        const struct joint *joint = part->joint;

        finder->n_bits = 0;
        for (size_t i = 0; i < rates->n_apps; i++) {
                const struct app_report *app = report_app(joint->report, rates->apps[i].app);
                int32_t rank = app ? joint->rank_of[app - joint->report->apps] : -1;

                if (rank < 0)
                        continue;
                if (util_grow(&finder->bits, &finder->bits_capacity, finder->n_bits + 1, sizeof(*finder->bits)) < 0 ||
                    util_grow(&part->uses, &part->uses_capacity, part->n_uses + 1, sizeof(*part->uses)) < 0)
                        return -ENOMEM;
                finder->bits[finder->n_bits++] = (struct bit){ i, (uint16_t)rank };
                part->uses[part->n_uses++] = (struct one_use){ (uint32_t)rank, client };
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

static bool same_cell(const struct joint_part *part, size_t cell, int64_t context, const uint16_t *ranks, size_t n)
{
        size_t first = part->cells[cell].first, end = cell + 1 < part->n_cells ? part->cells[cell + 1].first : part->n_ranks;

        return part->cells[cell].context == context && end - first == n &&
               memcmp(part->ranks + first, ranks, n * sizeof(*ranks)) == 0;
}

/* A new cell, at the end. */
static int add_cell(struct joint_part *part, int64_t context, const uint16_t *ranks, size_t n)
{
        int err = util_grow(&part->cells, &part->cells_capacity, part->n_cells + 2, sizeof(*part->cells));

        if (!err)
                err = util_grow(&part->ranks, &part->ranks_capacity, part->n_ranks + n + 1, sizeof(*part->ranks));
        if (!err && part->n_ranks + n > UINT32_MAX)
                err = -ENOMEM;
        if (err < 0)
                return err;
        part->cells[part->n_cells++] = (struct cell){ .context = context, .first = (uint32_t)part->n_ranks };
        memcpy(part->ranks + part->n_ranks, ranks, n * sizeof(*ranks));
        part->n_ranks += n;
        return 0;
}

static int add_rate(struct finder *finder, const struct client_rate *rate, int64_t context)
{
        struct joint_part *part = finder->part;
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
                if (same_cell(part, finder->slots[slot] - 1, context, finder->ranks, n))
                        break;
        if (!finder->slots[slot]) {
                if (add_cell(part, context, finder->ranks, n) < 0)
                        return -ENOMEM;
                finder->slots[slot] = part->n_cells;
        }
        part->cells[finder->slots[slot] - 1].n++;
        part->cells[finder->slots[slot] - 1].s1 += rate->rate;
        return 0;
}

/* Of the app that was asked for: its rates on a client that has it. */
static int add_asked(struct joint_part *part, const struct client_rates *rates, int64_t asked)
{
        size_t app = 0;

        while (app < rates->n_apps && rates->apps[app].app != asked)
                app++;
        if (app == rates->n_apps)
                return 0;
        if (util_grow(&part->with, &part->with_capacity, part->n_with + rates->n, sizeof(*part->with)) < 0 ||
            util_grow(&part->without, &part->without_capacity, part->n_without + rates->n, sizeof(*part->without)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n; i++)
                if (rates->list[i].apps[app / 8] >> app % 8 & 1)
                        part->with[part->n_with++] = rates->list[i].rate;
                else
                        part->without[part->n_without++] = rates->list[i].rate;
        return 0;
}

static int add_client(void *state, size_t client, struct client_rates *rates)
{
        struct finder *finder = state;
        struct joint_part *part = finder->part;
        struct joint *joint = part->joint;
        int err = list_bits(finder, rates, (uint32_t)client);

        if (err < 0 || !finder->n_bits)
                return err;
        err = clear_slots(finder, rates->n);
        joint->clients[client].part = part;
        joint->clients[client].first = part->n_cells;
        for (size_t i = 0; !err && i < rates->n; i++)
                err = add_rate(finder, &rates->list[i], rates->contexts[rates->list[i].context]);
        joint->clients[client].end = part->n_cells;
        if (!err && joint->report->asked >= 0)
                err = add_asked(part, rates, joint->report->apps[joint->report->asked].id);
        return err;
}

static int compare_uses(const void *a, const void *b)
{
        const struct one_use *x = a, *y = b;

        return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->client < y->client ? -1 : x->client > y->client;
}

static void count_pairs(struct joint *joint, const struct joint_part *part)
{
        for (size_t cell = 0; cell < part->n_cells; cell++)
                for (size_t i = part->cells[cell].first; i < part->cells[cell + 1].first; i++)
                        for (size_t j = part->cells[cell].first; j < part->cells[cell + 1].first; j++)
                                joint->pairs[part->ranks[i] * joint->n + part->ranks[j]] += part->cells[cell].n;
}

/* The uses of all parts, by rank. */
static int join_uses(struct joint *joint)
{
        for (size_t i = 0; i < joint->n_parts; i++)
                joint->n_uses += joint->parts[i].n_uses;
        joint->uses = malloc((joint->n_uses + 1) * sizeof(*joint->uses));
        if (!joint->uses)
                return -ENOMEM;
        joint->n_uses = 0;
        for (size_t i = 0; i < joint->n_parts; i++) {
                struct joint_part *part = &joint->parts[i];

                if (part->n_uses)
                        memcpy(joint->uses + joint->n_uses, part->uses, part->n_uses * sizeof(*joint->uses));
                joint->n_uses += part->n_uses;
                free(TAKE_PTR(part->uses));
        }
        if (joint->n_uses)
                qsort(joint->uses, joint->n_uses, sizeof(*joint->uses), compare_uses);
        return 0;
}

static int make_room(struct joint *joint, const struct rates *rates)
{
        joint->clients = calloc(rates->n + 1, sizeof(*joint->clients));
        joint->parts = calloc(threads_count(), sizeof(*joint->parts));
        if (!joint->clients || !joint->parts)
                return -ENOMEM;
        joint->n_parts = threads_count();
        joint->n_clients = rates->n;
        for (size_t i = 0; i < rates->n; i++)
                joint->clients[i].id = rates->clients[i];
        for (size_t i = 0; i < joint->n_parts; i++) {
                struct joint_part *part = &joint->parts[i];

                part->joint = joint;
                if (util_grow(&part->cells, &part->cells_capacity, 1, sizeof(*part->cells)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int read_parts(struct joint *joint, const struct rates *rates)
{
        struct finder finders[THREADS_MAX] = { { .part = NULL } };
        void *states[THREADS_MAX];
        int err;

        for (size_t i = 0; i < joint->n_parts; i++) {
                finders[i].part = &joint->parts[i];
                states[i] = &finders[i];
        }
        err = rates_each(rates, add_client, states, joint->n_parts);
        for (size_t i = 0; i < joint->n_parts; i++)
                free_finder(&finders[i]);
        return err;
}

static int read_rates(struct database *database, int64_t limit, struct joint *joint)
{
        _cleanup_(rates_close) struct rates rates;
        int err = rates_open(database, limit, joint->report->samples, &rates);

        if (!err)
                err = make_room(joint, &rates);
        if (!err)
                err = read_parts(joint, &rates);
        for (size_t i = 0; !err && i < joint->n_parts; i++) {
                struct joint_part *part = &joint->parts[i];

                part->cells[part->n_cells] = (struct cell){ .first = (uint32_t)part->n_ranks };
                count_pairs(joint, part);
        }
        return err ? err : join_uses(joint);
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
static int64_t others(const struct joint_part *part, size_t cell, size_t rank, bool *with)
{
        const struct joint *joint = part->joint;
        int64_t sum = 0;

        *with = false;
        for (size_t i = part->cells[cell].first; i < part->cells[cell + 1].first; i++) {
                size_t other = part->ranks[i];

                if (other == rank)
                        *with = true;
                else if (!joint->paired[rank] || !together(joint, rank, other))
                        sum += joint->logs[other];
        }
        return sum;
}

double joint_sum(const struct joint_part *part, size_t cell, size_t rank, bool *with)
{
        int64_t log = others(part, cell, rank, with);
        double sum = (double)part->cells[cell].s1;

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
static void adjust_client(const struct joint_client *client, size_t rank, struct drop_sums *sums)
{
        struct app_sums app = { .n = 0 };
        int64_t n = 0, before = 0, after = 0;
        double level;

        for (size_t i = client->first; i < client->end; i++) {
                bool with;
                int64_t sum = llround(joint_sum(client->part, i, rank, &with));

                n += client->part->cells[i].n;
                before += client->part->cells[i].s1;
                after += sum;
                app.n += with ? client->part->cells[i].n : 0;
                app.s1 += with ? sum : 0;
        }
        if (app.n == 0 || after <= 0)
                return;
        level = (double)before / (double)after;
        app.s1 = llround((double)app.s1 * level);
        client_sums_weigh(&app, n, before);
        drop_add(sums, &app);
}

/* The clients of one app, of which each thread takes some. */
struct adjusting {
        const struct joint *joint;
        size_t end;
        atomic_size_t next;
        struct drop_sums *sums; /* of each thread */
};

static int adjust_clients(void *data, size_t thread)
{
        struct adjusting *adjusting = data;
        const struct joint *joint = adjusting->joint;
        size_t first;

        while ((first = atomic_fetch_add(&adjusting->next, CLIENTS_TAKEN)) < adjusting->end)
                for (size_t use = first; use < MIN(first + CLIENTS_TAKEN, adjusting->end); use++)
                        adjust_client(&joint->clients[joint->uses[use].client], joint->uses[use].rank, &adjusting->sums[thread]);
        return 0;
}

/* @use: where those of the app begin. The end of them. */
static size_t adjust_app(const struct joint *joint, size_t use, struct drop *ret)
{
        struct drop_sums sums[THREADS_MAX] = { { .n = 0 } };
        const struct all_sums none = { .rate = joint->report->middle_rate };
        struct adjusting adjusting = { .joint = joint, .next = use, .end = use, .sums = sums };

        while (adjusting.end < joint->n_uses && joint->uses[adjusting.end].rank == joint->uses[use].rank)
                adjusting.end++;
        (void)threads_run(adjust_clients, &adjusting, MIN(joint->n_parts, (adjusting.end - use) / CLIENTS_WORTH + 1));
        for (size_t i = 1; i < joint->n_parts; i++)
                drop_merge(&sums[0], &sums[i]);
        drop_compare(&sums[0], &none, ret);
        return adjusting.end;
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
