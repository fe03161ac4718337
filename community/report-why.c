/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an app's effect depends on: the tree of the paper, reduced to what is minimal, complete and actionable. A node has
 * what some clients' contexts (features of the device and of the time) make of the app's effect; the effect of a client in
 * a context compares the rates with the app there with all of its rates without. A node is split by the feature and value with
 * which the effect is the most greater than without, if that is no chance; of equal ones, by the first name. The side that costs
 * less is reported if who is on the other can get there, and is not split further; the other side is.
 */

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "report-features.h"
#include "threads.h"
#include "util/quantile.h"
#include "util/util.h"

#define CHANCE_MAX 0.01       /* of a split, over all that were tried */
#define DIFFERENCE_MIN 0.05   /* of the rate; */
#define PART_MIN 0.25         /* and of the effect: hogs beside it leave traces that are smaller */
#define WEIGHT_MAX 64.0       /* samples: no client decides alone, */
#define EFFECT_MAX 2.0        /* nor one that says what none can have */
#define LEVEL 0.95

struct feature {
        const char *key, *value; /* words: equal ones are the same pointer */
        bool not;                /* any other value */
};

/* Sums over clients: of their weight w, of w times the effect, which is e here, and of squares and the product of both. */
struct moments {
        double clients, w, e, ww, ee, we;
};

/* What a node of the tree has of a place. */
struct tally {
        size_t node;             /* for which the following are */
        struct moments there;    /* what has that value; */
        struct moments else_too; /* of clients that have it: what has another, */
        struct moments in_all;   /* and all that has the feature */
        size_t items;            /* of the client that is added, and their sums */
        double w, e;
};

/* The effect on a client in a context. */
struct item {
        uint32_t client;
        const struct context *context;
        const struct place *version; /* of the app; NULL: unknown */
        double weight, effect;
};

/* Versions of one app, until they are the report's. */
struct app_versions {
        struct version_report *list;
        size_t n, capacity;
};

/* What the threads share. */
struct explaining {
        struct report *report;
        const struct joint *joint;
        struct features features;
        struct app_versions *versions; /* by rank */
        struct one_use *order;         /* apps by the number of their clients, the most first */
        size_t n;
        atomic_size_t next;            /* of order, that nobody has taken */
};

/* One thread's: the app that it explains. */
struct why {
        const struct features *features;
        const struct joint *joint;
        struct report *report;
        struct item *items;
        size_t n_items, items_capacity;
        struct tally *tallies;  /* by place */
        size_t node;            /* counts nodes that are summed up */
        struct moments all;     /* of the node; */
        const struct place **seen, **own; /* what it has, and what the client has that is added */
        size_t n_seen, n_own, seen_capacity, own_capacity;
};

/* Mean effect of items, and its variance, one client one observation. */
struct node {
        double effect, variance, clients, equal; /* equal: as many clients of the same weight tell as much */
};

static void clear(struct why *why)
{
        free(why->items);
        free(why->tallies);
        free(why->seen);
        free(why->own);
}

static struct tally *tally_of(const struct why *why, const struct place *place)
{
        return &why->tallies[place->index];
}

/* Sums over one client's rates. */
struct with_without {
        double with, without, s_with, s_without;
};

static struct with_without sum_client(const struct joint_client *client, size_t rank)
{
        struct with_without sums = { .with = 0 };

        for (size_t i = client->first; i < client->end; i++) {
                bool with;
                double sum = joint_sum(client->part, i, rank, &with);

                *(with ? &sums.with : &sums.without) += client->part->cells[i].n;
                *(with ? &sums.s_with : &sums.s_without) += sum;
        }
        return sums;
}

/* The item of a context, made if there is none among those from @first. */
static int find_item(struct why *why, size_t first, uint32_t client, int64_t context, size_t rank, struct item **ret)
{
        const struct context *found = features_find(why->features, why->joint->clients[client].id, context);
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
        **ret = (struct item){ .client = client, .context = found, .version = features_version(why->features, found, rank) };
        return 0;
}

