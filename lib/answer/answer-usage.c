/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recorded usage as JSON, and back: the service answers with it, and the command reads that. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "answer.h"
#include "model/usage-json.h"
#include "options.h"
#include "util/units.h"
#include "util/util.h"

static struct cJSON *row_json(const struct usage_table_row *row)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddItemToObject(json, "app", answer_text(row->name));
        cJSON_AddItemToObject(json, "name", answer_text(row->label));
        cJSON_AddStringToObject(json, "state", answer_state(row->state));
        cJSON_AddNumberToObject(json, "active_s", row->time_ms / 1e3);
        answer_add_time(json, "first", row->first_ns);
        answer_add_time(json, "last", row->last_ns);
        cJSON_AddItemToObject(json, "usage", usage_to_json(&row->usage));
        return json;
}

struct cJSON *answer_usage_json(const struct usage_table *table)
{
        struct cJSON *json = cJSON_CreateObject(), *apps;

        answer_add_time(json, "from", table->from_ns);
        answer_add_time(json, "to", table->to_ns);
        cJSON_AddNullToObject(json, "base");
        apps = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < table->n_rows; i++) {
                if (table->rows[i].base)
                        cJSON_ReplaceItemInObject(json, "base", usage_to_json(&table->rows[i].usage));
                else
                        cJSON_AddItemToArray(apps, row_json(&table->rows[i]));
        }
        return json;
}

static int read_time(const struct cJSON *json, const char *key, int64_t *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text ? values_parse_time(text, 0, ret) : -EBADMSG;
}

static int read_name(const struct cJSON *json, const char *key, char *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        if (!text || !*text)
                return -EBADMSG;
        util_printable(text, ret, APP_ID_MAX);
        return 0;
}

static int read_row(const struct cJSON *json, struct usage_table *table)
{
        const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "state"));
        const struct cJSON *active = cJSON_GetObjectItemCaseSensitive(json, "active_s");
        struct usage_table_row *row;
        char name[APP_ID_MAX];
        enum app_state is;
        bool added;

        if (!state || !cJSON_IsNumber(active) || !(active->valuedouble >= 0) || read_name(json, "app", name) < 0)
                return -EBADMSG;
        is = strcmp(state, "foreground") == 0 ? STATE_FOREGROUND : STATE_BACKGROUND;
        row = usage_table_row(table, name, false, is, &added);
        if (!row)
                return -ENOMEM;
        if (!added || read_name(json, "name", row->label) < 0 || read_time(json, "first", &row->first_ns) < 0 ||
            read_time(json, "last", &row->last_ns) < 0 ||
            usage_from_json(cJSON_GetObjectItemCaseSensitive(json, "usage"), &row->usage) < 0)
                return -EBADMSG;
        snprintf(row->name, sizeof(row->name), "%s", name);
        row->state = is;
        row->time_ms = active->valuedouble * 1e3;
        row->display_ms = (double)usage_screen_ns(&row->usage) / NS_PER_MS;
        return 0;
}

static int read_base(const struct cJSON *json, struct usage_table *table)
{
        const struct cJSON *base = cJSON_GetObjectItemCaseSensitive(json, "base");
        struct usage_table_row *row;
        bool added;

        if (cJSON_IsNull(base))
                return 0;
        row = usage_table_row(table, "base", true, STATE_BACKGROUND, &added);
        if (!row)
                return -ENOMEM;
        snprintf(row->name, sizeof(row->name), "base");
        snprintf(row->label, sizeof(row->label), "base");
        row->base = table->has_base = true;
        if (usage_from_json(base, &row->usage) < 0)
                return -EBADMSG;
        row->time_ms = (double)row->usage.time_ns / NS_PER_MS;
        row->display_ms = (double)usage_screen_ns(&row->usage) / NS_PER_MS;
        return 0;
}

int answer_usage_from_json(const struct cJSON *json, struct usage_table **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table));
        const struct cJSON *apps = cJSON_GetObjectItemCaseSensitive(json, "apps"), *item;
        int err = table ? 0 : -ENOMEM;

        if (!err && (read_time(json, "from", &table->from_ns) < 0 || read_time(json, "to", &table->to_ns) < 0 ||
                     !cJSON_IsArray(apps)))
                err = -EBADMSG;
        cJSON_ArrayForEach(item, apps)
        {
                if (!err)
                        err = read_row(item, table);
        }
        if (!err)
                err = read_base(json, table);
        if (err)
                return err;
        table->has_tx = true;
        *ret = TAKE_PTR(table);
        return 0;
}
