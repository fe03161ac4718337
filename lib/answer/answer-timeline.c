/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timeline as JSON, and back: the service answers with it, and `joulecast report` reads the answer. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "forecast/timeline.h"
#include "options.h"
#include "util/units.h"
#include "util/util.h"

#define LIST_MAX 20000 /* elements in any of the lists; charges are at most 10,000 */

static const char *const states[] = {
        [STORE_ON_BATTERY] = "battery", [STORE_CHARGING] = "charging", [STORE_FULL] = "full"
};

static void add_slot(struct cJSON *list, const struct timeline *timeline, const struct timeline_slot *slot)
{
        struct cJSON *json = cJSON_CreateObject(), *apps;

        answer_add_time(json, "start", slot->start_ns);
        answer_add_time(json, "end", slot->end_ns);
        cJSON_AddNumberToObject(json, "recorded_s", slot->recorded_s);
        cJSON_AddNumberToObject(json, "suspend_s", slot->suspend_s);
        cJSON_AddNumberToObject(json, "base_j", slot->base_j);
        cJSON_AddNumberToObject(json, "others_j", slot->others_j);
        apps = cJSON_AddArrayToObject(json, "apps_j");
        for (size_t a = 0; a < timeline->n_apps; a++)
                cJSON_AddItemToArray(apps, cJSON_CreateNumber(slot->apps_j[a]));
        cJSON_AddItemToArray(list, json);
}

static struct cJSON *add_timed(struct cJSON *list, const char *key, int64_t time_ns)
{
        struct cJSON *json = cJSON_CreateObject();

        answer_add_time(json, key, time_ns);
        cJSON_AddItemToArray(list, json);
        return json;
}

static void add_battery(struct cJSON *json, const struct timeline *timeline)
{
        struct cJSON *list = cJSON_AddArrayToObject(json, "levels"), *item;

        for (size_t i = 0; i < timeline->n_levels; i++) {
                item = add_timed(list, "time", timeline->levels[i].time_ns);
                cJSON_AddNumberToObject(item, "percent", timeline->levels[i].percent);
                cJSON_AddBoolToObject(item, "follows", timeline->levels[i].follows);
        }
        list = cJSON_AddArrayToObject(json, "charges");
        for (size_t i = 0; i < timeline->n_charges; i++) {
                const struct store_charge *charge = &timeline->charges[i];

                item = add_timed(list, "start", charge->start_ns);
                cJSON_AddStringToObject(item, "state", states[charge->state]);
                cJSON_AddNumberToObject(item, "percent", charge->level_percent);
                cJSON_AddNumberToObject(item, "charge_full_uah", charge->charge_full_uah);
                cJSON_AddNumberToObject(item, "energy_full_uwh", charge->energy_full_uwh);
        }
        list = cJSON_AddArrayToObject(json, "sleeps");
        for (size_t i = 0; i < timeline->n_sleeps; i++) {
                item = add_timed(list, "end", timeline->sleeps[i].end_ns);
                cJSON_AddNumberToObject(item, "elapsed_s", (double)timeline->sleeps[i].elapsed_ns / (double)NS_PER_S);
                cJSON_AddNumberToObject(item, "suspend_s", (double)timeline->sleeps[i].suspend_ns / (double)NS_PER_S);
                cJSON_AddNumberToObject(item, "energy_j", timeline->sleeps[i].discharge_j);
                cJSON_AddNumberToObject(item, "percent", timeline->sleeps[i].discharge_percent);
        }
}

struct cJSON *answer_timeline_json(const struct timeline *timeline)
{
        struct cJSON *json = cJSON_CreateObject(), *list, *item;

