/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "shared/name-hash.h"
#include "report.h"
#include "model/json-print.h"
#include "util/fields.h"
#include "util/util.h"

#define NANO 1e-9
#define NUMBER(type, key, member) FIELD_AS(type, key, member, FIELD_NUMBER, FIELD_SHORT)

static const struct field part_fields[] = {
        FIELD_AS(part_report, "part", part, FIELD_WORD, .words = component_names, .n_words = COMPONENT_COUNT),
        NUMBER(part_report, "share", share),
        FIELDS_END,
};

static const struct field why_fields[] = {
        FIELD(why_report, feature, STRING),
        FIELD(why_report, is, STRING),
        FIELD(why_report, actionable, BOOL),
        NUMBER(why_report, "minutes_there", minutes_there),
        NUMBER(why_report, "minutes_else", minutes_else),
        NUMBER(why_report, "gain.low", gain_low),
        NUMBER(why_report, "gain.high", gain_high),
        NUMBER(why_report, "clients", clients),
        FIELD_ARRAY_OF(why_report, "within", within, n_within, fields_strings),
        FIELDS_END,
};

static const struct field hog_fields[] = {
        NUMBER(app_report, "minutes.value", drop.minutes),
        NUMBER(app_report, "minutes.low", drop.minutes_low),
        NUMBER(app_report, "minutes.high", drop.minutes_high),
        NUMBER(app_report, "clients", clients),
        NUMBER(app_report, "rates", rates),
        NUMBER(app_report, "rate_with", drop.rate_with),
        NUMBER(app_report, "rate_without", drop.rate_without),
        NUMBER(app_report, "effect", drop.effect),
        FIELD_AS(app_report, "held_by", drop.held_by, FIELD_U64),
        FIELD_AS(app_report, "odd", drop.odd, FIELD_U64),
        NUMBER(app_report, "q", drop.q),
        FIELD_AS(app_report, "paper_rule", drop.paper_rule, FIELD_BOOL),
        FIELD_AS(app_report, "heavy_hours", drop.hours, FIELD_BOOL),
        /* others that always ran together with it: any of them may be the hog */
        FIELD_LIST_OF(app_report, "together", together, n_together, fields_strings, FIELD_SOME),
        FIELD_LIST_OF(app_report, "why", why, n_why, why_fields, FIELD_SOME),
        FIELD_LIST_OF(app_report, "parts", parts, n_parts, part_fields, FIELD_SOME),
        FIELDS_END,
};

/* Further ones of the app that was asked for. */
static const struct field asked_fields[] = {
        NUMBER(app_report, "hours", hours),
        FIELD_AS(app_report, "enough", drop.enough, FIELD_BOOL),
        FIELD_AS(app_report, "thin", drop.thin, FIELD_BOOL),
        FIELD_AS(app_report, "hog", drop.hog, FIELD_BOOL),
        NUMBER(app_report, "effect_low", drop.effect_low),
        FIELDS_END,
};

static const struct field bug_fields[] = {
        FIELD_AS(bug_report, "client", client_hex, FIELD_STRING),
        NUMBER(bug_report, "watts", watts),
        NUMBER(bug_report, "others_watts", others_watts),
        NUMBER(bug_report, "others_low", others_low),
        NUMBER(bug_report, "others_high", others_high),
        NUMBER(bug_report, "rate", rate),
        FIELD(bug_report, confirmed, BOOL),
        FIELD(bug_report, clients, U64),
        FIELD_LIST_OF(bug_report, "parts", parts, n_parts, part_fields, FIELD_SOME),
        FIELDS_END,
};

static const struct field version_fields[] = {
        FIELD(version_report, version, STRING),
        NUMBER(version_report, "clients", clients),
        NUMBER(version_report, "effect", effect),
        NUMBER(version_report, "effect_low", effect_low),
        NUMBER(version_report, "effect_high", effect_high),
        FIELDS_END,
};

