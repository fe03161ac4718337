/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Finds the features of devices and times on which an app's effect depends, with the regression tree of the
 * Carat paper (Oliner and others, SenSys 2013) reduced to splits that are minimal, complete and actionable.
 *
 * Method: the effect of a client in a context is its mean rate with the app there, less its mean rate without
 * the app where all features are equal, relative to its mean rate. A node holds the effects of some clients and
 * contexts. Split it on the feature value with the largest significant increase (Student's t, Bonferroni over
 * all values tried); ties go to the first name. The side with the value is split further. The other side is
 * split only if its clients could not change the feature, such as the model.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "shared/order.h"
#include "report-split.h"
#include "threads.h"
#include "util/quantile.h"
#include "util/util.h"

#define WEIGHT_MAX 64.0       /* most samples that count, so that no client decides alone */
#define EFFECT_MAX 2.0        /* largest effect of a client, so that no impossible value decides */
#define WITH_MIN 0.05         /* least rate, relative to the mean, that minutes are told of */
#define LEVEL 0.95

/* Versions of one app, before they are moved to the report. */
struct app_versions {
        struct version_report *list;
        size_t n, capacity;
};

struct app_order {
        size_t rank;
        double clients;
};

/* Data that all threads share. */
struct explaining {
        struct report *report;
        const struct joint *joint;
        const struct features *features;
        struct app_versions *versions; /* by rank */
        struct app_order *order;       /* apps by descending number of clients */
        size_t n;
        atomic_size_t next;            /* index in order of the next app to process */
};

static void clear(struct why *why)
{
        free(why->sums);
        free(why->items);
        free(why->tallies);
        free(why->seen);
        free(why->own);
}

/* Finds the client's item for a context, or adds it. @first: the first item of the stratum. */
static int find_item(struct why *why, size_t first, uint32_t client, uint32_t context, size_t rank, struct item **ret)
{
        const struct context *found = context == CELL_NO_CONTEXT ? NULL : &why->features->contexts[context];
        int err;

        for (size_t i = first; i < why->n_items; i++)
                if (why->items[i].context == found) {
                        *ret = &why->items[i];
                        return 0;
                }
        err = util_grow(&why->items, &why->items_capacity, why->n_items + 1, sizeof(*why->items));
        if (err < 0)
                return err;
        *ret = &why->items[why->n_items++];
        **ret = (struct item){ .client = client, .context = found,
                               .version = features_version(why->features, found, rank) };
        return 0;
}

/* Sums over some cells. */
struct sums {
        double n, s;
};

/* Turns items that hold the number and sum of their rates into effects. @without: rates of the same stratum. */
static void end_stratum(struct why *why, size_t first, const struct sums *without, const struct joint_client *client,
                        double others)
{
        for (size_t i = first; i < why->n_items; i++) {
                struct item *item = &why->items[i];
                double n = item->weight, b = without->s / without->n;

                item->effect = (item->effect / n - b) / client->mean;
                item->effect = MAX(MIN(item->effect, EFFECT_MAX), -EFFECT_MAX);
                item->weight = MIN(n * without->n / (n + without->n), WEIGHT_MAX) * client->discount;
                item->without = MIN((b + others) / client->mean, DROP_RELATIVE_MAX);
        }
}

/* Cells from @i to @end are of one stratum. @others: the mean of other apps' effects, which stays in all rates. */
static int add_stratum(struct why *why, uint32_t number, size_t rank, size_t i, size_t end, double others)
{
        const struct joint_client *client = &why->joint->clients[number];
        size_t first = why->n_items;
        struct sums without = { .n = 0 };

        for (; i < end; i++) {
                const struct cell *cell = &client->part->cells[i];
                const struct cell_sum *sum = &why->sums[i - client->first];
                struct item *item;
                int err;

                if (!sum->with) {
                        without.n += (double)cell->n;
                        without.s += sum->s;
                        continue;
                }
                err = find_item(why, first, number, cell->context, rank, &item);
                if (err < 0)
                        return err;
                item->weight += (double)cell->n;
                item->effect += sum->s;
        }
        if (without.n > 0)
                end_stratum(why, first, &without, client, others);
        else
                why->n_items = first;
        return 0;
}

static int add_client(struct why *why, const struct app_use *use, size_t rank)
{
        const struct joint_client *client = &why->joint->clients[use->client];
        bool counts = client->mean > 0 && !joint_use(why->joint, use)->bug;
        struct sums all = { .n = 0 };
        int err = util_grow(&why->sums, &why->sums_capacity, client->end - client->first + 1, sizeof(*why->sums));

        for (size_t i = client->first; !err && i < client->end; i++) {
                struct cell_sum *sum = &why->sums[i - client->first];

                sum->s = joint_sum(client, i, rank, &sum->with);
                all.n += (double)client->part->cells[i].n;
                all.s += sum->s;
        }
        for (size_t i = client->first, end; !err && i < client->end && counts; i = end) {
                const struct cell *cells = client->part->cells;

                for (end = i + 1; end < client->end && !cells[end].begins;)
                        end++;
                err = add_stratum(why, use->client, rank, i, end, client->mean - all.s / all.n);
        }
        return err;
}

