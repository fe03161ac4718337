/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "report-features.h"
#include "util/util.h"

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

/* The place of two words; NULL without memory. */
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

/* Of a feature that is there twice, the first counts. */
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

/* Texts, numbers and booleans; what is nested is nothing to split by. */
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

/* Most headers say what others said: each is taken apart once. */
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

/* Lines "NUMBER VERSION", of which those of the joint's apps are kept. */
static int add_versions(struct features *features, const char *line)
{
        const struct report *report = features->joint->report;
        size_t first = features->n_versions;
        int err = 0;

        while (!err && line && *line) {
                size_t length = strcspn(line, "\n");
                char *end;
                const struct app_report *app = report_app(report, strtoll(line, &end, 10));
                int32_t rank = app ? features->joint->rank_of[app - report->apps] : -1;

                if (rank >= 0 && *end == ' ')
                        err = add_version(features, first, (size_t)rank, end + 1, length - (size_t)(end + 1 - line));
                line += length + (line[length] == '\n');
        }
        return err;
}

static int add_context(struct features *features, struct statement *select)
{
        struct context *context;
        int err = util_grow(&features->contexts, &features->contexts_capacity, features->n_contexts + 2, sizeof(*context));

        if (err < 0)
                return err;
        context = &features->contexts[features->n_contexts++];
        *context = (struct context){ .client = select->ops->get_int(select, 0), .id = select->ops->get_int(select, 1),
                                     .first_version = features->n_versions };
        err = find_traits(features, select, &context->traits);
        if (!err)
                err = add_versions(features, select->ops->get_text(select, 5));
        context[1].first_version = features->n_versions;
        return err;
}

int features_read(struct database *database, const struct joint *joint, struct features *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc;

        *ret = (struct features){ .joint = joint };
        ret->version = word_of(ret, "version");
        if (!ret->version)
                return -ENOMEM;
        rc = database_prepare(database, "SELECT client, id, os, model, features, versions FROM context ORDER BY client, id",
                              &select);
        while (rc >= 0 && (rc = select->ops->step(select)) == 1)
                rc = add_context(ret, select);
        return rc;
}

static int compare_context(const void *key, const void *element)
{
        const struct context *a = key, *b = element;

        if (a->client != b->client)
                return a->client < b->client ? -1 : 1;
        return a->id < b->id ? -1 : a->id > b->id;
}

const struct context *features_find(const struct features *features, int64_t client, int64_t id)
{
        const struct context key = { .client = client, .id = id };

        return features->n_contexts ? bsearch(&key, features->contexts, features->n_contexts, sizeof(key), compare_context) :
               NULL;
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