static int add_client(struct why *why, uint32_t number, size_t rank)
{
        const struct joint_client *client = &why->joint->clients[number];
        struct with_without sums = sum_client(client, rank);
        double mean = (sums.s_with + sums.s_without) / (sums.with + sums.without), without;
        size_t first = why->n_items;

        if (!(sums.with > 0 && sums.without > 0 && mean > 0))
                return 0;
        without = sums.s_without / sums.without;
        for (size_t i = client->first; i < client->end; i++) {
                const struct cell *cell = &client->part->cells[i];
                struct item *item;
                bool with;
                double sum = joint_sum(client->part, i, rank, &with);
                int err;

                if (!with)
                        continue;
                err = find_item(why, first, number, cell->context, rank, &item);
                if (err < 0)
                        return err;
                item->weight += cell->n; /* until all are there: how many rates, */
                item->effect += sum;     /* and their sum */
        }
        for (size_t i = first; i < why->n_items; i++) {
                struct item *item = &why->items[i];
                double n = item->weight;

                item->effect = (item->effect / n - without) / mean;
                item->effect = MAX(MIN(item->effect, EFFECT_MAX), -EFFECT_MAX);
                item->weight = MIN(n * sums.without / (n + sums.without), WEIGHT_MAX);
        }
        return 0;
}

static size_t count_traits(const struct item *item)
{
        return item->context ? item->context->traits->n : 0;
}

/* What the item has of a feature; NULL: nothing. */
static const struct place *place_of(const struct why *why, const struct item *item, const char *key)
{
        if (key == why->features->version)
                return item->version;
        for (size_t i = 0; i < count_traits(item); i++)
                if (item->context->traits->places[i]->words.key == key)
                        return item->context->traits->places[i];
        return NULL;
}

/* One client is one observation. */
static void add_observation(struct moments *moments, double w, double e)
{
        moments->clients++;
        moments->w += w;
        moments->e += e;
        moments->ww += w * w;
        moments->ee += e * e;
        moments->we += w * e;
}

static int touch(struct why *why, const struct place *place, const struct item *item)
{
        struct tally *tally = tally_of(why, place);

        if (tally->node != why->node) {
                if (util_grow(&why->seen, &why->seen_capacity, why->n_seen + 1, sizeof(struct place *)) < 0)
                        return -ENOMEM;
                why->seen[why->n_seen++] = place;
                *tally = (struct tally){ .node = why->node };
        }
        if (!tally->items) {
                if (util_grow(&why->own, &why->own_capacity, why->n_own + 1, sizeof(struct place *)) < 0)
                        return -ENOMEM;
                why->own[why->n_own++] = place;
        }
        tally->items++;
        tally->w += item->weight;
        tally->e += item->weight * item->effect;
        return place->any ? touch(why, place->any, item) : 0;
}

static void end_client(struct why *why)
{
        for (size_t i = 0; i < why->n_own; i++) {
                struct tally *tally = tally_of(why, why->own[i]);
                const struct tally *any = why->own[i]->any ? tally_of(why, why->own[i]->any) : NULL;

                add_observation(&tally->there, tally->w, tally->e);
                if (!any)
                        continue;
                add_observation(&tally->in_all, any->w, any->e);
                if (any->items > tally->items)
                        add_observation(&tally->else_too, any->w - tally->w, any->e - tally->e);
        }
        for (size_t i = 0; i < why->n_own; i++) {
                struct tally *tally = tally_of(why, why->own[i]);

                tally->items = 0;
                tally->w = tally->e = 0;
        }
        why->n_own = 0;
}

static int compare_places(const void *a, const void *b)
{
        const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;
        int order = strcmp(x->words.key, y->words.key);

        return order ? order : strcmp(x->words.value, y->words.value);
}

/* Sums up what is @inside, and leaves in `seen` each feature with a value, by name. A client's items are beside each other. */
static int sum_inside(struct why *why, const bool *inside)
{
        size_t kept = 0;
        int err = 0;

        why->node++;
        why->n_seen = 0;
        why->all = (struct moments){ .w = 0 };
        for (size_t i = 0; !err && i < why->n_items;) {
                uint32_t client = why->items[i].client;
                double w = 0, e = 0;

                for (; !err && i < why->n_items && why->items[i].client == client; i++) {
                        const struct item *item = &why->items[i];

                        if (!inside[i])
                                continue;
                        w += item->weight;
                        e += item->weight * item->effect;
                        for (size_t j = 0; !err && j < count_traits(item); j++)
                                err = touch(why, item->context->traits->places[j], item);
                        if (!err && item->version)
                                err = touch(why, item->version, item);
                }
                end_client(why);
                if (w > 0)
                        add_observation(&why->all, w, e);
        }
        for (size_t i = 0; i < why->n_seen; i++)
                if (why->seen[i]->any)
                        why->seen[kept++] = why->seen[i];
        why->n_seen = kept;
        if (kept)
                qsort(why->seen, kept, sizeof(struct place *), compare_places);
        return err;
}