        answer_add_time(json, "from", timeline->from_ns);
        answer_add_time(json, "to", timeline->to_ns);
        cJSON_AddNumberToObject(json, "slot_s", timeline->slot_s);
        list = cJSON_AddArrayToObject(json, "apps");
        for (size_t i = 0; i < timeline->n_apps; i++) {
                item = cJSON_CreateObject();
                cJSON_AddItemToObject(item, "app", answer_text(timeline->apps[i].app));
                cJSON_AddItemToObject(item, "name", answer_text(timeline->apps[i].name));
                cJSON_AddNumberToObject(item, "energy_j", timeline->apps[i].energy_j);
                cJSON_AddItemToArray(list, item);
        }
        list = cJSON_AddArrayToObject(json, "slots");
        for (size_t i = 0; i < timeline->n_slots; i++)
                add_slot(list, timeline, &timeline->slots[i]);
        list = cJSON_AddArrayToObject(json, "hours");
        for (size_t i = 0; i < timeline->n_hours; i++) {
                item = add_timed(list, "start", timeline->hours[i].start_ns);
                cJSON_AddNumberToObject(item, "recorded_s", timeline->hours[i].recorded_s);
                cJSON_AddNumberToObject(item, "energy_j", timeline->hours[i].energy_j);
        }
        add_battery(json, timeline);
        return json;
}

/* State of reading a service's answer, which may come from another program. The first error stays. */
struct reading {
        const struct cJSON *json;
        int err;
};

static double number(struct reading *reading, const struct cJSON *json, const char *key)
{
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

        if (cJSON_IsNull(value))
                return NAN;
        if (!cJSON_IsNumber(value) || fabs(value->valuedouble) > 1e18)
                reading->err = -EBADMSG;
        return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

/* A number that is known. */
static double known(struct reading *reading, const struct cJSON *json, const char *key)
{
        double value = number(reading, json, key);

        if (isnan(value))
                reading->err = -EBADMSG;
        return isnan(value) ? 0 : value;
}

/* And not negative. */
static double amount(struct reading *reading, const struct cJSON *json, const char *key)
{
        double value = number(reading, json, key);

        if (!(value >= 0))
                reading->err = -EBADMSG;
        return value >= 0 ? value : 0;
}

static uint64_t span(struct reading *reading, const struct cJSON *json, const char *key)
{
        double seconds = amount(reading, json, key);

        if (seconds > 1e9)
                reading->err = -EBADMSG;
        return seconds > 1e9 ? 0 : (uint64_t)(seconds * (double)NS_PER_S);
}

static int64_t time_of(struct reading *reading, const struct cJSON *json, const char *key)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
        int64_t time_ns = 0;

        if (!text || values_parse_time(text, 0, &time_ns) < 0)
                reading->err = -EBADMSG;
        return time_ns;
}

/* The list @key with room for its elements: NULL and 0, or NULL after an error. */
static void *list_of(struct reading *reading, const char *key, size_t max, size_t size, const struct cJSON **first)
{
        const struct cJSON *list = cJSON_GetObjectItemCaseSensitive(reading->json, key);
        int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : -1;
        void *array = n >= 0 && (size_t)n <= max ? calloc((size_t)n + 1, size) : NULL;

        if (n < 0 || (size_t)n > max)
                reading->err = -EBADMSG;
        else if (!array)
                reading->err = -ENOMEM;
        *first = array ? list->child : NULL;
        return array;
}

static void read_name(struct reading *reading, const struct cJSON *json, const char *key, char *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        if (!text || !*text)
                reading->err = -EBADMSG;
        util_printable(text ? text : "", ret, APP_ID_MAX);
}

static void read_apps(struct reading *reading, struct timeline *timeline)
{
        const struct cJSON *list = cJSON_GetObjectItemCaseSensitive(reading->json, "apps"), *item;

        if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > TIMELINE_APPS)
                reading->err = -EBADMSG;
        for (item = reading->err ? NULL : list->child; item; item = item->next) {
                struct timeline_app *app = &timeline->apps[timeline->n_apps++];

                read_name(reading, item, "app", app->app);
                read_name(reading, item, "name", app->name);
                app->energy_j = known(reading, item, "energy_j");
        }
}

static void read_slot(struct reading *reading, const struct cJSON *json, const struct timeline *timeline,
                      struct timeline_slot *slot)
{
        const struct cJSON *apps = cJSON_GetObjectItemCaseSensitive(json, "apps_j"), *item;
        size_t a = 0;

