/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fields.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "utc.h"
#include "util.h"

#define NUMBER_MAX 1e18

static const char *const value_words[] = { "value", "low", "high" };

const struct field fields_strings[] = { { "", 0, sizeof(char *), FIELD_STRING, FIELD_MUST }, FIELDS_END };

struct cJSON *fields_integer(uint64_t value)
{
        char text[24];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        return cJSON_CreateRaw(text);
}

int fields_read_integer(const struct cJSON *json, double max, double *ret)
{
        if (!cJSON_IsNumber(json) || !(json->valuedouble >= 0) || json->valuedouble > max ||
            json->valuedouble != floor(json->valuedouble))
                return -EINVAL;
        *ret = json->valuedouble;
        return 0;
}

struct cJSON *fields_text(const char *text)
{
        char printable[1024];

        return text ? cJSON_CreateString(util_printable(text, printable, sizeof(printable))) : cJSON_CreateNull();
}

static struct cJSON *exact_to_json(double value)
{
        char text[32];

        if (!isfinite(value))
                return cJSON_CreateNull();
        return cJSON_CreateRaw(util_print_double(value, text, sizeof(text)));
}

struct cJSON *fields_short(double value)
{
        locale_t before = util_enter_c_locale();
        char text[32];
        double rounded = value;

        snprintf(text, sizeof(text), "%.9g", value);
        (void)util_parse_double(text, &rounded);
        util_leave_c_locale(before);
        return cJSON_CreateNumber(rounded);
}

static struct cJSON *i64_to_json(int64_t value)
{
        char text[24];

        snprintf(text, sizeof(text), "%lld", (long long)value);
        return cJSON_CreateString(text);
}

struct cJSON *fields_time(int64_t time_ns)
{
        char text[32];

        if (time_ns == INT64_MIN)
                return cJSON_CreateNull();
        utc_print(time_ns, text, sizeof(text));
        return cJSON_CreateString(text);
}

static struct cJSON *reals_to_json(const double *values, const char *const *words, size_t n)
{
        struct cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < n; i++)
                cJSON_AddNumberToObject(json, words[i], values[i]);
        return json;
}

struct cJSON *fields_value(const double value[3])
{
        return reals_to_json(value, value_words, ARRAY_SIZE(value_words));
}

static struct cJSON *to_json(const struct field *field, const void *from);

static struct cJSON *list_to_json(const struct field *field, const char *list, size_t n)
{
        struct cJSON *json = cJSON_CreateArray(), *item;

        for (size_t i = 0; i < n; i++, list += field->element) {
                item = *field->of->key ? cJSON_CreateObject() : to_json(field->of, list);
                if (*field->of->key)
                        fields_to_json(field->of, list, item);
                if (!cJSON_AddItemToArray(json, item))
                        cJSON_Delete(item);
        }
        return json;
}

