/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "shared/order.h"
#include "report-features.h"
#include "util/util.h"

#define STRATA_MAX 256 /* for a client: all further ones are one */

struct word {
        UT_hash_handle hh;
        char text[];
};

static const char *word_of(struct features *features, const char *text)
{
        struct word *word;
        size_t length = strnlen(text, FEATURE_TEXT_MAX);

        HASH_FIND(hh, features->words, text, length, word);
        if (word)
                return word->text;
        word = calloc(1, sizeof(*word) + length + 1);
        if (!word)
                return NULL;
        memcpy(word->text, text, length);
        HASH_ADD_KEYPTR(hh, features->words, word->text, length, word);
        if (HASH_HAS(word))
                return word->text;
        free(word);
        return NULL;
}

void features_clear(struct features *features)
{
        struct traits *traits, *next;

        HASH_FREE(features->places);
        HASH_FREE(features->words);
        HASH_ITER(hh, features->traits, traits, next) {
                HASH_DEL(features->traits, traits);
                free(traits->places);
                free(traits->text);
                free(traits);
        }
        free(features->contexts);
        free(features->versions);
}

/* Finds or adds the entry of a key and a value; NULL without memory. */
static struct place *find_place(struct features *features, const char *key, const char *value)
{
        struct place *place, *any = value ? find_place(features, key, NULL) : NULL, new = { .words = { key, value } };

        HASH_FIND(hh, features->places, &new.words, sizeof(new.words), place);
        if (place || (value && !any))
                return place;
        place = calloc(1, sizeof(*place));
        if (!place)
                return NULL;
        place->words.key = key;
        place->words.value = value;
        place->any = any;
        place->index = features->n_places;
        HASH_ADD(hh, features->places, words, sizeof(place->words), place);
        if (HASH_HAS(place)) {
                features->n_places++;
                return place;
        }
        free(place);
        return NULL;
}

