/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an app's effect depends on: the tree of the paper, reduced to what is minimal, complete and actionable. A node has
 * what some clients' contexts (features of the device and of the time) make of the app's effect; the effect of a client in
 * a context compares the rates with the app there with all of its rates without. A node is split by the feature and value with which the effect is
 * the most greater than without, if that is no chance; of equal ones, by the first name. The side that costs less is reported if who
 * is on the other can get there, and is not split further; the other side is.
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

struct context {
        int64_t client, id;
        struct feature *features;
        size_t n, capacity;
        char *versions; /* lines "NUMBER VERSION" */
};

/* The effect on a client in a context. */
struct item {
        uint32_t client;
        const struct context *context;
        const char *version; /* of the app; a word, or NULL */
        double weight, effect;
};

struct why {
        const struct joint *joint;
        struct report *report;
        struct word *words;
        const char *version; /* the word, which is a feature as others are */
        struct context *contexts;
        size_t n_contexts, capacity;
        struct item *items;
        size_t n_items, items_capacity;
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
        struct word *word, *next;

        HASH_ITER(hh, why->words, word, next) {
                HASH_DEL(why->words, word);
                free(word);
        }
        for (size_t i = 0; i < why->n_contexts; i++) {
                free(why->contexts[i].features);
                free(why->contexts[i].versions);
        }
        free(why->contexts);
        free(why->items);
}