static const struct field not_yet_fields[] = { NUMBER(app_report, "hours", hours_more), FIELDS_END };
static const struct field thin_fields[] = {
        NUMBER(app_report, "clients", clients),
        FIELD_AS(app_report, "heavy_hours", drop.hours, FIELD_BOOL),
        FIELDS_END,
};

static const struct field report_fields[] = {
        FIELD(report, clients, U64),
        FIELD(report, samples, U64),
        FIELD(report, rates, U64),
        FIELD_AS(report, "left_out.overlapping", overlapping, FIELD_U64),
        FIELD_AS(report, "left_out.too_many_a_day", too_many, FIELD_U64),
        FIELD_AS(report, "left_out.too_fast", fast, FIELD_U64),
        FIELD_AS(report, "left_out.clients_extreme", extreme, FIELD_U64),
        FIELD_AS(report, "left_out.clients_quarantined", quarantined, FIELD_U64),
        FIELD_AS(report, "apps", n_apps, FIELD_U64),
        FIELD(report, tested, U64),
        FIELD_AS(report, "paper_rule_only", paper_only, FIELD_U64),
        NUMBER(report, "middle_rate", middle_rate),
        FIELDS_END,
};

static const struct field rate_fields[] = {
        NUMBER(asleep_like, "rate.value", value),
        NUMBER(asleep_like, "rate.low", low),
        NUMBER(asleep_like, "rate.high", high),
        FIELDS_END,
};

static void add_number(cJSON *object, const char *key, double value)
{
        cJSON_AddItemToObject(object, key, fields_short(value));
}

/* @hash: adds the name's hash, too, as a device may know the app by that only. */
static cJSON *app_json(const char *name, bool hash, const struct field *fields, const void *from)
{
        cJSON *object = cJSON_CreateObject();
        char text[NAME_HASH_SIZE];

        cJSON_AddStringToObject(object, "app", name);
        name_hash_of(name, text);
        if (hash)
                cJSON_AddStringToObject(object, "hash", text);
        fields_to_json(fields, from, object);
        return object;
}

static void add_versions(cJSON *root, const struct report *report, bool hash)
{
        cJSON *list = cJSON_AddArrayToObject(root, "versions");

        for (size_t i = 0; i < report->n_versions; i++) {
                const struct version_report *version = &report->versions[i];

                if (report->asked < 0 || version->app == report->apps[report->asked].id)
                        cJSON_AddItemToArray(list, app_json(report_app(report, version->app)->name, hash,
                                                            version_fields, version));
        }
}

static void add_apps(cJSON *root, const char *key, const struct report *report, bool hash, const size_t *order,
                     size_t n, const struct field *fields)
{
        cJSON *list = cJSON_AddArrayToObject(root, key);

        for (size_t i = 0; i < n; i++)
                cJSON_AddItemToArray(list, app_json(report->apps[order[i]].name, hash, fields,
                                                    &report->apps[order[i]]));
}

/* Apps that may become hogs, and those that cannot be told from how they are used. */
static void add_unknown(cJSON *root, const struct report *report, bool hash)
{
        _cleanup_free_ size_t *not_yet = NULL, *thin = NULL;
        size_t n = report_not_yet(report, &not_yet);

        add_apps(root, "not_yet", report, hash, not_yet, n, not_yet_fields);
        n = report_thin(report, &thin);
        add_apps(root, "thin", report, hash, thin, n, thin_fields);
}

static void add_score(cJSON *root, const struct report *report, const char *client)
{
        const struct score_report *score = &report->score;
        double rate, own;
        cJSON *object = cJSON_AddObjectToObject(root, "jscore"), *points;

        add_number(object, "clients", (double)score->clients);
        if (score->clients < COMMUNITY_CLIENTS_MIN)
                return;
        points = cJSON_AddArrayToObject(object, "points");
        add_number(object, "mean_rate", score->mean_rate);
        for (int i = 0; i < SCORE_POINTS; i++) {
                cJSON *point = cJSON_CreateObject();

                add_number(point, "score", score_percent[i]);
                add_number(point, "rate", score->rates[i]);
                add_number(point, "hours", 1 / NANO / score->rates[i] / 3600);
                cJSON_AddItemToArray(points, point);
        }
        if (!client || !report_score(report, name_hash_client(client), &rate, &own))
                return;
        add_number(object, "own_rate", rate);
        add_number(object, "own_score", own);
}

