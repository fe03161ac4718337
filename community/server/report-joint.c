/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Separates the effects of apps that run at the same time: an app without any effect seems to be a hog if it
 * often runs beside one.
 *
 * Method: Gauss-Seidel sweeps. Each app that was called a hog is compared again, with rates from which the
 * present estimates of the other hogs' effects are subtracted, as power adds up. The sweeps repeat until the
 * estimates stay within STILL. Clients are taken by number and apps by name, so the result does not depend on the
 * order in which clients were read.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "rates.h"
#include "report-features.h"
#include "threads.h"
#include "util/util.h"

#define SWEEPS 60         /* upper limit; apps that nearly always run together need the most sweeps */
#define STILL 2e-4        /* relative to the rate */
/* A client that counts as odd in every other sweep changes effects by the same amount for ever: sweeps end then. */
#define SWEEPS_MIN 6
#define SHRINKS 0.999     /* a change that two sweeps do not reduce to this part of it */
#define TOGETHER 0.95     /* share of both apps' rates in which both are in use */
#define CLIENTS_TAKEN (size_t)256  /* clients that a thread takes at a time */
#define CLIENTS_WORTH (size_t)4096 /* clients per additional thread */
#define AHEAD (size_t)8            /* clients whose memory is on its way */
#define HOGS_MAX 10000    /* the table of pairs would become too large */

void joint_clear(struct joint *joint)
{
        free(joint->apps);
        for (int kind = 0; kind < JOINT_KINDS; kind++)
                free(joint->effects[kind]);
        free(joint->near);
        free(joint->pairs);
        free(joint->first);
        free(joint->slots);
        for (size_t i = 0; i < joint->n_parts; i++) {
                free(joint->parts[i].cells);
                free(joint->parts[i].ranks);
                free(joint->parts[i].uses);
                free(joint->parts[i].apps);
                free(joint->parts[i].overlaps);
                free(joint->parts[i].with);
                free(joint->parts[i].without);
        }
        free(joint->parts);
        free(joint->clients);
        free(joint->uses);
        free(joint->first_use);
        *joint = (struct joint){ .n = 0 };
}

static bool together(const struct joint *joint, size_t a, size_t b)
{
        double both = joint->pairs[a * joint->n + b];

        return a == b || (both >= TOGETHER * joint->pairs[a * joint->n + a] &&
                          both >= TOGETHER * joint->pairs[b * joint->n + b]);
}

static void find_first(struct joint *joint)
{
        for (size_t a = 0; a < joint->n; a++)
                for (joint->first[a] = 0; !together(joint, a, joint->first[a]);)
                        joint->first[a]++;
}

/*
 * Is the effect of @other to be subtracted from what @rank seems to cost? Apps that always run together have the same
 * effect, which counts once, and not for themselves.
 */
static bool counts(const struct joint *joint, size_t rank, size_t other)
{
        return other != rank && joint->first[other] == other && joint->first[rank] != other;
}

/* Sums the effects of all other apps in use. @with: is the app itself in use? */
static double others(const struct joint_part *part, size_t cell, size_t rank, bool *with)
{
        double sum = 0;

        *with = false;
        for (size_t i = part->cells[cell].first; i < part->cells[cell + 1].first; i++) {
                size_t other = part->ranks[i];

                *with |= other == rank;
                sum += counts(part->joint, rank, other) ? part->joint->effects[JOINT_ALL][other] : 0;
        }
        return sum;
}

double joint_sum(const struct joint_client *client, size_t cell, size_t rank, bool *with)
{
        const struct cell *rates = &client->part->cells[cell];

        return rates->s - client->mean * (others(client->part, cell, rank, with) * (double)rates->n +
                                          client->part->joint->rest_effect * (double)rates->rest);
}

const struct one_use *joint_use(const struct joint *joint, const struct app_use *use)
{
        const struct joint_client *client = &joint->clients[use->client];

        return &client->part->uses[client->first_app + use->index];
}