static int add_feature(struct why *why, struct context *context, const char *key, const char *value)
{
        struct feature feature;
        int err;

        if (!key || !value || !*key || !*value)
                return 0;
        feature = (struct feature){ word_of(why, key), word_of(why, value), false };
        err = util_grow(&context->features, &context->capacity, context->n + 1, sizeof(*context->features));
        if (err < 0 || !feature.key || !feature.value)
                return -ENOMEM;
        context->features[context->n++] = feature;
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
                        err = add_feature(why, context, item->string, util_print_double(item->valuedouble, number, sizeof(number)));
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
        int rc = database_prepare(database, "SELECT client, id, os, model, features, versions FROM context ORDER BY client, id", &select);

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
static int find_version(struct why *why, const struct context *context, int64_t app, const char **ret)
{
        char text[24], version[TEXT_MAX];
        const char *line = context ? context->versions : NULL;
        size_t length = (size_t)snprintf(text, sizeof(text), "%lld ", (long long)app);

        *ret = NULL;
        for (; line && *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
                if (strncmp(line, text, length) == 0) {
                        snprintf(version, sizeof(version), "%.*s", (int)strcspn(line + length, "\n"), line + length);
                        *ret = word_of(why, version);
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

static const char *value_of(const struct why *why, const struct item *item, const char *key)
{
        if (key == why->version)
                return item->version;
        for (size_t i = 0; item->context && i < item->context->n; i++)
                if (item->context->features[i].key == key)
                        return item->context->features[i].value;
        return NULL;
}

/* Of the items that are in @inside: those with @value of @key (@is), or with another. NULL: all. Items of a client are beside each other. */
static struct node sum_node(const struct why *why, const bool *inside, const char *key, const char *value, bool is)
{
        struct node node = { .effect = 0 };
        double w = 0, wx = 0, squares = 0, weights = 0;

        for (size_t i = 0; i < why->n_items; i++) {
                const char *own = inside[i] && key ? value_of(why, &why->items[i], key) : NULL;

                if (!inside[i] || (key && (!own || (own == value) != is)))
                        continue;
                w += why->items[i].weight;
                wx += why->items[i].weight * why->items[i].effect;
        }
        node.effect = w > 0 ? wx / w : 0;
        for (size_t i = 0; i < why->n_items;) {
                uint32_t client = why->items[i].client;
                double own_w = 0, own_wx = 0;

                for (; i < why->n_items && why->items[i].client == client; i++) {
                        const char *own = inside[i] && key ? value_of(why, &why->items[i], key) : NULL;

                        if (!inside[i] || (key && (!own || (own == value) != is)))
                                continue;
                        own_w += why->items[i].weight;
                        own_wx += why->items[i].weight * why->items[i].effect;
                }
                node.clients += own_w > 0;
                weights += own_w * own_w;
                squares += (own_wx - node.effect * own_w) * (own_wx - node.effect * own_w);
        }
        node.equal = weights > 0 ? w * w / weights : 0;
        node.variance = node.equal > 1 ? squares / (w * w) * node.equal / (node.equal - 1) : INFINITY;
        return node;
}

static int compare_features(const void *a, const void *b)
{
        const struct feature *x = a, *y = b;
        int order = strcmp(x->key, y->key);

        return order ? order : strcmp(x->value, y->value);
}

/* All features and values of the items inside, each once, by name. */
static int list_features(const struct why *why, const bool *inside, struct feature **ret, size_t *ret_n)
{
        size_t n = 0, capacity = 0, kept = 0;

        for (size_t i = 0; i < why->n_items; i++) {
                const struct context *context = inside[i] ? why->items[i].context : NULL;

                if (!context)
                        continue;
                if (util_grow(ret, &capacity, n + context->n + 1, sizeof(**ret)) < 0)
                        return -ENOMEM;
                if (context->n)
                        memcpy(*ret + n, context->features, context->n * sizeof(**ret));
                n += context->n;
                if (why->items[i].version)
                        (*ret)[n++] = (struct feature){ why->version, why->items[i].version, false };
        }
        if (n)
                qsort(*ret, n, sizeof(**ret), compare_features);
        for (size_t i = 0; i < n; i++)
                if (!kept || compare_features(&(*ret)[kept - 1], &(*ret)[i]) != 0)
                        (*ret)[kept++] = (*ret)[i];
        *ret_n = kept;
        return 0;
}

struct split {
        struct feature feature;
        struct node there, elsewhere;
};

/* The greatest difference that is none by chance. 1; 0: there is none; -ENOMEM. */
static int find_split(const struct why *why, const bool *inside, struct split *ret)
{
        _cleanup_free_ struct feature *features = NULL;
        size_t n = 0;
        double greatest = MAX(DIFFERENCE_MIN, PART_MIN * sum_node(why, inside, NULL, NULL, true).effect);
        bool found = false;
        int err = list_features(why, inside, &features, &n);

        for (size_t i = 0; !err && i < n; i++) {
                struct split split = { features[i], sum_node(why, inside, features[i].key, features[i].value, true),
                                       sum_node(why, inside, features[i].key, features[i].value, false) };
                double difference = split.there.effect - split.elsewhere.effect, t;

                if (split.there.clients < COMMUNITY_CLIENTS_MIN || split.elsewhere.clients < COMMUNITY_CLIENTS_MIN || difference <= greatest)
                        continue;
                t = difference / sqrt(split.there.variance + split.elsewhere.variance);
                if (!(drop_student_upper(t, MAX(MIN(split.there.equal, split.elsewhere.equal) - 1, 1)) * (double)n <= CHANCE_MAX))
                        continue;
                *ret = split;
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
                if (asprintf(&reason->within[reason->n_within], "%s %s%s", within[i].key, within[i].not ? "not " : "", within[i].value) < 0) {
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
                const char *own = inside[i] ? value_of(why, &why->items[i], within[depth].key) : NULL;

                side[i] = own && (own == within[depth].value) != not;
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
        versions[report->n_versions++] = (struct version_report){ .app = app->id, .version = strdup(version), .clients = node->clients,
                .effect = node->effect, .effect_low = node->effect - half, .effect_high = node->effect + half };
        return versions[report->n_versions - 1].version ? 0 : -ENOMEM;
}

static int compare_words(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The effect of each version that enough clients have. */
static int list_versions(struct why *why, const struct app_report *app)
{
        _cleanup_free_ const char **versions = calloc(why->n_items + 1, sizeof(*versions));
        _cleanup_free_ bool *inside = calloc(why->n_items + 1, sizeof(*inside));
        size_t n = 0;
        int err = versions && inside ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i < why->n_items; i++)
                if (why->items[i].version)
                        versions[n++] = why->items[i].version;
        if (!err && n)
                qsort(versions, n, sizeof(*versions), compare_words);
        for (size_t i = 0; !err && i < n; i++) {
                struct node node;

                if (i && versions[i] == versions[i - 1])
                        continue;
                for (size_t j = 0; j < why->n_items; j++)
                        inside[j] = why->items[j].version == versions[i];
                node = sum_node(why, inside, NULL, NULL, true);
                if (node.clients >= COMMUNITY_CLIENTS_MIN && isfinite(node.variance))
                        err = add_version(why->report, app, versions[i], &node);
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