static bool is_actionable(const char *key)
{
        return strcmp(key, "model") != 0 && strcmp(key, "battery_wear") != 0;
}

/* Minutes of a full charge of a device like the middle one. @slope: their derivative by the effect. */
static double minutes_of(const struct report *report, const struct node *node, double *slope)
{
        double unit = 1e9 / 60 / report->middle_rate, with = MAX(node->without + node->effect, WITH_MIN);

        *slope = unit / (with * with);
        return unit * (1 / MAX(node->without, WITH_MIN) - 1 / with);
}

static void set_minutes(const struct report *report, const struct split *split, struct why_report *reason)
{
        double slope, slope_else, error, gain;

        reason->minutes_there = minutes_of(report, &split->there, &slope);
        reason->minutes_else = minutes_of(report, &split->elsewhere, &slope_else);
        gain = reason->minutes_there - reason->minutes_else;
        error = sqrt(slope * slope * split->there.variance + slope_else * slope_else * split->elsewhere.variance) *
                quantile_student_t(MAX(MIN(split->there.equal, split->elsewhere.equal) - 1, 1), LEVEL);
        reason->gain_low = gain - error;
        reason->gain_high = gain + error;
}

static int add_reason(const struct report *report, struct app_report *app, const struct split *split,
                      const struct feature *within, size_t n_within)
{
        struct why_report *reasons = reallocarray(app->why, app->n_why + 1, sizeof(*reasons)), *reason;

        if (!reasons)
                return -ENOMEM;
        app->why = reasons;
        reason = &reasons[app->n_why++];
        *reason = (struct why_report){ .feature = strdup(split->feature.key), .is = strdup(split->feature.value),
                                       .actionable = is_actionable(split->feature.key),
                                       .clients = split->there.clients };
        set_minutes(report, split, reason);
        if (!reason->feature || !reason->is)
                return -ENOMEM;
        for (size_t i = 0; i < n_within; i++) {
                if (asprintf(&reason->within[reason->n_within], "%s %s%s", within[i].key, within[i].not ? "not " : "",
                             within[i].value) < 0) {
                        reason->within[reason->n_within] = NULL;
                        return -ENOMEM;
                }
                reason->n_within++;
        }
        return 0;
}

static int grow(struct why *why, struct app_report *app, const bool *inside, struct feature *within, size_t depth);

/* Grows the tree on the side of a split that has the feature's value or, with @not, another value. */
static int grow_side(struct why *why, struct app_report *app, const bool *inside, struct feature *within,
                     size_t depth, bool not)
{
        _cleanup_free_ bool *side = calloc(why->n_items + 1, sizeof(*side));

        if (!side)
                return -ENOMEM;
        within[depth].not = not;
        for (size_t i = 0; i < why->n_items; i++) {
                const struct place *own = inside[i] ? split_place(why, &why->items[i], within[depth].key) : NULL;

                side[i] = own && (own->words.value == within[depth].value) != not;
        }
        return grow(why, app, side, within, depth + 1);
}

/*
 * Grows a node below @within and adds its split to the report. The other side is grown, too, only if the
 * feature cannot be changed, such as the model.
 */
static int grow(struct why *why, struct app_report *app, const bool *inside, struct feature *within, size_t depth)
{
        struct split split = { .feature = { NULL } };
        int rc = depth < WHY_DEPTH ? split_find(why, inside, &split) : 0;

        if (rc <= 0)
                return rc;
        rc = add_reason(why->report, app, &split, within, depth);
        within[depth] = split.feature;
        if (!rc)
                rc = grow_side(why, app, inside, within, depth, false);
        if (!rc && !is_actionable(split.feature.key))
                rc = grow_side(why, app, inside, within, depth, true);
        return rc;
}

static int explain(struct why *why, struct app_report *app)
{
        _cleanup_free_ bool *inside = malloc(why->n_items + 1);
        struct feature within[WHY_DEPTH];

        if (!inside)
                return -ENOMEM;
        memset(inside, true, why->n_items);
        return grow(why, app, inside, within, 0);
}

static int add_version(struct app_versions *versions, const struct app_report *app, const char *version,
                       const struct node *node)
{
        double half = sqrt(node->variance) * quantile_student_t(MAX(node->equal - 1, 1), LEVEL);
        int err = util_grow(&versions->list, &versions->capacity, versions->n + 1, sizeof(*versions->list));

        if (err < 0)
                return err;
        versions->list[versions->n++] = (struct version_report){
                .app = app->id, .version = strdup(version), .clients = node->clients,
                .effect = node->effect, .effect_low = node->effect - half, .effect_high = node->effect + half };
        return versions->list[versions->n - 1].version ? 0 : -ENOMEM;
}