static struct node node_of(const struct moments *sums)
{
        struct node node = { .clients = sums->clients, .effect = sums->w > 0 ? sums->e / sums->w : 0 };
        double squares = sums->ee - 2 * node.effect * sums->we + node.effect * node.effect * sums->ww;

        node.equal = sums->ww > 0 ? sums->w * sums->w / sums->ww : 0;
        node.variance = node.equal > 1 ? MAX(squares, 0) / (sums->w * sums->w) * node.equal / (node.equal - 1) : INFINITY;
        return node;
}

/* What has another value than that: all that has the feature, with what a client has of both values taken apart. */
static struct node node_elsewhere(const struct why *why, const struct place *place)
{
        const struct tally *tally = tally_of(why, place);
        const struct moments *all = &tally_of(why, place->any)->there, *mixed = &tally->in_all, *rest = &tally->else_too;
        const struct moments sums = {
                .clients = all->clients - mixed->clients + rest->clients,
                .w = all->w - mixed->w + rest->w,
                .e = all->e - mixed->e + rest->e,
                .ww = all->ww - mixed->ww + rest->ww,
                .ee = all->ee - mixed->ee + rest->ee,
                .we = all->we - mixed->we + rest->we,
        };

        return node_of(&sums);
}

struct split {
        struct feature feature;
        struct node there, elsewhere;
};

/* The greatest difference that is none by chance. 1; 0: there is none; -ENOMEM. */
static int find_split(struct why *why, const bool *inside, struct split *ret)
{
        double greatest;
        bool found = false;
        int err = sum_inside(why, inside);

        greatest = MAX(DIFFERENCE_MIN, PART_MIN * node_of(&why->all).effect);
        for (size_t i = 0; !err && i < why->n_seen; i++) {
                const struct place *place = why->seen[i];
                struct node there = node_of(&tally_of(why, place)->there), elsewhere = node_elsewhere(why, place);
                double difference = there.effect - elsewhere.effect, t, chance;

                if (MIN(there.clients, elsewhere.clients) < COMMUNITY_CLIENTS_MIN || difference <= greatest)
                        continue;
                t = difference / sqrt(there.variance + elsewhere.variance);
                chance = drop_student_upper(t, MAX(MIN(there.equal, elsewhere.equal) - 1, 1)) * (double)why->n_seen;
                if (!(chance <= CHANCE_MAX))
                        continue;
                *ret = (struct split){ { place->words.key, place->words.value, false }, there, elsewhere };
                greatest = difference;
                found = true;
        }
        return err ? err : found;
}

static bool is_actionable(const char *key)
{
        return strcmp(key, "model") != 0 && strcmp(key, "battery_wear") != 0;
}

static double minutes_of(const struct drop *drop, double effect)
{
        double without = drop->rate_without, with = without + (drop->rate_with - without) * effect / drop->effect;

        return (1 / without - 1 / with) * 1e9 / 60;
}

/* The variance of minutes_of(), by the delta method. */
static double minutes_variance(const struct drop *drop, const struct node *node)
{
        double slope = (drop->rate_with - drop->rate_without) / drop->effect, with = drop->rate_without + slope * node->effect;

        slope *= 1e9 / 60 / (with * with);
        return slope * slope * node->variance;
}

static void find_gain(const struct drop *drop, const struct split *split, struct why_report *reason)
{
        double gain = reason->minutes_there - reason->minutes_else;
        double error = sqrt(minutes_variance(drop, &split->there) + minutes_variance(drop, &split->elsewhere)) *
                       quantile_student_t(MAX(MIN(split->there.equal, split->elsewhere.equal) - 1, 1), LEVEL);

        reason->gain_low = gain - error;
        reason->gain_high = gain + error;
}

