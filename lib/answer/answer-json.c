/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "model/usage-json.h"
#include "util/units.h"
#include "util/util.h"

void answer_add_time(struct cJSON *to, const char *key, int64_t time_ns)
{
        cJSON_AddItemToObject(to, key, fields_time(time_ns));
}

const char *answer_state(enum app_state state)
{
        return state == STATE_FOREGROUND ? N_("foreground") : N_("background");
}

struct cJSON *answer_text(const char *text)
{
        return fields_text(text);
}

struct cJSON *answer_value(const struct cost_value *value)
{
        return fields_value((const double[]){ value->value, value->low, value->high });
}

void answer_add_known(struct cJSON *json, const char *key, int is)
{
        if (is < 0)
                cJSON_AddNullToObject(json, key);
        else
                cJSON_AddBoolToObject(json, key, is);
}

void answer_add_validated(struct cJSON *to, const struct profile *profile)
{
        answer_add_known(to, "validated", profile_validated(profile));
        cJSON_AddStringToObject(to, "profile_basis", profile_basis(profile));
}

/* Each key once and without its remark, which is for people: "gpu (not counted)" is "gpu". */
static void cut_remarks(struct cJSON *list)
{
        for (struct cJSON *item = list ? list->child : NULL, *next; item; item = next) {
                struct cJSON *before = list->child;

                next = item->next;
                item->valuestring[strcspn(item->valuestring, " ")] = '\0';
                while (strcmp(before->valuestring, item->valuestring) != 0)
                        before = before->next;
                if (before != item)
                        cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
}

struct cJSON *answer_cost_json(const struct cost *cost, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject(), *list;
        struct cost shown = *cost;

        shown.total_j = cost_joules(&cost->total_j, cost->joule_part);
        shown.total_percent = cost_percent(&cost->total_j, profile);
        cJSON_AddItemToObject(json, "profile", answer_text(profile->device[0] ? profile->device : NULL));
        answer_add_validated(json, profile);
        fields_to_json(cost_fields, &shown, json);
        cut_remarks(cJSON_GetObjectItemCaseSensitive(json, "not_measured"));
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < cost->n_apps; i++) {
                struct cost_app app = cost->apps[i];
                struct cJSON *item = cJSON_CreateObject();

                app.energy_j = cost_joules(&app.energy_j, cost->joule_part);
                fields_to_json(cost_app_fields, &app, item);
                if (!cJSON_AddItemToArray(list, item))
                        cJSON_Delete(item);
        }
        return json;
}

struct cJSON *answer_live_json(const struct answer_live *live, const struct cost *cost, const struct profile *profile)
{
        struct cJSON *json = answer_cost_json(cost, profile);

        fields_to_json(live_fields, live, json);
        return json;
}

struct cJSON *answer_json(const struct field *fields, const void *answer, const struct profile *profile)
{
        struct cJSON *json = cJSON_CreateObject();

        fields_to_json(fields, answer, json);
        if (profile)
                answer_add_validated(json, profile);
        return json;
}

struct cJSON *answer_public_value(struct joulecast_value value)
{
        return answer_value(&(struct cost_value){ value.value, value.low, value.high });
}

struct cJSON *answer_advice_json(const struct advice_list *advice, char *const *commands,
                                 const struct profile *profile)
{
        struct cJSON *json = answer_json(advice_fields, advice, profile), *one;
        size_t i = 0;

        cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(json, "advice"))
        {
                cJSON_AddItemToObject(one, "command", answer_text(commands ? commands[i] : NULL));
                i++;
        }
        return json;
}

int answer_live_from_json(const struct cJSON *json, struct answer_live *live, struct cost **ret)
{
        int err = fields_from_json(live_fields, json, live);

        if (!err && !(live->percent >= 0 && live->percent <= 100))
                live->percent = NAN;
        return err ? err : answer_fields_read_cost(json, ret);
}

struct cJSON *answer_usage_json(const struct usage_table *table)
{
        struct cJSON *json = answer_json(usage_table_fields, table, NULL), *apps, *row;

        cJSON_AddNullToObject(json, "base");
        apps = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < table->n_rows; i++) {
                if (table->rows[i].base) {
                        cJSON_ReplaceItemInObject(json, "base", usage_to_json(&table->rows[i].usage));
                        continue;
                }
                row = answer_json(usage_row_fields, &table->rows[i], NULL);
                cJSON_AddItemToObject(row, "usage", usage_to_json(&table->rows[i].usage));
                cJSON_AddItemToArray(apps, row);
        }
        return json;
}

/* Adds the row that @from describes, with the usage of @json. 0; -EBADMSG; -ENOMEM. */
static int add_row(struct usage_table *table, const struct usage_table_row *from, const struct cJSON *json)
{
        struct usage_table_row *row;
        struct usage usage;
        bool added;
        int err = usage_from_json(json, &usage);

        if (err)
                return err == -ENOMEM ? err : -EBADMSG;
        row = usage_table_row(table, from->name, from->base, from->state, &added);
        if (!row || !added) {
                usage_clear(&usage);
                return row ? -EBADMSG : -ENOMEM;
        }
        *row = *from;
        row->usage = usage;
        row->display_ms = (double)usage_screen_ns(&usage) / NS_PER_MS;
        if (row->base)
                row->time_ms = (double)usage.time_ns / NS_PER_MS;
        return 0;
}

int answer_usage_from_json(const struct cJSON *json, struct usage_table **ret)
{
        static const struct usage_table_row base_row = { .name = "base", .label = "base", .base = true };
        _cleanup_(usage_table_freep) struct usage_table *table = calloc(1, sizeof(*table));
        const struct cJSON *apps = cJSON_GetObjectItemCaseSensitive(json, "apps"), *item,
                           *base = cJSON_GetObjectItemCaseSensitive(json, "base");
        int err = table ? fields_from_json(usage_table_fields, json, table) : -ENOMEM;

        if (!err && !cJSON_IsArray(apps))
                err = -EBADMSG;
        cJSON_ArrayForEach(item, apps)
        {
                struct usage_table_row row = { 0 };

                if (!err)
                        err = fields_from_json(usage_row_fields, item, &row);
                if (!err)
                        err = add_row(table, &row, cJSON_GetObjectItemCaseSensitive(item, "usage"));
        }
        if (!err && !cJSON_IsNull(base))
                err = add_row(table, &base_row, base);
        if (err)
                return err;
        table->has_base = !cJSON_IsNull(base);
        table->has_tx = true;
        *ret = TAKE_PTR(table);
        return 0;
}

/* Charts and tables rely on it. */
static bool is_whole(const struct timeline *timeline)
{
        bool whole = timeline->from_ns < timeline->to_ns && timeline->n_slots > 0 &&
                     timeline->slot_s >= TIMELINE_QUARTER_S && timeline->slot_s <= TIMELINE_WEEK_S;

        for (size_t i = 0; i < timeline->n_slots; i++)
                whole = whole && timeline->slots[i].n_apps == timeline->n_apps &&
                        timeline->slots[i].start_ns < timeline->slots[i].end_ns;
        return whole;
}

int answer_timeline_from_json(const struct cJSON *json, struct timeline **ret)
{
        _cleanup_(timeline_freep) struct timeline *timeline = calloc(1, sizeof(*timeline));
        int err = timeline ? fields_from_json(timeline_fields, json, timeline) : -ENOMEM;

        if (!err && !is_whole(timeline))
                err = -EBADMSG;
        if (!err)
                *ret = TAKE_PTR(timeline);
        return err;
}
