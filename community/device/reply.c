/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reply.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/json-print.h"
#include "util/util.h"

#define COUNT_MAX 9e15 /* largest count that a double holds exactly */

static bool take_count(const struct cJSON *json, const char *key, double *ret)
{
        const struct cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

        *ret = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        return *ret >= 0 && *ret <= COUNT_MAX && *ret == floor(*ret);
}

static struct cJSON *parse(const char *text, int *err)
{
        struct cJSON *json = cJSON_Parse(text);

        *err = json_failed() ? -ENOMEM : cJSON_IsObject(json) ? 0 : -EBADMSG;
        return json;
}

/* A list longer than any server needs is ignored beyond its limit. */
static int take_named(const struct cJSON *list, struct member *member)
{
        const struct cJSON *item;

        cJSON_ArrayForEach(item, list) {
                const char *hash = cJSON_GetStringValue(item);
                int err = hash && name_hash_is(hash) ? member_add_named(member, hash) : 0;

                if (err)
                        return err == -ENOSPC ? 0 : err;
        }
        return 0;
}

int reply_to_upload(const char *text, struct member *member, struct place_receipt *ret)
{
        double next = 0, added = 0, bad = 0;
        int err;
        struct cJSON *json = parse(text, &err);

        if (!err && (!take_count(json, "next", &next) || !take_count(json, "added", &added) ||
                     !take_count(json, "bad", &bad)))
                err = -EBADMSG;
        if (!err)
                err = take_named(cJSON_GetObjectItemCaseSensitive(json, "named"), member);
        cJSON_Delete(json);
        if (!err)
                *ret = (struct place_receipt){ .next = (int64_t)next, .added = (uint64_t)added, .bad = (uint64_t)bad };
        return err;
}

int reply_to_forget(const char *text, const struct member *member, struct place_forgotten *ret)
{
        double samples = 0;
        int err;
        struct cJSON *json = parse(text, &err);
        const char *client = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "client"));

        if (!err && (!client || strcmp(client, member->client) != 0 ||
                     !take_count(cJSON_GetObjectItemCaseSensitive(json, "forgotten"), "samples", &samples)))
                err = -EBADMSG;
        cJSON_Delete(json);
        if (!err)
                *ret = (struct place_forgotten){ .confirmed = true, .samples = (uint64_t)samples };
        return err;
}

void reply_error(const char *text, char *buf, size_t size)
{
        int err;
        struct cJSON *json = parse(text, &err);
        const char *sentence = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "error"));

        util_printable(sentence ? sentence : "", buf, size);
        cJSON_Delete(json);
}