/* By its size, as a size_t has 32 bits on some machines. */
static uint64_t whole_number(const struct field *field, const void *at)
{
        return field->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static struct cJSON *to_json(const struct field *field, const void *from)
{
        const void *at = (const char *)from + field->offset;
        const double per = field->number > 0 ? field->number : 1;

        switch (field->kind) {
        case FIELD_U32:
        case FIELD_U64:
                return field->number > 0 ? cJSON_CreateNumber((double)whole_number(field, at) / per) :
                                           fields_integer(whole_number(field, at));
        case FIELD_I64:
                return i64_to_json(*(const int64_t *)at);
        case FIELD_REAL:
                return exact_to_json(*(const double *)at);
        case FIELD_NUMBER:
                return (field->flags & FIELD_SHORT ? fields_short : cJSON_CreateNumber)(*(const double *)at / per);
        case FIELD_BOOL:
                return cJSON_CreateBool(*(const bool *)at);
        case FIELD_KNOWN:
                return *(const int *)at < 0 ? cJSON_CreateNull() : cJSON_CreateBool(*(const int *)at);
        case FIELD_TEXT:
                return fields_text(field->flags & FIELD_EMPTY && !*(const char *)at ? NULL : at);
        case FIELD_STRING:
                return fields_text(*(const char *const *)at);
        case FIELD_WORD:
                return cJSON_CreateString(field->words[*(const unsigned *)at]);
        case FIELD_TIME:
                return fields_time(*(const int64_t *)at);
        case FIELD_VALUE:
                return fields_value(at);
        case FIELD_REALS:
                return reals_to_json(at, field->words, field->n_words);
        case FIELD_LIST:
        case FIELD_ARRAY:
                return list_to_json(field, field->kind == FIELD_LIST ? *(const char *const *)at : at,
                                    *(const size_t *)(const void *)((const char *)from + field->count));
        case FIELD_FIXED:
                return cJSON_CreateNumber(field->number);
        case FIELD_END:
                break;
        }
        return NULL;
}

/*
 * Follows the path @key to the object that has its last word, and sets @key to that word. @make: adds objects that are
 * missing. NULL: one is missing, or there is no memory.
 */
static struct cJSON *find_parent(struct cJSON *json, const char **key, bool make)
{
        const char *dot;
        char word[32];

        for (; (dot = strchr(*key, '.')); *key = dot + 1) {
                struct cJSON *part;

                snprintf(word, sizeof(word), "%.*s", (int)(dot - *key), *key);
                part = cJSON_GetObjectItemCaseSensitive(json, word);
                json = part || !make ? part : cJSON_AddObjectToObject(json, word);
        }
        return json;
}

void fields_to_json(const struct field *fields, const void *from, struct cJSON *to)
{
        for (; fields->kind != FIELD_END; fields++) {
                const char *key = fields->key;
                struct cJSON *parent = find_parent(to, &key, true);
                struct cJSON *item = to_json(fields, from);

                if (fields->flags & FIELD_SOME && item && !item->child) {
                        cJSON_Delete(item);
                        continue;
                }
                if (!cJSON_AddItemToObject(parent, key, item))
                        cJSON_Delete(item);
        }
}

static bool is_unknown(const struct cJSON *json)
{
        return !json || cJSON_IsNull(json);
}

static int read_number(const struct cJSON *json, unsigned flags, double per, double *ret)
{
        if (is_unknown(json) && !(flags & FIELD_MUST)) {
                *ret = NAN;
                return 0;
        }
        if (!cJSON_IsNumber(json) || !(fabs(json->valuedouble) <= NUMBER_MAX) ||
            ((flags & FIELD_AMOUNT) == FIELD_AMOUNT && json->valuedouble < 0))
                return -EBADMSG;
        *ret = json->valuedouble * per;
        return 0;
}

static int read_reals(const struct cJSON *json, const char *const *words, size_t n, double *ret)
{
        int err = is_unknown(json) || cJSON_IsObject(json) ? 0 : -EBADMSG;

        for (size_t i = 0; err == 0 && i < n; i++)
                err = read_number(cJSON_GetObjectItemCaseSensitive(json, words[i]), 0, 1, &ret[i]);
        return err;
}

/* -EBADMSG; else @ret is the text, "" where it may be missing and is. */
static int read_text(const struct cJSON *json, unsigned flags, const char **ret)
{
        bool may = is_unknown(json) && !(flags & FIELD_MUST);

        *ret = may ? "" : cJSON_GetStringValue(json);
        return *ret && (may || **ret || !(flags & FIELD_MUST)) ? 0 : -EBADMSG;
}

static int read_string(const struct cJSON *json, unsigned flags, char **ret)
{
        const char *text;
        int err = read_text(json, flags, &text);

        if (err)
                return err;
        *ret = strdup(text);
        if (!*ret)
                return -ENOMEM;
        util_printable(text, *ret, strlen(text) + 1);
        return 0;
}

static int read_word(const struct field *field, const struct cJSON *json, unsigned *ret)
{
        const char *text = cJSON_GetStringValue(json);

        for (size_t i = 0; text && i < field->n_words; i++) {
                if (strcmp(text, field->words[i]) != 0)
                        continue;
                *ret = (unsigned)i;
                return 0;
        }
        return -EBADMSG;
}

static int read_whole_number(const struct field *field, const struct cJSON *json, void *ret)
{
        const double most = field->size == sizeof(uint32_t) ? UINT32_MAX : FIELDS_INTEGER_MAX;
        double number;
        int err = field->number > 0 ? read_number(json, FIELD_AMOUNT, field->number, &number) :
                                      fields_read_integer(json, most, &number);

        if (err || number > most)
                return -EBADMSG;
        if (field->size == sizeof(uint32_t))
                *(uint32_t *)ret = (uint32_t)number;
        else
                *(uint64_t *)ret = (uint64_t)number;
        return 0;
}

static int read_array(const struct field *field, const struct cJSON *json, char *ret)
{
        const char *text;
        int err = read_text(json, field->flags, &text);

        if (!err && strlen(text) >= field->size && !(field->flags & FIELD_CUT))
                err = -EBADMSG;
        if (!err)
                util_printable(text, ret, field->size);
        return err;
}

static int read_time(const struct field *field, const struct cJSON *json, int64_t *ret)
{
        *ret = INT64_MIN;
        if (is_unknown(json) && !(field->flags & FIELD_MUST))
                return 0;
        return cJSON_IsString(json) && utc_parse(json->valuestring, ret) == 0 ? 0 : -EBADMSG;
}

static int from_json(const struct field *field, const struct cJSON *json, void *to);

static int read_list(const struct field *field, const struct cJSON *json, void *at, size_t *n)
{
        const size_t n_items = cJSON_IsArray(json) ? (size_t)cJSON_GetArraySize(json) : 0;
        const size_t most = field->kind == FIELD_ARRAY ? field->size / field->element :
                            field->max                 ? field->max :
                                                         FIELDS_LIST_MAX;
        const struct cJSON *item;
        char *list = at;
        int err = 0;

        *n = 0;
        if (n_items > most || (!cJSON_IsArray(json) && (!is_unknown(json) || field->flags & FIELD_MUST)))
                return -EBADMSG;
        if (field->kind == FIELD_LIST)
                list = *(char **)at = calloc(n_items + 1, field->element);
        if (!list)
                return -ENOMEM;
        cJSON_ArrayForEach(item, json)
        {
                char *element = list + *n * field->element;

                if (err)
                        break;
                ++*n;
                err = *field->of->key ? fields_from_json(field->of, item, element) :
                                        from_json(field->of, item, element);
        }
        return err;
}

static int from_json(const struct field *field, const struct cJSON *json, void *to)
{
        void *at = (char *)to + field->offset;
        const double per = field->number > 0 ? field->number : 1;

        switch (field->kind) {
        case FIELD_U32:
        case FIELD_U64:
                return read_whole_number(field, json, at);
        case FIELD_I64:
                return cJSON_IsString(json) && util_parse_i64(json->valuestring, at) == 0 ? 0 : -EBADMSG;
        case FIELD_REAL:
        case FIELD_NUMBER:
                return read_number(json, field->flags, per, at);
        case FIELD_BOOL:
                *(bool *)at = cJSON_IsTrue(json);
                return cJSON_IsBool(json) ? 0 : -EBADMSG;
        case FIELD_KNOWN:
                *(int *)at = cJSON_IsBool(json) ? cJSON_IsTrue(json) : -1;
                return cJSON_IsBool(json) || (is_unknown(json) && !(field->flags & FIELD_MUST)) ? 0 : -EBADMSG;
        case FIELD_TEXT:
                return read_array(field, json, at);
        case FIELD_STRING:
                return read_string(json, field->flags, at);
        case FIELD_WORD:
                return read_word(field, json, at);
        case FIELD_TIME:
                return read_time(field, json, at);
        case FIELD_VALUE:
                return read_reals(json, value_words, ARRAY_SIZE(value_words), at);
        case FIELD_REALS:
                return read_reals(json, field->words, field->n_words, at);
        case FIELD_LIST:
        case FIELD_ARRAY:
                return read_list(field, json, at, (size_t *)(void *)((char *)to + field->count));
        case FIELD_FIXED:
                return 0;
        case FIELD_END:
                break;
        }
        return -EBADMSG;
}

int fields_from_json(const struct field *fields, const struct cJSON *json, void *to)
{
        int err = cJSON_IsObject(json) ? 0 : -EBADMSG;

        for (; err == 0 && fields->kind != FIELD_END; fields++) {
                const char *key = fields->key;
                /* Only looked at: nothing is added. */
                struct cJSON *parent = find_parent((struct cJSON *)(uintptr_t)json, &key, false);

                err = from_json(fields, cJSON_GetObjectItemCaseSensitive(parent, key), to);
        }
        return err;
}