/* If a feature occurs twice, the first one counts. */
static int add_feature(struct features *features, struct traits *traits, const char *key, const char *value)
{
        const char *key_word, *value_word;
        struct place *place;

        if (!key || !value || !*key || !*value)
                return 0;
        key_word = word_of(features, key);
        value_word = word_of(features, value);
        place = key_word && value_word ? find_place(features, key_word, value_word) : NULL;
        if (!place || util_grow(&traits->places, &traits->capacity, traits->n + 1, sizeof(struct place *)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < traits->n; i++)
                if (traits->places[i]->any == place->any)
                        return 0;
        traits->places[traits->n++] = place;
        return 0;
}

/* Takes texts, numbers and booleans; nested values are not used for splits. */
static int add_features(struct features *features, struct traits *traits, const char *text)
{
        cJSON *object = text ? cJSON_Parse(text) : NULL;
        const cJSON *item;
        int err = 0;

        cJSON_ArrayForEach(item, object) {
                char number[32];

                if (cJSON_IsString(item))
                        err = add_feature(features, traits, item->string, item->valuestring);
                else if (cJSON_IsNumber(item))
                        err = add_feature(features, traits, item->string,
                                          util_print_double(item->valuedouble, number, sizeof(number)));
                else if (cJSON_IsBool(item))
                        err = add_feature(features, traits, item->string, cJSON_IsTrue(item) ? "yes" : "no");
                if (err < 0)
                        break;
        }
        cJSON_Delete(object);
        return err;
}

static int read_traits(struct features *features, struct statement *select, struct traits *traits)
{
        int err = add_feature(features, traits, "os", select->ops->get_text(select, 2));

        if (!err)
                err = add_feature(features, traits, "model", select->ops->get_text(select, 3));
        return err ? err : add_features(features, traits, select->ops->get_text(select, 4));
}

/* Most headers have the same features as others, so each distinct text is parsed once. */
static int find_traits(struct features *features, struct statement *select, const struct traits **ret)
{
        _cleanup_free_ char *text = NULL;
        struct traits *traits;
        const char *parts[3];
        int length;

        for (int i = 0; i < 3; i++) {
                parts[i] = select->ops->get_text(select, 2 + i);
                parts[i] = parts[i] ? parts[i] : "";
        }
        length = asprintf(&text, "%s%c%s%c%s", parts[0], 0, parts[1], 0, parts[2]);
        if (length < 0) {
                text = NULL;
                return -ENOMEM;
        }
        HASH_FIND(hh, features->traits, text, (size_t)length, traits);
        if (!traits) {
                traits = calloc(1, sizeof(*traits));
                if (!traits)
                        return -ENOMEM;
                traits->text = TAKE_PTR(text);
                HASH_ADD_KEYPTR(hh, features->traits, traits->text, (size_t)length, traits);
                if (!HASH_HAS(traits)) {
                        free(traits->text);
                        free(traits);
                        return -ENOMEM;
                }
                if (read_traits(features, select, traits) < 0)
                        return -ENOMEM;
        }
        *ret = traits;
        return 0;
}

static int add_version(struct features *features, size_t first, size_t rank, const char *text, size_t length)
{
        char version[FEATURE_TEXT_MAX];
        const struct place *place;
        const char *word;

        for (size_t i = first; i < features->n_versions; i++)
                if (features->versions[i].rank == rank)
                        return 0;
        snprintf(version, sizeof(version), "%.*s", (int)MIN(length, sizeof(version)), text);
        word = word_of(features, version);
        place = word ? find_place(features, features->version, word) : NULL;
        if (!place || util_grow(&features->versions, &features->versions_capacity, features->n_versions + 1,
                                sizeof(*features->versions)) < 0)
                return -ENOMEM;
        features->versions[features->n_versions++] = (struct app_version){ rank, place };
        return 0;
}

/* Does the report tell this app's versions? */
static bool has_versions(const struct joint *joint, int32_t rank)
{
        const struct report *report = joint->report;

        return rank >= 0 && (report->apps[joint->apps[rank]].drop.hog || (int64_t)joint->apps[rank] == report->asked);
}

/* Parses "NUMBER VERSION" lines; only versions of hogs, and of the app that was asked for, are kept. */
static int add_versions(struct features *features, const struct joint *joint, const char *line)
{
        size_t first = features->n_versions;
        int err = 0;

        while (!err && line && *line) {
                size_t length = strcspn(line, "\n");
                char *end;
                int32_t rank = joint_rank(joint, strtoll(line, &end, 10));

                if (has_versions(joint, rank) && *end == ' ')
                        err = add_version(features, first, (size_t)rank, end + 1, length - (size_t)(end + 1 - line));
                line += length + (line[length] == '\n');
        }
        return err;
}

static int add_context(struct features *features, struct statement *select)
{
        struct context *context;
        int err = util_grow(&features->contexts, &features->contexts_capacity, features->n_contexts + 2,
                            sizeof(*context));

        if (err < 0)
                return err;
        context = &features->contexts[features->n_contexts++];
        *context = (struct context){ .client = select->ops->get_int(select, 0), .id = select->ops->get_int(select, 1) };
        context[1] = (struct context){ .client = 0 };
        return find_traits(features, select, &context->traits);
}

int features_read(struct database *database, struct features *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc;

        *ret = (struct features){ .words = NULL };
        ret->version = word_of(ret, "version");
        if (!ret->version)
                return -ENOMEM;
        rc = database_prepare(database, "SELECT client, id, os, model, features FROM context ORDER BY client, id",
                              &select);
        while (rc >= 0 && (rc = select->ops->step(select)) == 1)
                rc = add_context(ret, select);
        return rc;
}

int features_read_versions(struct database *database, const struct joint *joint, struct features *features)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        size_t i = 0;
        int rc = database_prepare(database, "SELECT client, id, versions FROM context ORDER BY client, id", &select);

        while (rc >= 0 && i < features->n_contexts && (rc = select->ops->step(select)) == 1) {
                struct context *context = &features->contexts[i++];

                rc = add_versions(features, joint, select->ops->get_text(select, 2));
                context[1].first_version = features->n_versions;
        }
        if (rc == 1)
                select->ops->reset(select);
        return rc < 0 ? rc : 0;
}

static int compare_context(const void *key, const void *element)
{
        const struct context *a = key, *b = element;

        if (a->client != b->client)
                return a->client < b->client ? -1 : 1;
        return a->id < b->id ? -1 : a->id > b->id;
}