/* Lists the effect of each version that enough clients have. */
static int list_versions(struct why *why, const struct app_report *app, struct app_versions *ret)
{
        _cleanup_free_ bool *inside = malloc(why->n_items + 1);
        int err = -ENOMEM;

        if (inside) {
                memset(inside, true, why->n_items);
                err = split_sum(why, inside);
        }
        for (size_t i = 0; !err && i < why->n_seen; i++) {
                const struct place *place = why->seen[i];
                struct node node = split_node(&split_tally(why, place)->there);

                if (place->words.key == why->features->version && node.clients >= COMMUNITY_CLIENTS_MIN &&
                    isfinite(node.variance))
                        err = add_version(ret, app, place->words.value, &node);
        }
        return err;
}

/* Items are sorted by client, as report_joint() numbers clients. */
static int explain_app(struct why *why, size_t rank, struct app_versions *versions)
{
        const struct joint *joint = why->joint;
        struct app_report *app = &why->report->apps[joint->apps[rank]];
        int err = 0;

        why->n_items = 0;
        for (size_t use = joint->first_use[rank]; !err && use < joint->first_use[rank + 1]; use++)
                err = add_client(why, &joint->uses[use], rank);
        if (!err && app->drop.hog && !app->hidden && app->drop.effect > 0)
                err = explain(why, app);
        if (!err && !app->hidden)
                err = list_versions(why, app, versions);
        return err;
}

static int explain_apps(void *data, size_t thread)
{
        struct explaining *all = data;
        _cleanup_(clear) struct why why = { .features = all->features, .joint = all->joint, .report = all->report };
        int err = 0;

        why.tallies = calloc(all->features->n_places + 1, sizeof(*why.tallies));
        if (!why.tallies)
                return -ENOMEM;
        for (size_t i; !err && (i = atomic_fetch_add(&all->next, 1)) < all->n;)
                err = explain_app(&why, all->order[i].rank, &all->versions[all->order[i].rank]);
        return err;
}

static int compare_clients(const void *a, const void *b)
{
        const struct app_order *x = a, *y = b;

        return ORDER_TWO(y->clients, x->clients, x->rank, y->rank);
}

/*
 * Orders hogs and the app that was asked for by descending number of clients, so that no thread ends with a
 * large app alone.
 */
static int order_apps(struct explaining *all)
{
        const struct joint *joint = all->joint;

        all->order = calloc(joint->n + 1, sizeof(*all->order));
        all->versions = calloc(joint->n + 1, sizeof(*all->versions));
        if (!all->order || !all->versions)
                return -ENOMEM;
        for (size_t rank = 0; rank < joint->n; rank++) {
                size_t app = joint->apps[rank];

                if (all->report->apps[app].drop.hog || (int64_t)app == all->report->asked)
                        all->order[all->n++] = (struct app_order){ rank, all->report->apps[app].clients };
        }
        if (all->n)
                qsort(all->order, all->n, sizeof(*all->order), compare_clients);
        return 0;
}

/* Moves all versions to the report, by rank. */
static int take_versions(struct explaining *all)
{
        struct report *report = all->report;
        size_t n = 0;

        for (size_t rank = 0; rank < all->joint->n; rank++)
                n += all->versions[rank].n;
        report->versions = calloc(n + 1, sizeof(*report->versions));
        if (!report->versions)
                return -ENOMEM;
        for (size_t rank = 0; rank < all->joint->n; rank++) {
                struct app_versions *versions = &all->versions[rank];

                if (versions->n)
                        memcpy(report->versions + report->n_versions, versions->list,
                               versions->n * sizeof(*versions->list));
                report->n_versions += versions->n;
                versions->n = 0;
        }
        return 0;
}

static void clear_explaining(struct explaining *all)
{
        for (size_t rank = 0; all->versions && rank < all->joint->n; rank++) {
                for (size_t i = 0; i < all->versions[rank].n; i++)
                        free(all->versions[rank].list[i].version);
                free(all->versions[rank].list);
        }
        free(all->versions);
        free(all->order);
}

int report_why(struct database *database, struct features *features, const struct joint *joint,
               struct report *report)
{
        struct explaining all = { .report = report, .joint = joint, .features = features };
        int err = joint->n ? features_read_versions(database, joint, features) : 0;

        if (!err)
                err = order_apps(&all);
        if (!err)
                err = threads_run(explain_apps, &all, threads_count());
        if (!err)
                err = take_versions(&all);
        clear_explaining(&all);
        return err;
}
