/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "usage-json.h"

#include <cjson/cJSON.h>
#include <errno.h>

#include "util/fields.h"
#include "util/util.h"

static bool has(const struct usage *usage, uint32_t have)
{
        return (usage->have & have) == have;
}

/* The members of a point, in the order of the table; @member without a name is left out. */
struct member {
        const char *name;
        size_t offset;
        bool wide;
};

#define POINT_MEMBERS 4
static void members_of(const struct keyed_kind *kind, struct member members[POINT_MEMBERS])
{
        members[0] = (struct member){ kind->group, offsetof(struct point, group), false };
        members[1] = (struct member){ kind->key, offsetof(struct point, key), false };
        members[2] = (struct member){ kind->ns, offsetof(struct point, ns), true };
        members[3] = (struct member){ kind->any_ns, offsetof(struct point, any_ns), true };
}

static cJSON *point_to_json(const struct keyed_kind *kind, const struct point *point)
{
        struct member members[POINT_MEMBERS];
        cJSON *json = cJSON_CreateObject();

        members_of(kind, members);
        for (size_t i = 0; i < POINT_MEMBERS; i++) {
                const char *at = (const char *)point + members[i].offset;
                bool unknown = members[i].name == kind->key && point->key == kind->unknown_key && kind->unknown_key;

                if (members[i].name)
                        cJSON_AddItemToObject(json, members[i].name,
                                              unknown ? cJSON_CreateNull() :
                                              members[i].wide ?
                                                        fields_integer(*(const uint64_t *)(const void *)
                                                                                   at) :
                                                        fields_integer(*(const uint32_t *)(const void *)
                                                                                   at));
        }
        return json;
}

static cJSON *points_to_json(const struct keyed_kind *kind, const struct points *points)
{
        cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < points->n; i++)
                cJSON_AddItemToArray(list, point_to_json(kind, &points->list[i]));
        return list;
}

/* An object for each policy. */
static cJSON *counted_to_json(const struct points *counted)
{
        cJSON *list = cJSON_CreateArray(), *item = NULL;

        for (size_t i = 0; i < counted->n; i++) {
                const struct point *point = &counted->list[i];

                if (point->key >= COUNTED_COUNT)
                        continue;
                if (!item || counted->list[i - 1].policy != point->policy) {
                        item = cJSON_CreateObject();
                        cJSON_AddItemToObject(item, "policy", fields_integer(point->policy));
                        cJSON_AddItemToArray(list, item);
                }
                cJSON_AddItemToObject(item, counted_words[point->key], fields_integer(point->amount));
        }
        return list;
}

cJSON *usage_to_json(const struct usage *usage)
{
        cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                cJSON_AddItemToObject(json, amount_kinds[i].word,
                                      has(usage, amount_kinds[i].have) ? fields_integer(usage->amount[i])
                                                                       : cJSON_CreateNull());
        for (size_t k = 0; k < KEYED_COUNT; k++)
                if (k != KEYED_COUNTED)
                        cJSON_AddItemToObject(json, keyed_kinds[k].word,
                                              has(usage, keyed_kinds[k].have)
                                                      ? points_to_json(&keyed_kinds[k], &usage->keyed[k])
                                                      : cJSON_CreateNull());
        if (usage->counted.n > 0)
                cJSON_AddItemToObject(json, "counted", counted_to_json(&usage->counted));
        return json;
}

static int point_from_json(const cJSON *item, enum keyed keyed, struct usage *usage)
{
        const struct keyed_kind *kind = &keyed_kinds[keyed];
        struct member members[POINT_MEMBERS];
        struct point point = { 0 };

        members_of(kind, members);
        for (size_t i = 0; i < POINT_MEMBERS; i++) {
                char *at = (char *)&point + members[i].offset;
                const cJSON *json = members[i].name ? cJSON_GetObjectItemCaseSensitive(item, members[i].name) : NULL;
                double value = kind->unknown_key;

                if (!members[i].name)
                        continue;
                if (!(members[i].name == kind->key && cJSON_IsNull(json)) &&
                    fields_read_integer(json, members[i].wide ? FIELDS_INTEGER_MAX : UINT32_MAX, &value) < 0)
                        return -EINVAL;
                if (members[i].wide)
                        *(uint64_t *)(void *)at = (uint64_t)value;
                else
                        *(uint32_t *)(void *)at = (uint32_t)value;
        }
        return usage_add_point(usage, keyed, &point);
}

static int points_from_json(const cJSON *list, enum keyed keyed, struct usage *usage)
{
        const cJSON *item;
        int err = cJSON_IsArray(list) ? 0 : -EINVAL;

        cJSON_ArrayForEach(item, list)
        {
                if (!err)
                        err = point_from_json(item, keyed, usage);
        }
        return err;
}

static int counted_from_json(const cJSON *item, struct points *counted)
{
        double policy, value;
        int err = fields_read_integer(cJSON_GetObjectItemCaseSensitive(item, "policy"), UINT32_MAX, &policy);

        for (uint32_t event = 0; !err && event < COUNTED_COUNT; event++) {
                const cJSON *json = cJSON_GetObjectItemCaseSensitive(item, counted_words[event]);

                if (!json)
                        continue; /* was not counted */
                err = fields_read_integer(json, FIELDS_INTEGER_MAX, &value);
                if (!err)
                        err = usage_points_add(counted, &(struct point){ .policy = (uint32_t)policy, .key = event,
                                                                         .amount = (uint64_t)value });
        }
        return err;
}

/* @have: of an amount that may be null; its bits are taken out where it is. Whether there is something to read. */
static bool is_counted(const cJSON *item, uint32_t have, struct usage *usage)
{
        if (!have || (item && !cJSON_IsNull(item)))
                return true;
        usage->have &= ~have;
        return false;
}

static int usage_parse(const cJSON *json, struct usage *usage)
{
        const cJSON *counted;
        int err = 0;

        usage->have = USAGE_ALL;
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++) {
                const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, amount_kinds[i].word);
                double value = 0;

                if (is_counted(item, amount_kinds[i].have, usage))
                        err = fields_read_integer(item, FIELDS_INTEGER_MAX, &value);
                usage->amount[i] = (uint64_t)value;
        }
        for (size_t k = 0; !err && k < KEYED_COUNT; k++) {
                const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, keyed_kinds[k].word);

                if (k == KEYED_COUNTED || (!list && (k == KEYED_IDLE || k == KEYED_SIGNAL)))
                        continue; /* an older version did not count it; or it has a key of its own, read below */
                if (is_counted(list, keyed_kinds[k].have, usage))
                        err = points_from_json(list, k, usage);
        }
        cJSON_ArrayForEach(counted, cJSON_GetObjectItemCaseSensitive(json, "counted"))
        {
                if (!err)
                        err = counted_from_json(counted, &usage->counted);
        }
        return err;
}

int usage_from_json(const cJSON *json, struct usage *ret)
{
        struct usage usage = { 0 };
        int err = cJSON_IsObject(json) ? usage_parse(json, &usage) : -EINVAL;

        if (err < 0) {
                usage_clear(&usage);
                return err;
        }
        *ret = usage;
        return 0;
}