        slot->start_ns = time_of(reading, json, "start");
        slot->end_ns = time_of(reading, json, "end");
        slot->recorded_s = amount(reading, json, "recorded_s");
        slot->suspend_s = amount(reading, json, "suspend_s");
        slot->base_j = number(reading, json, "base_j");
        slot->others_j = known(reading, json, "others_j");
        cJSON_ArrayForEach(item, apps) {
                if (a == timeline->n_apps || !cJSON_IsNumber(item) || !(fabs(item->valuedouble) < 1e18)) {
                        reading->err = -EBADMSG;
                        return;
                }
                slot->apps_j[a++] = item->valuedouble;
        }
        if (a != timeline->n_apps || slot->start_ns >= slot->end_ns)
                reading->err = -EBADMSG;
}

static void read_energy(struct reading *reading, struct timeline *timeline)
{
        const struct cJSON *item;

        timeline->slots = list_of(reading, "slots", TIMELINE_SLOTS_MAX, sizeof(*timeline->slots), &item);
        for (; item; item = item->next)
                read_slot(reading, item, timeline, &timeline->slots[timeline->n_slots++]);
        timeline->hours = list_of(reading, "hours", TIMELINE_HOURS_MAX, sizeof(*timeline->hours), &item);
        for (; item; item = item->next) {
                struct timeline_hour *hour = &timeline->hours[timeline->n_hours++];

                hour->start_ns = time_of(reading, item, "start");
                hour->recorded_s = amount(reading, item, "recorded_s");
                hour->energy_j = number(reading, item, "energy_j");
        }
}

static enum store_power_state read_state(struct reading *reading, const struct cJSON *json)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "state"));

        for (size_t i = 0; text && i < ARRAY_SIZE(states); i++)
                if (strcmp(text, states[i]) == 0)
                        return (enum store_power_state)i;
        reading->err = -EBADMSG;
        return STORE_ON_BATTERY;
}

static void read_battery(struct reading *reading, struct timeline *timeline)
{
        const struct cJSON *item;

        timeline->levels = list_of(reading, "levels", LIST_MAX, sizeof(*timeline->levels), &item);
        for (; item; item = item->next)
                timeline->levels[timeline->n_levels++] = (struct timeline_level){
                        time_of(reading, item, "time"), amount(reading, item, "percent"),
                        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "follows")),
                };
        timeline->charges = list_of(reading, "charges", LIST_MAX, sizeof(*timeline->charges), &item);
        for (; item; item = item->next)
                timeline->charges[timeline->n_charges++] = (struct store_charge){
                        .start_ns = time_of(reading, item, "start"), .state = read_state(reading, item),
                        .level_percent = number(reading, item, "percent"),
                        .charge_full_uah = number(reading, item, "charge_full_uah"),
                        .energy_full_uwh = number(reading, item, "energy_full_uwh"),
                };
        timeline->sleeps = list_of(reading, "sleeps", LIST_MAX, sizeof(*timeline->sleeps), &item);
        for (; item; item = item->next)
                timeline->sleeps[timeline->n_sleeps++] = (struct store_sleep){
                        .end_ns = time_of(reading, item, "end"), .elapsed_ns = span(reading, item, "elapsed_s"),
                        .suspend_ns = span(reading, item, "suspend_s"),
                        .discharge_j = number(reading, item, "energy_j"),
                        .discharge_percent = number(reading, item, "percent"),
                };
}

int answer_timeline_from_json(const struct cJSON *json, struct timeline **ret)
{
        _cleanup_(timeline_freep) struct timeline *timeline = calloc(1, sizeof(*timeline));
        struct reading reading = { .json = json };
        double slot_s = amount(&reading, json, "slot_s");

        if (!timeline)
                return -ENOMEM;
        timeline->from_ns = time_of(&reading, json, "from");
        timeline->to_ns = time_of(&reading, json, "to");
        if (!(slot_s >= TIMELINE_QUARTER_S && slot_s <= TIMELINE_WEEK_S) || timeline->from_ns >= timeline->to_ns)
                reading.err = -EBADMSG;
        timeline->slot_s = reading.err ? TIMELINE_DAY_S : (uint32_t)slot_s;
        read_apps(&reading, timeline);
        if (!reading.err)
                read_energy(&reading, timeline);
        if (!reading.err)
                read_battery(&reading, timeline);
        if (!reading.err && timeline->n_slots == 0)
                reading.err = -EBADMSG;
        if (reading.err)
                return reading.err;
        *ret = TAKE_PTR(timeline);
        return 0;
}
