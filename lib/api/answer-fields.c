/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "answer-fields.h"

#include <errno.h>

#include "util/units.h"
#include "util/util.h"

#define LEVEL(level) { "level", .kind = FIELD_FIXED, .number = level }

static const char *const state_words[] = { [STATE_BACKGROUND] = "background", [STATE_FOREGROUND] = "foreground" };

/* Elements of lists that are no objects. */
static const struct field id_field[] = { { "", 0, APP_ID_MAX, FIELD_TEXT, FIELD_MUST }, FIELDS_END };

const struct field forecast_fields[] = {
        FIELD(forecast, app, TEXT),
        FIELD(forecast, minutes, NUMBER),
        LEVEL(FORECAST_LEVEL),
        FIELD(forecast, percent, VALUE),
        FIELD(forecast, energy_j, VALUE),
        FIELD(forecast, device_percent, VALUE),
        FIELD(forecast, basis, TEXT, FIELD_CUT),
        FIELDS_END,
};

const struct field budget_fields[] = {
        FIELD(budget, app, TEXT, FIELD_EMPTY),
        LEVEL(FORECAST_LEVEL),
        FIELD(budget, minutes, VALUE),
        FIELD(budget, recorded_s, NUMBER),
        FIELD(budget, reserved_percent, NUMBER),
        FIELD(budget, battery_percent, NUMBER),
        FIELD_AS(budget, "charging", charging.charging, FIELD_KNOWN),
        FIELD_AS(budget, "minutes_to_full", charging.minutes_to_full, FIELD_VALUE),
        FIELD_AS(budget, "charge_limit_percent", charging.limit_percent, FIELD_NUMBER),
        FIELD_AS(budget, "held_at_limit", charging.held, FIELD_KNOWN),
        FIELD_AS(budget, "charger_too_weak", charging.too_weak, FIELD_KNOWN),
        FIELD(budget, basis, TEXT, FIELD_CUT),
        FIELDS_END,
};

const struct field gain_fields[] = {
        FIELD_ARRAY_OF(gain, "close", apps, n_apps, id_field),
        LEVEL(FORECAST_LEVEL),
        FIELD_AS(gain, "gained_minutes", gained, FIELD_VALUE),
        FIELD(gain, minutes, VALUE),
        FIELD_AS(gain, "changed_minutes", changed, FIELD_VALUE),
        FIELD_AS(gain, "changes_nothing", nothing, FIELD_BOOL),
        FIELD(gain, battery_percent, NUMBER),
        FIELD(gain, basis, TEXT, FIELD_CUT),
        FIELDS_END,
};

static const struct field one_advice_fields[] = {
        FIELD_WORD_OF(advice, "action", kind, advice_words),
        FIELD(advice, app, TEXT, FIELD_EMPTY),
        FIELD(advice, name, TEXT, FIELD_EMPTY),
        FIELD(advice, brightness_percent, NUMBER),
        FIELD_AS(advice, "gained_minutes", gain.gained, FIELD_VALUE),
        FIELDS_END,
};

const struct field advice_fields[] = {
        LEVEL(FORECAST_LEVEL),
        FIELD_ARRAY_OF(advice_list, "advice", list, n, one_advice_fields),
        FIELDS_END,
};

static const struct field change_fields[] = {
        FIELD_WORD_OF(endure_change, "action", kind, endure_words),
        FIELD(endure_change, app, TEXT, FIELD_EMPTY),
        FIELD(endure_change, name, TEXT, FIELD_EMPTY),
        FIELD(endure_change, brightness_percent, NUMBER),
        FIELD_AS(endure_change, "gained_minutes", gained, FIELD_VALUE),
        FIELDS_END,
};

const struct field endurance_fields[] = {
        LEVEL(FORECAST_LEVEL),
        FIELD(endurance, goal_minutes, NUMBER),
        FIELD(endurance, app, TEXT, FIELD_EMPTY),
        FIELD(endurance, suffices, KNOWN),
        FIELD(endurance, short_minutes, NUMBER),
        FIELD_AS(endurance, "minutes", before, FIELD_VALUE),
        FIELD_AS(endurance, "changed_minutes", after, FIELD_VALUE),
        FIELD_ARRAY_OF(endurance, "changes", list, n, change_fields),
        FIELD(endurance, battery_percent, NUMBER),
        FIELD(endurance, basis, TEXT, FIELD_CUT),
        FIELDS_END,
};

const struct field cost_app_fields[] = {
        FIELD(cost_app, app, TEXT, FIELD_MUST),
        FIELD(cost_app, name, STRING),
        FIELD_WORD_OF(cost_app, "state", state, state_words),
        FIELD(cost_app, active_s, NUMBER),
        FIELD(cost_app, energy_j, VALUE),
        FIELD(cost_app, percent, VALUE),
        FIELD(cost_app, percent_per_minute, VALUE),
        FIELD_AS(cost_app, "components_j", component_j, FIELD_REALS, .words = component_names,
                 .n_words = COMPONENT_BASE),
        FIELDS_END,
};

