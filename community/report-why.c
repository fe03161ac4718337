/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an app's effect depends on: the tree of the paper, reduced to what is minimal, complete and actionable. A node has
 * what some clients' contexts (features of the device and of the time) make of the app's effect; the effect of a client in
 * a context compares the rates with the app there with all of its rates without. A node is split by the feature and value with
 * which the effect is the most greater than without, if that is no chance; of equal ones, by the first name. The side that costs
 * less is reported if who is on the other can get there, and is not split further; the other side is.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report-joint.h"
#include "util/hash.h"
#include "util/quantile.h"
#include "util/util.h"

#define DEPTH_MAX 3
#define CHANCE_MAX 0.01       /* of a split, over all that were tried */
#define DIFFERENCE_MIN 0.05   /* of the rate; */
#define PART_MIN 0.25         /* and of the effect: hogs beside it leave traces that are smaller */
#define WEIGHT_MAX 64.0
#define EFFECT_MAX 2.0
#define TEXT_MAX 120
#define LEVEL 0.95

struct word {
        UT_hash_handle hh;
        char text[];
};

struct feature {
        const char *key, *value; /* words: equal ones are the same pointer */
        bool not;                /* any other value */
};

/* Sums over clients: of their weight w, of w times the effect, which is e here, and of squares and the product of both. */
struct moments {
        double clients, w, e, ww, ee, we;
};

/* A feature with one of its values, and what a node of the tree has of it. With value NULL: with any value. */
struct place {
        UT_hash_handle hh;
        struct {
                const char *key, *value;
        } words;
        struct place *any;       /* of the same feature */
        size_t node;             /* for which the following are */
        struct moments there;    /* what has that value; */
        struct moments else_too; /* of clients that have it: what has another, */
        struct moments in_all;   /* and all that has the feature */
        size_t items;            /* of the client that is added, and their sums */
        double w, e;
};

struct context {
        int64_t client, id;
        struct place **places;
        size_t n, capacity;
        char *versions; /* lines "NUMBER VERSION" */
};

/* The effect on a client in a context. */
struct item {
        uint32_t client;
        const struct context *context;
        struct place *version; /* of the app; NULL: unknown */
        double weight, effect;
};

struct why {
        const struct joint *joint;
        struct report *report;
        struct word *words;
        struct place *places;
        const char *version; /* the word, which is a feature as others are */
        struct context *contexts;
        size_t n_contexts, capacity;
        struct item *items;
        size_t n_items, items_capacity;
        size_t node;            /* counts nodes that are summed up */
        struct moments all;     /* of the node; */
        struct place **seen, **own; /* what it has, and what the client has that is added */
        size_t n_seen, n_own, seen_capacity, own_capacity;
};

/* Mean effect of items, and its variance, one client one observation. */
struct node {
        double effect, variance, clients, equal; /* equal: as many clients of the same weight tell as much */
};

static const char *word_of(struct why *why, const char *text)
{
        struct word *word;
        size_t length = strnlen(text, TEXT_MAX);

        HASH_FIND(hh, why->words, text, length, word);
        if (word)
                return word->text;
        word = calloc(1, sizeof(*word) + length + 1);
        if (!word)
                return NULL;
        memcpy(word->text, text, length);
        HASH_ADD_KEYPTR(hh, why->words, word->text, length, word);
        if (HASH_HAS(word))
                return word->text;
        free(word);
        return NULL;
}

static void clear(struct why *why)
{
        struct place *place, *next_place;
        struct word *word, *next;

        HASH_ITER(hh, why->places, place, next_place) {
                HASH_DEL(why->places, place);
                free(place);
        }
        HASH_ITER(hh, why->words, word, next) {
                HASH_DEL(why->words, word);
                free(word);
        }
        for (size_t i = 0; i < why->n_contexts; i++) {
                free(why->contexts[i].places);
                free(why->contexts[i].versions);
        }
        free(why->contexts);
        free(why->items);
        free(why->seen);
        free(why->own);
}

/* The place of two words; NULL without memory. */
static struct place *find_place(struct why *why, const char *key, const char *value)
{
        struct place *place, *any = value ? find_place(why, key, NULL) : NULL, new = { .words = { key, value } };

        HASH_FIND(hh, why->places, &new.words, sizeof(new.words), place);
        if (place || (value && !any))
                return place;
        place = calloc(1, sizeof(*place));
        if (!place)
                return NULL;
        place->words.key = key;
        place->words.value = value;
        place->any = any;
        HASH_ADD(hh, why->places, words, sizeof(place->words), place);
        if (HASH_HAS(place))
                return place;
        free(place);
        return NULL;
}