/* The app's row of the client's overlaps. */
static const float *overlaps_of(const struct joint_client *client, int kind, const struct app_use *use)
{
        return client->part->overlaps + client->first_overlap +
               ((size_t)kind * client->n_apps + use->index) * client->n_apps;
}

/* The app on one client, without the other apps' effects. */
static struct drop_use adjust_client(const struct joint *joint, int kind, size_t rank, const struct app_use *at)
{
        const struct joint_client *client = &joint->clients[at->client];
        const struct one_use *use = joint_use(joint, at);
        const struct use_sums *sums = &use->sums[kind];
        const uint16_t *apps = client->part->apps + client->first_app;
        const float *overlaps = overlaps_of(client, kind, at);
        size_t first = joint->first[rank];
        struct drop_use made = { .client = at->client };
        double more = (double)sums->more - (double)sums->rest * joint->rest_effect;

        if (use->bug)
                return made;
        for (size_t i = 0; i < client->n_apps; i++)
                if (joint->first[apps[i]] == apps[i] && apps[i] != first) /* its own overlap is 0 */
                        more -= (double)overlaps[i] * joint->effects[kind][apps[i]];
        made = drop_use_of((double)sums->weight, more * client->mean, (double)use->n, (double)use->s * client->mean,
                           client->n, client->mean, client->discount);
        made.client = at->client;
        made.part = use->part;
        return made;
}

/* Work on one app's clients, which threads take in pieces. */
struct adjusting {
        const struct joint *joint;
        int kind;
        size_t rank;
        atomic_size_t next;
        struct drop_use *uses;
};

/*
 * An app's clients are all over the memory, and most of the time was spent waiting for it: so it is asked for before.
 * (In a function of its own, GCC takes that for nothing and leaves it out.)
 */
static int adjust_clients(void *data, size_t thread)
{
        struct adjusting *adjusting = data;
        const struct joint *joint = adjusting->joint;
        size_t first, start = joint->first_use[adjusting->rank], end = joint->first_use[adjusting->rank + 1];

        while ((first = atomic_fetch_add(&adjusting->next, CLIENTS_TAKEN)) < end)
                for (size_t i = first; i < MIN(first + CLIENTS_TAKEN, end); i++) {
                        const struct app_use *use = &joint->uses[i];

                        if (i + 2 * AHEAD < end) {
                                const struct joint_client *client = &joint->clients[use[AHEAD].client];

                                __builtin_prefetch(&joint->clients[use[2 * AHEAD].client]);
                                __builtin_prefetch(client->part->apps + client->first_app);
                                __builtin_prefetch(joint_use(joint, &use[AHEAD]));
                                __builtin_prefetch(overlaps_of(client, adjusting->kind, &use[AHEAD]));
                        }
                        adjusting->uses[i - start] = adjust_client(joint, adjusting->kind, adjusting->rank, use);
                }
        return 0;
}

static size_t count_uses(const struct joint *joint, size_t rank)
{
        return joint->first_use[rank + 1] - joint->first_use[rank];
}

/* Makes the uses of an app; free them. NULL without memory. */
static struct drop_use *adjust_uses(const struct joint *joint, int kind, size_t rank)
{
        struct adjusting adjusting = { .joint = joint, .kind = kind, .rank = rank, .next = joint->first_use[rank] };
        size_t n = count_uses(joint, rank);

        adjusting.uses = malloc((n + 1) * sizeof(*adjusting.uses));
        if (adjusting.uses)
                (void)threads_run(adjust_clients, &adjusting, MIN(joint->n_parts, n / CLIENTS_WORTH + 1));
        return adjusting.uses;
}

static int adjust_app(const struct joint *joint, size_t rank, struct drop *ret)
{
        _cleanup_free_ struct drop_use *uses = adjust_uses(joint, JOINT_ALL, rank);

        return uses ? drop_compare(uses, count_uses(joint, rank), joint->report->middle_rate, &joint->report->groups,
                                   false, ret) : -ENOMEM;
}

static struct app_report *app_of(const struct joint *joint, size_t rank)
{
        return &joint->report->apps[joint->apps[rank]];
}