/* Finds the headers of a client's contexts. Both lists are ascending. */
static int find_contexts(struct strata *strata, const struct features *features, int64_t client,
                         const struct client_rates *rates)
{
        const struct context first = { .client = client, .id = rates->n_contexts ? rates->contexts[0] : 0 };
        size_t at = util_lower_bound(&first, features->contexts, features->n_contexts, sizeof(first), compare_context);

        if (util_grow(&strata->contexts, &strata->contexts_capacity, rates->n_contexts + 1,
                      sizeof(*strata->contexts)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < rates->n_contexts; i++) {
                const struct context key = { .client = client, .id = rates->contexts[i] };

                while (at < features->n_contexts && compare_context(&key, &features->contexts[at]) > 0)
                        at++;
                strata->contexts[i] = at < features->n_contexts && !compare_context(&key, &features->contexts[at]) ?
                                      &features->contexts[at] : NULL;
        }
        return 0;
}

const struct place *features_version(const struct features *features, const struct context *context, size_t rank)
{
        if (!context)
                return NULL;
        for (size_t i = context->first_version; i < context[1].first_version; i++)
                if (features->versions[i].rank == rank)
                        return features->versions[i].place;
        return NULL;
}

struct stratum_key {
        uint64_t hash;
        uint32_t context;
};

void strata_clear(struct strata *strata)
{
        free(strata->keys);
        free(strata->places);
        free(strata->contexts);
        free(strata->of);
}

static int compare_keys(const void *a, const void *b)
{
        const struct stratum_key *x = a, *y = b;

        return ORDER_TWO(x->hash, y->hash, x->context, y->context);
}

/* By feature, then by value; the numbers are those of the features as they were read. */
static int compare_indices(const void *a, const void *b)
{
        const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;

        return ORDER_TWO(x->any->index, y->any->index, x->index, y->index);
}

/* Leaves one entry of each feature that has too many values. Returns how many. */
static size_t keep_measurements(const struct place **places, size_t n)
{
        size_t kept = 0;

        if (n)
                qsort(places, n, sizeof(*places), compare_indices);
        for (size_t i = 0, values = 0; i < n; i++) {
                if (i == 0 || places[i]->any != places[i - 1]->any)
                        values = 0;
                if (i == 0 || places[i] != places[i - 1])
                        if (++values == FEATURE_VALUES_MAX + 1)
                                places[kept++] = places[i]->any;
        }
        return kept;
}

/* Lists all features with their values that the client's contexts have. */
static int list_places(struct strata *strata, size_t n_contexts, size_t *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < n_contexts; i++) {
                const struct context *context = strata->contexts[i];
                size_t more = context ? context->traits->n : 0;

                if (util_grow(&strata->places, &strata->places_capacity, n + more + 1, sizeof(*strata->places)) < 0)
                        return -ENOMEM;
                if (more)
                        memcpy(strata->places + n, context->traits->places, more * sizeof(*strata->places));
                n += more;
        }
        *ret = n;
        return 0;
}

static uint64_t mix(uint64_t number)
{
        number = (number ^ number >> 31) * 0x9E3779B97F4A7C15;
        number = (number ^ number >> 29) * 0xBF58476D1CE4E5B9;
        return number ^ number >> 32;
}

/* A number for a context's features, in whichever order, without @measurements. */
static uint64_t hash_context(const struct context *context, const struct place *const *measurements, size_t n)
{
        uint64_t hash = 0;

        for (size_t i = 0; context && i < context->traits->n; i++) {
                const struct place *place = context->traits->places[i];
                size_t j = 0;

                while (j < n && measurements[j] != place->any)
                        j++;
                hash += j == n ? mix(place->index + 1) : 0;
        }
        return hash;
}

int strata_set(struct strata *strata, const struct features *features, int64_t client, struct client_rates *rates)
{
        size_t n_places;

        if (find_contexts(strata, features, client, rates) < 0)
                return -ENOMEM;
        if (rates->n_contexts <= 1)
                return 0; /* all rates are of one stratum, as they are when read */
        if (util_grow(&strata->keys, &strata->keys_capacity, rates->n_contexts, sizeof(*strata->keys)) < 0 ||
            util_grow(&strata->of, &strata->of_capacity, rates->n_contexts, sizeof(*strata->of)) < 0 ||
            list_places(strata, rates->n_contexts, &n_places) < 0)
                return -ENOMEM;
        n_places = keep_measurements(strata->places, n_places);
        for (size_t i = 0; i < rates->n_contexts; i++)
                strata->keys[i] = (struct stratum_key){
                        hash_context(strata->contexts[i], strata->places, n_places), (uint32_t)i };
        qsort(strata->keys, rates->n_contexts, sizeof(*strata->keys), compare_keys);
        for (size_t i = 0, stratum = 0; i < rates->n_contexts; i++) {
                stratum += i > 0 && strata->keys[i].hash != strata->keys[i - 1].hash && stratum < STRATA_MAX - 1;
                strata->of[strata->keys[i].context] = (uint32_t)stratum;
        }
        client_rates_stratify(rates, strata->of);
        return 0;
}