static int add_asleep(cJSON *root, const struct report *report, const char *client)
{
        cJSON *object = cJSON_AddObjectToObject(root, "asleep");
        struct asleep_like like;
        int err = report_asleep_like(report, client ? name_hash_client(client) : 0, &like);

        if (err)
                return err;
        add_number(object, "samples", (double)report->asleep.samples);
        add_number(object, "clients", (double)like.clients);
        if (client && !isnan(like.own))
                add_number(object, "own_rate", like.own);
        if (isnan(like.value))
                return 0;
        fields_to_json(rate_fields, &like, object);
        if (client)
                cJSON_AddBoolToObject(object, "same_model", like.same_model);
        return 0;
}

/* NULL where some allocation failed. */
static cJSON *if_whole(cJSON *json, int err)
{
        if (!json_failed() && !err)
                return json;
        cJSON_Delete(json);
        return NULL;
}

cJSON *report_json(const struct report *report, const char *client, bool only)
{
        cJSON *root = cJSON_CreateObject(), *bugs;

        fields_to_json(report_fields, report, root);
        add_apps(root, "hogs", report, only, report->hogs, report->n_hogs, hog_fields);
        bugs = cJSON_AddArrayToObject(root, "bugs");
        for (size_t i = 0; i < report->n_bugs; i++)
                if (!only || strcmp(report->bugs[i].client_hex, client) == 0)
                        cJSON_AddItemToArray(bugs, app_json(report->bugs[i].app_name, only, bug_fields,
                                                            &report->bugs[i]));
        add_versions(root, report, only);
        add_unknown(root, report, only);
        add_score(root, report, client);
        return if_whole(root, add_asleep(root, report, client));
}

static int print(cJSON *root)
{
        _cleanup_free_ char *text = root ? json_print(root, JSON_INDENTED) : NULL;

        if (!text)
                return -ENOMEM;
        puts(text);
        return 0;
}

static void add_distribution(cJSON *object, const char *key, const struct distribution *distribution)
{
        cJSON *inner = cJSON_AddObjectToObject(object, key), *points = cJSON_AddArrayToObject(inner, "points");

        add_number(inner, "samples", (double)distribution->n);
        for (int i = 0; distribution->n && i < SCORE_POINTS; i++) {
                cJSON *point = cJSON_CreateObject();

                add_number(point, "percent", score_percent[i]);
                add_number(point, "rate", distribution->rates[i]);
                cJSON_AddItemToArray(points, point);
        }
}

static cJSON *asked_json(const struct report *report)
{
        const struct app_report *app = &report->apps[report->asked];
        cJSON *object = app_json(app->name, true, hog_fields, app);

        fields_to_json(asked_fields, app, object);
        add_number(object, "hours_more", app->hours_more > 0 ? app->hours_more : NAN);
        add_distribution(object, "with", &report->with);
        add_distribution(object, "without", &report->without);
        return object;
}

int report_print_json_part(const struct report *report, const char *key)
{
        cJSON *root, *part;

        if (!key)
                return print(asked_json(report));
        root = report_json(report, NULL, false);
        part = cJSON_DetachItemFromObject(root, key);
        cJSON_Delete(root);
        if (!part)
                return -ENOMEM;
        root = cJSON_CreateObject();
        cJSON_AddItemToObject(root, key, part);
        return print(root);
}

int report_print_json(const struct report *report, const char *client)
{
        return print(report_json(report, client, false));
}