/* Of a feature that is there twice, the first counts. */
static int add_feature(struct why *why, struct context *context, const char *key, const char *value)
{
        const char *key_word, *value_word;
        struct place *place;

        if (!key || !value || !*key || !*value)
                return 0;
        key_word = word_of(why, key);
        value_word = word_of(why, value);
        place = key_word && value_word ? find_place(why, key_word, value_word) : NULL;
        if (!place || util_grow(&context->places, &context->capacity, context->n + 1, sizeof(struct place *)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < context->n; i++)
                if (context->places[i]->any == place->any)
                        return 0;
        context->places[context->n++] = place;
        return 0;
}

/* Texts, numbers and booleans; what is nested is nothing to split by. */
static int add_features(struct why *why, struct context *context, const char *text)
{
        cJSON *object = text ? cJSON_Parse(text) : NULL;
        const cJSON *item;
        int err = 0;

        cJSON_ArrayForEach(item, object) {
                char number[32];

                if (cJSON_IsString(item))
                        err = add_feature(why, context, item->string, item->valuestring);
                else if (cJSON_IsNumber(item))
                        err = add_feature(why, context, item->string,
                                          util_print_double(item->valuedouble, number, sizeof(number)));
                else if (cJSON_IsBool(item))
                        err = add_feature(why, context, item->string, cJSON_IsTrue(item) ? "yes" : "no");
                if (err < 0)
                        break;
        }
        cJSON_Delete(object);
        return err;
}

static int read_contexts(struct database *database, struct why *why)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT client, id, os, model, features, versions FROM context ORDER BY client, id",
                                  &select);

        if (rc < 0)
                return rc;
        while ((rc = select->ops->step(select)) == 1) {
                const char *versions = select->ops->get_text(select, 5);
                struct context *context;

                rc = util_grow(&why->contexts, &why->capacity, why->n_contexts + 1, sizeof(*why->contexts));
                if (rc < 0)
                        return rc;
                context = &why->contexts[why->n_contexts++];
                *context = (struct context){ .client = select->ops->get_int(select, 0), .id = select->ops->get_int(select, 1) };
                context->versions = versions ? strdup(versions) : NULL;
                rc = versions && !context->versions ? -ENOMEM : add_feature(why, context, "os", select->ops->get_text(select, 2));
                if (!rc)
                        rc = add_feature(why, context, "model", select->ops->get_text(select, 3));
                if (!rc)
                        rc = add_features(why, context, select->ops->get_text(select, 4));
                if (rc < 0)
                        return rc;
        }
        return rc;
}

static int compare_context(const void *key, const void *element)
{
        const struct context *a = key, *b = element;

        if (a->client != b->client)
                return a->client < b->client ? -1 : 1;
        return a->id < b->id ? -1 : a->id > b->id;
}

static const struct context *find_context(const struct why *why, int64_t client, int64_t id)
{
        const struct context key = { .client = client, .id = id };

        return why->n_contexts ? bsearch(&key, why->contexts, why->n_contexts, sizeof(key), compare_context) : NULL;
}

