/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report-split.h"
#include "util/util.h"

#define CHANCE_MAX 0.01       /* significance level of a split, over all that were tried */
#define DIFFERENCE_MIN 0.05   /* least difference, as a part of the rate */
#define PART_MIN 0.25 /* and as a part of the app's effect: hogs that run at the same time leave smaller traces */

struct tally *split_tally(const struct why *why, const struct place *place)
{
        return &why->tallies[place->index];
}

static size_t count_traits(const struct item *item)
{
        return item->context ? item->context->traits->n : 0;
}

/* The item's value of a feature; NULL: it has none. */
const struct place *split_place(const struct why *why, const struct item *item, const char *key)
{
        if (key == why->features->version)
                return item->version;
        for (size_t i = 0; i < count_traits(item); i++)
                if (item->context->traits->places[i]->words.key == key)
                        return item->context->traits->places[i];
        return NULL;
}

/* Each client is one observation. */
static void add_observation(struct moments *moments, double w, double e, double b)
{
        moments->b += b;
        moments->clients++;
        moments->w += w;
        moments->e += e;
        moments->ww += w * w;
        moments->ee += e * e;
        moments->we += w * e;
}

static int touch(struct why *why, const struct place *place, const struct item *item)
{
        struct tally *tally = split_tally(why, place);

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
        tally->b += item->weight * item->without;
        return place->any ? touch(why, place->any, item) : 0;
}

static void end_client(struct why *why)
{
        for (size_t i = 0; i < why->n_own; i++) {
                struct tally *tally = split_tally(why, why->own[i]);
                const struct tally *any = why->own[i]->any ? split_tally(why, why->own[i]->any) : NULL;

                add_observation(&tally->there, tally->w, tally->e, tally->b);
                if (!any)
                        continue;
                add_observation(&tally->in_all, any->w, any->e, any->b);
                if (any->items > tally->items)
                        add_observation(&tally->else_too, any->w - tally->w, any->e - tally->e, any->b - tally->b);
        }
        for (size_t i = 0; i < why->n_own; i++) {
                struct tally *tally = split_tally(why, why->own[i]);

                tally->items = 0;
                tally->w = tally->e = tally->b = 0;
        }
        why->n_own = 0;
}

static int compare_places(const void *a, const void *b)
{
        const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;
        int order = strcmp(x->words.key, y->words.key);

        return order ? order : strcmp(x->words.value, y->words.value);
}

/*
 * Sums up the items @inside, and lists their features with values in `seen`, sorted by name. The items of a
 * client are adjacent.
 */
int split_sum(struct why *why, const bool *inside)
{
        size_t kept = 0;
        int err = 0;

        why->node++;
        why->n_seen = 0;
        why->all = (struct moments){ .w = 0 };
        for (size_t i = 0; !err && i < why->n_items;) {
                uint32_t client = why->items[i].client;
                double w = 0, e = 0, b = 0;

                for (; !err && i < why->n_items && why->items[i].client == client; i++) {
                        const struct item *item = &why->items[i];

                        if (!inside[i])
                                continue;
                        w += item->weight;
                        e += item->weight * item->effect;
                        b += item->weight * item->without;
                        for (size_t j = 0; !err && j < count_traits(item); j++)
                                err = touch(why, item->context->traits->places[j], item);
                        if (!err && item->version)
                                err = touch(why, item->version, item);
                }
                end_client(why);
                if (w > 0)
                        add_observation(&why->all, w, e, b);
        }
        for (size_t i = 0; i < why->n_seen; i++)
                if (why->seen[i]->any)
                        why->seen[kept++] = why->seen[i];
        why->n_seen = kept;
        if (kept)
                qsort(why->seen, kept, sizeof(struct place *), compare_places);
        return err;
}

struct node split_node(const struct moments *sums)
{
        struct node node = { .clients = sums->clients, .effect = sums->w > 0 ? sums->e / sums->w : 0,
                             .without = sums->w > 0 ? sums->b / sums->w : 0 };
        double squares = sums->ee - 2 * node.effect * sums->we + node.effect * node.effect * sums->ww;

        node.equal = sums->ww > 0 ? sums->w * sums->w / sums->ww : 0;
        node.variance = node.equal > 1 ? MAX(squares, 0) / (sums->w * sums->w) * node.equal / (node.equal - 1) :
                        INFINITY;
        return node;
}

/*
 * Sums of the other values of a feature: all with the feature, less the part with this value of the clients
 * that have both.
 */
static struct node node_elsewhere(const struct why *why, const struct place *place)
{
        const struct tally *tally = split_tally(why, place);
        const struct moments *all = &split_tally(why, place->any)->there, *mixed = &tally->in_all,
                              *rest = &tally->else_too;
        const struct moments sums = {
                .clients = all->clients - mixed->clients + rest->clients,
                .w = all->w - mixed->w + rest->w,
                .e = all->e - mixed->e + rest->e,
                .ww = all->ww - mixed->ww + rest->ww,
                .ee = all->ee - mixed->ee + rest->ee,
                .we = all->we - mixed->we + rest->we,
                .b = all->b - mixed->b + rest->b,
        };

        return split_node(&sums);
}

/* Finds the largest significant difference. Returns 1; 0: there is none; -ENOMEM. */
int split_find(struct why *why, const bool *inside, struct split *ret)
{
        double greatest;
        bool found = false;
        int err = split_sum(why, inside);

        greatest = MAX(DIFFERENCE_MIN, PART_MIN * split_node(&why->all).effect);
        for (size_t i = 0; !err && i < why->n_seen; i++) {
                const struct place *place = why->seen[i];
                struct node there = split_node(&split_tally(why, place)->there), elsewhere = node_elsewhere(why, place);
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