/* The energies of total and of apps are with the error of joules. */
const struct field cost_fields[] = {
        LEVEL(COST_LEVEL),
        FIELD_AS(cost, "from", from_ns, FIELD_TIME),
        FIELD_AS(cost, "to", to_ns, FIELD_TIME),
        FIELD(cost, recorded_s, NUMBER),
        FIELD_AS(cost, "measured.energy_j", measured_j.value, FIELD_NUMBER),
        FIELD_AS(cost, "measured.interval_j", measured_j, FIELD_VALUE),
        FIELD_AS(cost, "measured.percent", measured_percent, FIELD_NUMBER),
        FIELD_AS(cost, "total.energy_j", total_j, FIELD_VALUE),
        FIELD_AS(cost, "total.percent", total_percent, FIELD_VALUE),
        FIELD_AS(cost, "base.energy_j", base_j, FIELD_NUMBER),
        FIELD_AS(cost, "base.parts_j.idle", base_idle_j, FIELD_NUMBER),
        FIELD_AS(cost, "base.parts_j.wifi", base_wifi_j, FIELD_NUMBER),
        FIELD_AS(cost, "base.parts_j.display", base_display_j, FIELD_NUMBER),
        FIELD_AS(cost, "unexplained.energy_j", unexplained_j.value, FIELD_NUMBER),
        FIELD_AS(cost, "unexplained.interval_j", unexplained_j, FIELD_VALUE),
        FIELD_LIST_OF(cost, "not_measured", not_measured, n_not_measured, fields_strings, 0),
        FIELD(cost, cpu_spread_j, NUMBER),
        FIELD(cost, disk_spread_j, NUMBER),
        FIELDS_END,
};

const struct field cost_list_fields[] = {
        FIELD_LIST_OF(cost, "apps", apps, n_apps, cost_app_fields, FIELD_MUST), FIELDS_END
};

const struct field live_fields[] = {
        FIELD(answer_live, number, U64),
        FIELD(answer_live, suspend_s, NUMBER),
        FIELD_AS(answer_live, "battery.percent", percent, FIELD_NUMBER),
        FIELD_AS(answer_live, "battery.plugged", plugged, FIELD_KNOWN),
        FIELDS_END,
};

const struct field apps_fields[] = {
        FIELD_AS(answer_apps, "from", from_ns, FIELD_TIME),
        FIELD_AS(answer_apps, "to", to_ns, FIELD_TIME),
        FIELD_AS(answer_apps, "battery.percent", percent, FIELD_NUMBER),
        FIELD_AS(answer_apps, "battery.plugged", plugged, FIELD_KNOWN),
        FIELDS_END,
};

const struct field since_fields[] = {
        FIELD_AS(answer_since, "full", times_ns[JOULECAST_SINCE_FULL], FIELD_TIME),
        FIELD_AS(answer_since, "unplug", times_ns[JOULECAST_SINCE_UNPLUG], FIELD_TIME),
        FIELD_AS(answer_since, "boot", times_ns[JOULECAST_SINCE_BOOT], FIELD_TIME),
        FIELD_AS(answer_since, "resume", times_ns[JOULECAST_SINCE_RESUME], FIELD_TIME),
        FIELDS_END,
};

const struct field usage_table_fields[] = {
        FIELD_AS(usage_table, "from", from_ns, FIELD_TIME, FIELD_MUST),
        FIELD_AS(usage_table, "to", to_ns, FIELD_TIME, FIELD_MUST),
        FIELDS_END,
};

/* Beside what it used (model/usage-json.h). */
const struct field usage_row_fields[] = {
        FIELD_AS(usage_table_row, "app", name, FIELD_TEXT, FIELD_MUST),
        FIELD_AS(usage_table_row, "name", label, FIELD_TEXT, FIELD_MUST),
        FIELD_WORD_OF(usage_table_row, "state", state, state_words),
        FIELD_AS(usage_table_row, "active_s", time_ms, FIELD_NUMBER, FIELD_AMOUNT, .number = 1e3),
        FIELD_AS(usage_table_row, "first", first_ns, FIELD_TIME, FIELD_MUST),
        FIELD_AS(usage_table_row, "last", last_ns, FIELD_TIME, FIELD_MUST),
        FIELDS_END,
};

const struct field forgotten_fields[] = {
        FIELD(store_forgotten, whole, BOOL),
        FIELD(store_forgotten, apps, U64),
        FIELD(store_forgotten, polls, U64),
        FIELD(store_forgotten, hours, U64),
        FIELD(store_forgotten, days, U64),
        FIELD(store_forgotten, stayed_large, BOOL),
        FIELDS_END,
};