/* By how much the app raises the rate of a client, relative to its mean. */
static double effect_of(const struct joint *joint, const struct drop *drop)
{
        return drop->enough ? (drop->rate_with - drop->rate_without) / joint->report->middle_rate : 0;
}

/*
 * Apps beside the hogs have small effects, each too small to be known, but they add up where all apps of a user run
 * at the same hours. So their number is a covariate: its slope is their mean effect, weighted as they vary (analysis
 * of covariance: Snedecor and Cochran, Statistical Methods, chapter 18).
 */
static int adjust_rest(struct joint *joint, double *ret)
{
        _cleanup_free_ struct drop_use *uses = calloc(joint->n_clients + 1, sizeof(*uses));
        _cleanup_free_ double *more = calloc(joint->n_clients + 1, sizeof(*more));
        struct drop drop = { .p = 1 };
        int err;

        if (!uses || !more)
                return -ENOMEM;
        for (size_t i = 0; i < joint->n_clients; i++)
                more[i] = joint->clients[i].rest_more;
        for (size_t rank = 0; rank < joint->n; rank++)
                for (size_t i = joint->first_use[rank]; joint->first[rank] == rank && i < joint->first_use[rank + 1];
                     i++)
                        more[joint->uses[i].client] -= (double)joint->uses[i].rest * joint->effects[JOINT_ALL][rank];
        for (size_t i = 0; i < joint->n_clients; i++) {
                const struct joint_client *client = &joint->clients[i];

                uses[i] = drop_use_of(client->rest_weight, more[i] * client->mean, 0, 0, client->n, client->mean,
                                      client->discount);
                uses[i].client = (uint32_t)i;
        }
        err = drop_compare(uses, joint->n_clients, joint->report->middle_rate, &joint->report->groups, false, &drop);
        if (err < 0)
                return err;
        *ret = MAX(*ret, fabs(effect_of(joint, &drop) - joint->rest_effect));
        joint->rest_effect = effect_of(joint, &drop);
        return 0;
}

/* Largest changes of effects in the last three sweeps. */
struct settling {
        double change, last, before;
        int round;
};
#define SETTLING { INFINITY, INFINITY, INFINITY, 0 }

/* Is one more sweep worth it? */
static bool is_moving(struct settling *settling)
{
        bool circles = settling->round >= SWEEPS_MIN && settling->change > SHRINKS * settling->before;
        bool moving = settling->change > STILL && settling->round < SWEEPS && !circles;

        settling->before = settling->last;
        settling->last = settling->change;
        settling->round++;
        return moving;
}

/* @ret: the largest change. */
static int sweep(struct joint *joint, double *ret)
{
        *ret = 0;
        for (size_t rank = 0; rank < joint->n; rank++) {
                double *effect = &joint->effects[JOINT_ALL][rank], before = *effect;
                struct drop *drop = &app_of(joint, rank)->drop;
                int err;

                if (!count_uses(joint, rank))
                        continue;
                err = adjust_app(joint, rank, drop);
                if (err < 0)
                        return err;
                *effect = effect_of(joint, drop);
                *ret = MAX(*ret, fabs(*effect - before));
        }
        return adjust_rest(joint, ret);
}

/* Corrects an app whose use follows the hours. @ret: the largest change. */
static int adjust_hours(struct joint *joint, size_t rank, double *ret)
{
        _cleanup_free_ struct drop_use *all = adjust_uses(joint, JOINT_ALL, rank),
                                       *near = adjust_uses(joint, JOINT_NEAR, rank);
        size_t n = count_uses(joint, rank);
        double *effect = &joint->effects[JOINT_NEAR][rank], before = *effect, rate = joint->report->middle_rate;
        const struct drop_groups *groups = &joint->report->groups;
        struct drop *drop = &joint->near[rank];
        int err;

        *drop = app_of(joint, rank)->drop;
        err = all && near ? drop_compare(all, n, rate, groups, true, drop) : -ENOMEM;
        if (!err)
                err = drop_hours(all, near, n, rate, groups, drop);
        *effect = effect_of(joint, &joint->near[rank]);
        *ret = MAX(*ret, fabs(*effect - before));
        return err;
}