/* The app's version there. 0 and NULL: unknown. */
static int find_version(struct why *why, const struct context *context, int64_t app, struct place **ret)
{
        char text[24], version[TEXT_MAX];
        const char *line = context ? context->versions : NULL;
        size_t length = (size_t)snprintf(text, sizeof(text), "%lld ", (long long)app);

        *ret = NULL;
        for (; line && *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
                if (strncmp(line, text, length) == 0) {
                        const char *word;

                        snprintf(version, sizeof(version), "%.*s", (int)strcspn(line + length, "\n"), line + length);
                        word = word_of(why, version);
                        *ret = word ? find_place(why, why->version, word) : NULL;
                        return *ret ? 0 : -ENOMEM;
                }
        return 0;
}

/* Sums over one client's rates. */
struct with_without {
        double with, without, s_with, s_without;
};

static struct with_without sum_client(const struct joint *joint, size_t client, size_t rank)
{
        struct with_without sums = { .with = 0 };

        for (size_t i = joint->clients[client].first; i < joint->clients[client].end; i++) {
                bool with;
                double sum = joint_sum(joint, i, rank, &with);

                *(with ? &sums.with : &sums.without) += joint->cells[i].n;
                *(with ? &sums.s_with : &sums.s_without) += sum;
        }
        return sums;
}

/* The item of a context, made if there is none among those from @first. */
static int find_item(struct why *why, size_t first, uint32_t client, int64_t context, int64_t app, struct item **ret)
{
        const struct context *found = find_context(why, why->joint->clients[client].id, context);
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
        **ret = (struct item){ .client = client, .context = found };
        return find_version(why, found, app, &(*ret)->version);
}

static int add_client(struct why *why, uint32_t client, size_t rank)
{
        const struct joint *joint = why->joint;
        struct with_without sums = sum_client(joint, client, rank);
        double mean = (sums.s_with + sums.s_without) / (sums.with + sums.without), without;
        size_t first = why->n_items;
        int64_t app = why->report->apps[joint->apps[rank]].id;

        if (!(sums.with > 0 && sums.without > 0 && mean > 0))
                return 0;
        without = sums.s_without / sums.without;
        for (size_t i = joint->clients[client].first; i < joint->clients[client].end; i++) {
                struct item *item;
                bool with;
                double sum = joint_sum(joint, i, rank, &with);
                int err;

                if (!with)
                        continue;
                err = find_item(why, first, client, joint->cells[i].context, app, &item);
                if (err < 0)
                        return err;
                item->weight += joint->cells[i].n; /* until all are there: how many rates, */
                item->effect += sum;               /* and their sum */
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

/* What the item has of a feature; NULL: nothing. */
static const struct place *place_of(const struct why *why, const struct item *item, const char *key)
{
        if (key == why->version)
                return item->version;
        for (size_t i = 0; item->context && i < item->context->n; i++)
                if (item->context->places[i]->words.key == key)
                        return item->context->places[i];
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

static int touch(struct why *why, struct place *place, const struct item *item)
{
        if (place->node != why->node) {
                const struct moments none = { .w = 0 };

                if (util_grow(&why->seen, &why->seen_capacity, why->n_seen + 1, sizeof(struct place *)) < 0)
                        return -ENOMEM;
                why->seen[why->n_seen++] = place;
                place->node = why->node;
                place->there = place->else_too = place->in_all = none;
        }
        if (!place->items) {
                if (util_grow(&why->own, &why->own_capacity, why->n_own + 1, sizeof(struct place *)) < 0)
                        return -ENOMEM;
                why->own[why->n_own++] = place;
        }
        place->items++;
        place->w += item->weight;
        place->e += item->weight * item->effect;
        return place->any ? touch(why, place->any, item) : 0;
}

static void end_client(struct why *why)
{
        for (size_t i = 0; i < why->n_own; i++) {
                struct place *place = why->own[i];
                const struct place *any = place->any;

                add_observation(&place->there, place->w, place->e);
                if (!any)
                        continue;
                add_observation(&place->in_all, any->w, any->e);
                if (any->items > place->items)
                        add_observation(&place->else_too, any->w - place->w, any->e - place->e);
        }
        for (size_t i = 0; i < why->n_own; i++) {
                why->own[i]->items = 0;
                why->own[i]->w = why->own[i]->e = 0;
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
                        for (size_t j = 0; !err && item->context && j < item->context->n; j++)
                                err = touch(why, item->context->places[j], item);
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
static struct node node_elsewhere(const struct place *place)
{
        const struct moments *all = &place->any->there, *mixed = &place->in_all, *rest = &place->else_too;
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
                struct node there = node_of(&place->there), elsewhere = node_elsewhere(place);
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
        int rc = depth < DEPTH_MAX ? find_split(why, inside, &split) : 0;

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
        struct feature within[DEPTH_MAX];

        if (!inside)
                return -ENOMEM;
        memset(inside, true, why->n_items);
        return grow(why, app, inside, within, 0);
}

static int add_version(struct report *report, const struct app_report *app, const char *version, const struct node *node)
{
        struct version_report *versions = reallocarray(report->versions, report->n_versions + 1, sizeof(*versions));
        double half = sqrt(node->variance) * quantile_student_t(MAX(node->equal - 1, 1), 0.95);

        if (!versions)
                return -ENOMEM;
        report->versions = versions;
        versions[report->n_versions++] = (struct version_report){
                .app = app->id, .version = strdup(version), .clients = node->clients,
                .effect = node->effect, .effect_low = node->effect - half, .effect_high = node->effect + half };
        return versions[report->n_versions - 1].version ? 0 : -ENOMEM;
}

/* The effect of each version that enough clients have. */
static int list_versions(struct why *why, const struct app_report *app)
{
        _cleanup_free_ bool *inside = malloc(why->n_items + 1);
        int err = -ENOMEM;

        if (inside) {
                memset(inside, true, why->n_items);
                err = sum_inside(why, inside);
        }
        for (size_t i = 0; !err && i < why->n_seen; i++) {
                struct node node = node_of(&why->seen[i]->there);

                if (why->seen[i]->words.key == why->version && node.clients >= COMMUNITY_CLIENTS_MIN && isfinite(node.variance))
                        err = add_version(why->report, app, why->seen[i]->words.value, &node);
        }
        return err;
}

/* Items by client, as report_joint() has clients by number. */
static int explain_app(struct why *why, size_t rank)
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
                err = list_versions(why, app);
        return err;
}

int report_why(struct database *database, const struct joint *joint, struct report *report)
{
        struct why why = { .joint = joint, .report = report };
        int err = joint->n ? read_contexts(database, &why) : 0;

        why.version = word_of(&why, "version");
        if (!why.version)
                err = -ENOMEM;
        for (size_t rank = 0; !err && rank < joint->n; rank++)
                if (report->apps[joint->apps[rank]].drop.hog || (int64_t)joint->apps[rank] == report->asked)
                        err = explain_app(&why, rank);
        clear(&why);
        return err;
}