static const char *const power_words[] = {
        [STORE_ON_BATTERY] = "battery", [STORE_CHARGING] = "charging", [STORE_FULL] = "full"
};
static const struct field number_field[] = { { "", 0, sizeof(double), FIELD_NUMBER, FIELD_MUST }, FIELDS_END };

static const struct field timeline_app_fields[] = {
        FIELD(timeline_app, app, TEXT, FIELD_MUST),
        FIELD(timeline_app, name, TEXT, FIELD_MUST),
        FIELD(timeline_app, energy_j, NUMBER, FIELD_MUST),
        FIELDS_END,
};

static const struct field slot_fields[] = {
        FIELD_AS(timeline_slot, "start", start_ns, FIELD_TIME, FIELD_MUST),
        FIELD_AS(timeline_slot, "end", end_ns, FIELD_TIME, FIELD_MUST),
        FIELD(timeline_slot, recorded_s, NUMBER, FIELD_AMOUNT),
        FIELD(timeline_slot, suspend_s, NUMBER, FIELD_AMOUNT),
        FIELD(timeline_slot, base_j, NUMBER),
        FIELD(timeline_slot, others_j, NUMBER, FIELD_MUST),
        FIELD_ARRAY_OF(timeline_slot, "apps_j", apps_j, n_apps, number_field),
        FIELDS_END,
};

static const struct field hour_fields[] = {
        FIELD_AS(timeline_hour, "start", start_ns, FIELD_TIME, FIELD_MUST),
        FIELD(timeline_hour, recorded_s, NUMBER, FIELD_AMOUNT),
        FIELD(timeline_hour, energy_j, NUMBER),
        FIELDS_END,
};

static const struct field level_fields[] = {
        FIELD_AS(timeline_level, "time", time_ns, FIELD_TIME, FIELD_MUST),
        FIELD(timeline_level, percent, NUMBER, FIELD_AMOUNT),
        FIELD(timeline_level, follows, BOOL),
        FIELDS_END,
};

static const struct field charge_fields[] = {
        FIELD_AS(store_charge, "start", start_ns, FIELD_TIME, FIELD_MUST),
        FIELD_WORD_OF(store_charge, "state", state, power_words),
        FIELD_AS(store_charge, "percent", level_percent, FIELD_NUMBER),
        FIELD(store_charge, charge_full_uah, NUMBER),
        FIELD(store_charge, energy_full_uwh, NUMBER),
        FIELDS_END,
};

static const struct field sleep_fields[] = {
        FIELD_AS(store_sleep, "end", end_ns, FIELD_TIME, FIELD_MUST),
        FIELD_AS(store_sleep, "elapsed_s", elapsed_ns, FIELD_U64, .number = (double)NS_PER_S),
        FIELD_AS(store_sleep, "suspend_s", suspend_ns, FIELD_U64, .number = (double)NS_PER_S),
        FIELD_AS(store_sleep, "energy_j", discharge_j, FIELD_NUMBER),
        FIELD_AS(store_sleep, "percent", discharge_percent, FIELD_NUMBER),
        FIELDS_END,
};

#define BATTERY_MAX 20000 /* elements; charges are at most 10,000 */

const struct field timeline_fields[] = {
        FIELD_AS(timeline, "from", from_ns, FIELD_TIME, FIELD_MUST),
        FIELD_AS(timeline, "to", to_ns, FIELD_TIME, FIELD_MUST),
        FIELD(timeline, slot_s, U32),
        FIELD_ARRAY_OF(timeline, "apps", apps, n_apps, timeline_app_fields),
        FIELD_LIST_OF(timeline, "slots", slots, n_slots, slot_fields, FIELD_MUST, .max = TIMELINE_SLOTS_MAX),
        FIELD_LIST_OF(timeline, "hours", hours, n_hours, hour_fields, FIELD_MUST, .max = TIMELINE_HOURS_MAX),
        FIELD_LIST_OF(timeline, "levels", levels, n_levels, level_fields, FIELD_MUST, .max = BATTERY_MAX),
        FIELD_LIST_OF(timeline, "charges", charges, n_charges, charge_fields, FIELD_MUST, .max = BATTERY_MAX),
        FIELD_LIST_OF(timeline, "sleeps", sleeps, n_sleeps, sleep_fields, FIELD_MUST, .max = BATTERY_MAX),
        FIELDS_END,
};

int answer_fields_read_cost(const struct cJSON *json, struct cost **ret)
{
        _cleanup_(cost_freep) struct cost *cost = calloc(1, sizeof(*cost));
        int err = cost ? fields_from_json(cost_fields, json, cost) : -ENOMEM;

        if (!err)
                err = fields_from_json(cost_list_fields, json, cost);
        if (!err)
                *ret = TAKE_PTR(cost);
        return err;
}