static int add_reason(struct app_report *app, const struct split *split, const struct feature *within, size_t n_within)
{
        struct why_report *reasons = reallocarray(app->why, app->n_why + 1, sizeof(*reasons)), *reason;

        if (!reasons)
                return -ENOMEM;
        app->why = reasons;
        reason = &reasons[app->n_why++];
        *reason = (struct why_report){ .feature = strdup(split->feature.key), .is = strdup(split->feature.value),
                                       .actionable = is_actionable(split->feature.key),
                                       .minutes_there = minutes_of(&app->drop, split->there.effect),
                                       .minutes_else = minutes_of(&app->drop, split->elsewhere.effect),
                                       .clients = split->there.clients };
        find_gain(&app->drop, split, reason);
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

/* The side of a split on which the feature has its value, or @not. */
static int grow_side(struct why *why, struct app_report *app, const bool *inside, struct feature *within, size_t depth, bool not)
{
        _cleanup_free_ bool *side = calloc(why->n_items + 1, sizeof(*side));

        if (!side)
                return -ENOMEM;
        within[depth].not = not;
        for (size_t i = 0; i < why->n_items; i++) {
                const struct place *own = inside[i] ? place_of(why, &why->items[i], within[depth].key) : NULL;

                side[i] = own && (own->words.value == within[depth].value) != not;
        }
        return grow(why, app, side, within, depth + 1);
}

/* A node of the tree, below @within, and what is reported of it. Nobody can go to the other side of a split by model. */
static int grow(struct why *why, struct app_report *app, const bool *inside, struct feature *within, size_t depth)
{
        struct split split = { .feature = { NULL } };
        int rc = depth < WHY_DEPTH ? find_split(why, inside, &split) : 0;

        if (rc <= 0)
                return rc;
        rc = add_reason(app, &split, within, depth);
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

static int add_version(struct app_versions *versions, const struct app_report *app, const char *version, const struct node *node)
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

/* The effect of each version that enough clients have. */
static int list_versions(struct why *why, const struct app_report *app, struct app_versions *ret)
{
        _cleanup_free_ bool *inside = malloc(why->n_items + 1);
        int err = -ENOMEM;

        if (inside) {
                memset(inside, true, why->n_items);
                err = sum_inside(why, inside);
        }
        for (size_t i = 0; !err && i < why->n_seen; i++) {
                const struct place *place = why->seen[i];
                struct node node = node_of(&tally_of(why, place)->there);

                if (place->words.key == why->features->version && node.clients >= COMMUNITY_CLIENTS_MIN &&
                    isfinite(node.variance))
                        err = add_version(ret, app, place->words.value, &node);
        }
        return err;
}

/* Items by client, as report_joint() has clients by number. */
static int explain_app(struct why *why, size_t rank, struct app_versions *versions)
{
        const struct joint *joint = why->joint;
        struct app_report *app = &why->report->apps[joint->apps[rank]];
        int err = 0;

        why->n_items = 0;
        for (size_t use = joint_uses(joint, rank); !err && use < joint->n_uses && joint->uses[use].rank == rank; use++)
                err = add_client(why, joint->uses[use].client, rank);
        if (!err && app->drop.hog && !app->hidden && app->drop.effect > 0)
                err = explain(why, app);
        if (!err && !app->hidden)
                err = list_versions(why, app, versions);
        return err;
}

static int explain_apps(void *data, size_t thread)
{
        struct explaining *all = data;
        _cleanup_(clear) struct why why = { .features = &all->features, .joint = all->joint, .report = all->report };
        int err = 0;

        why.tallies = calloc(all->features.n_places + 1, sizeof(*why.tallies));
        if (!why.tallies)
                return -ENOMEM;
        for (size_t i; !err && (i = atomic_fetch_add(&all->next, 1)) < all->n;)
                err = explain_app(&why, all->order[i].rank, &all->versions[all->order[i].rank]);
        return err;
}

static int compare_clients(const void *a, const void *b)
{
        const struct one_use *x = a, *y = b;

        return x->client != y->client ? (x->client > y->client ? -1 : 1) : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Hogs, and the app that is asked for: those of many clients first, so that no thread is left alone with one at the end. */
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
                        all->order[all->n++] = (struct one_use){ (uint32_t)rank, (uint32_t)all->report->apps[app].clients };
        }
        if (all->n)
                qsort(all->order, all->n, sizeof(*all->order), compare_clients);
        return 0;
}

/* All versions that were found, by rank. */
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
                        memcpy(report->versions + report->n_versions, versions->list, versions->n * sizeof(*versions->list));
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
        features_clear(&all->features);
}

int report_why(struct database *database, const struct joint *joint, struct report *report)
{
        struct explaining all = { .report = report, .joint = joint };
        int err = joint->n ? features_read(database, joint, &all.features) : 0;

        if (!err)
                err = order_apps(&all);
        if (!err)
                err = threads_run(explain_apps, &all, threads_count());
        if (!err)
                err = take_versions(&all);
        clear_explaining(&all);
        return err;
}