/* Apps whose use follows the hours are few: the others are compared with near hours once. */
static int compare_hours(struct joint *joint)
{
        struct settling settling = SETTLING;
        int err = 0;

        memcpy(joint->effects[JOINT_NEAR], joint->effects[JOINT_ALL], joint->n * sizeof(double));
        while (!err && is_moving(&settling)) {
                settling.change = 0;
                for (size_t rank = 0; !err && rank < joint->n; rank++)
                        if (count_uses(joint, rank) && (settling.round == 1 || joint->near[rank].hours))
                                err = adjust_hours(joint, rank, &settling.change);
        }
        for (size_t rank = 0; !err && rank < joint->n; rank++)
                if (count_uses(joint, rank))
                        app_of(joint, rank)->drop = joint->near[rank];
        return err;
}

/* If apps always run together, reports only the first by name, with the names of the others. */
static int name_together(struct joint *joint)
{
        for (size_t a = 0; a < joint->n; a++)
                for (size_t b = a + 1; b < joint->n; b++) {
                        struct app_report *first = app_of(joint, a);

                        if (first->hidden || app_of(joint, b)->hidden || !together(joint, a, b))
                                continue;
                        first->together = reallocarray(first->together, first->n_together + 1,
                                                       sizeof(*first->together));
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

/* Lists the hogs, and the app that was asked for. */
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

static struct rank_slot *slot_of(const struct joint *joint, int64_t app)
{
        size_t slot = (uint64_t)app * 0x9E3779B97F4A7C15 >> 32;

        for (slot &= joint->slots_mask; joint->slots[slot].rank >= 0 && joint->slots[slot].app != app;)
                slot = (slot + 1) & joint->slots_mask;
        return &joint->slots[slot];
}

int32_t joint_rank(const struct joint *joint, int64_t app)
{
        return slot_of(joint, app)->rank;
}

static int make_slots(struct joint *joint)
{
        size_t size = 4;

        while (size < 2 * joint->n)
                size *= 2;
        joint->slots = malloc(size * sizeof(*joint->slots));
        if (!joint->slots)
                return -ENOMEM;
        joint->slots_mask = size - 1;
        for (size_t i = 0; i < size; i++)
                joint->slots[i].rank = -1;
        for (size_t i = 0; i < joint->n; i++) {
                int64_t app = joint->report->apps[joint->apps[i]].id;

                *slot_of(joint, app) = (struct rank_slot){ app, (int32_t)i };
        }
        return 0;
}

int report_joint(struct database *database, const struct features *features, int64_t limit, struct report *report,
                 struct joint *joint)
{
        struct settling settling = SETTLING;
        int err;

        *joint = (struct joint){ .report = report };
        if (report->n_hogs > HOGS_MAX) {
                log_error(database->log, "%s: more than %d apps seem to be hogs; this is not a community that can be"
                                         " compared",
                          database->name, HOGS_MAX);
                return -E2BIG;
        }
        err = list_apps(joint);
        if (err < 0 || !joint->n)
                return err;
        for (int kind = 0; kind < JOINT_KINDS; kind++)
                joint->effects[kind] = calloc(joint->n, sizeof(double));
        joint->near = calloc(joint->n, sizeof(*joint->near));
        joint->pairs = calloc(joint->n * joint->n, sizeof(*joint->pairs));
        joint->first = calloc(joint->n, sizeof(*joint->first));
        if (!joint->effects[JOINT_ALL] || !joint->effects[JOINT_NEAR] || !joint->near || !joint->pairs ||
            !joint->first || make_slots(joint) < 0)
                return -ENOMEM;
        err = joint_read(database, features, limit, joint);
        if (!err)
                find_first(joint);
        while (!err && is_moving(&settling))
                err = sweep(joint, &settling.change);
        if (!err)
                err = compare_hours(joint);
        return err ? err : name_together(joint);
}
