/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "shared/name-hash.h"
#include "report.h"
#include "util/util.h"

#define NANO 1e-9

/* Prints few enough digits that results that differ in the last bit only look the same. */
static bool add_number(cJSON *object, const char *key, double value)
{
        char text[32];
        double rounded = value;

        if (!isfinite(value))
                return cJSON_AddNullToObject(object, key) != NULL;
        snprintf(text, sizeof(text), "%.9g", value);
        (void)util_parse_double(text, &rounded);
        return cJSON_AddNumberToObject(object, key, rounded) != NULL;
}

/* Lists other apps that always ran together with it; any of them may be the hog. */
static bool add_together(cJSON *hog, const struct app_report *app)
{
        cJSON *list = app->n_together ? cJSON_AddArrayToObject(hog, "together") : NULL;

        for (size_t i = 0; i < app->n_together; i++)
                if (!list || !cJSON_AddItemToArray(list, cJSON_CreateString(app->together[i])))
                        return false;
        return true;
}

/* Adds the name's hash, too, as a device may know the app by that only. */
static bool add_app(cJSON *object, const char *name, bool hash)
{
        char text[NAME_HASH_SIZE];

        name_hash_of(name, text);
        return cJSON_AddStringToObject(object, "app", name) && (!hash || cJSON_AddStringToObject(object, "hash", text));
}

static bool add_parts(cJSON *object, const struct part_report *parts, size_t n)
{
        cJSON *list = n ? cJSON_AddArrayToObject(object, "parts") : NULL;

        for (size_t i = 0; i < n; i++) {
                cJSON *part = cJSON_CreateObject();

                if (!list || !part || !cJSON_AddItemToArray(list, part) ||
                    !cJSON_AddStringToObject(part, "part", component_names[parts[i].part]) ||
                    !add_number(part, "share", parts[i].share))
                        return false;
        }
        return true;
}

static bool add_why(cJSON *hog, const struct app_report *app)
{
        cJSON *list = app->n_why ? cJSON_AddArrayToObject(hog, "why") : NULL;

        for (size_t i = 0; i < app->n_why; i++) {
                const struct why_report *why = &app->why[i];
                cJSON *object = cJSON_CreateObject();
                cJSON *within = NULL, *gain = NULL;

                if (!list || !object || !cJSON_AddItemToArray(list, object) ||
                    !cJSON_AddStringToObject(object, "feature", why->feature) ||
                    !cJSON_AddStringToObject(object, "is", why->is) ||
                    !cJSON_AddBoolToObject(object, "actionable", why->actionable) ||
                    !add_number(object, "minutes_there", why->minutes_there) ||
                    !add_number(object, "minutes_else", why->minutes_else) ||
                    !(gain = cJSON_AddObjectToObject(object, "gain")) || !add_number(gain, "low", why->gain_low) ||
                    !add_number(gain, "high", why->gain_high) || !add_number(object, "clients", why->clients) ||
                    !(within = cJSON_AddArrayToObject(object, "within")))
                        return false;
                for (size_t j = 0; j < why->n_within; j++)
                        if (!cJSON_AddItemToArray(within, cJSON_CreateString(why->within[j])))
                                return false;
        }
        return true;
}

static bool add_hog(cJSON *list, const struct app_report *app, bool hash)
{
        cJSON *hog = cJSON_CreateObject(), *minutes;

        if (!hog || !cJSON_AddItemToArray(list, hog) || !add_app(hog, app->name, hash))
                return false;
        minutes = cJSON_AddObjectToObject(hog, "minutes");
        return minutes && add_number(minutes, "value", app->drop.minutes) &&
               add_number(minutes, "low", app->drop.minutes_low) &&
               add_number(minutes, "high", app->drop.minutes_high) && add_number(hog, "clients", app->clients) &&
               add_number(hog, "rates", app->rates) && add_number(hog, "rate_with", app->drop.rate_with) &&
               add_number(hog, "rate_without", app->drop.rate_without) && add_number(hog, "effect", app->drop.effect) &&
               add_number(hog, "held_by", (double)app->drop.held_by) && add_number(hog, "odd", (double)app->drop.odd) &&
               add_number(hog, "q", app->drop.q) && cJSON_AddBoolToObject(hog, "paper_rule", app->drop.paper_rule) &&
               add_together(hog, app) && add_why(hog, app) && add_parts(hog, app->parts, app->n_parts);
}

static bool add_bug(cJSON *list, const struct bug_report *bug, bool hash)
{
        cJSON *object = cJSON_CreateObject();

        return object && cJSON_AddItemToArray(list, object) && add_app(object, bug->app_name, hash) &&
               cJSON_AddStringToObject(object, "client", bug->client_hex) && add_number(object, "watts", bug->watts) &&
               add_number(object, "others_watts", bug->others_watts) &&
               add_number(object, "others_low", bug->others_low) &&
               add_number(object, "others_high", bug->others_high) && add_number(object, "rate", bug->rate) &&
               cJSON_AddBoolToObject(object, "confirmed", bug->confirmed) &&
               add_number(object, "clients", (double)bug->clients) && add_parts(object, bug->parts, bug->n_parts);
}

static bool add_versions(cJSON *root, const struct report *report, bool hash)
{
        cJSON *list = cJSON_AddArrayToObject(root, "versions");

        for (size_t i = 0; i < report->n_versions; i++) {
                const struct version_report *version = &report->versions[i];
                cJSON *object;

                if (report->asked >= 0 && version->app != report->apps[report->asked].id)
                        continue;
                object = cJSON_CreateObject();
                if (!list || !object || !cJSON_AddItemToArray(list, object) ||
                    !add_app(object, report_app(report, version->app)->name, hash) ||
                    !cJSON_AddStringToObject(object, "version", version->version) ||
                    !add_number(object, "clients", version->clients) ||
                    !add_number(object, "effect", version->effect) ||
                    !add_number(object, "effect_low", version->effect_low) ||
                    !add_number(object, "effect_high", version->effect_high))
                        return false;
        }
        return list != NULL;
}

static bool add_not_yet(cJSON *root, const struct report *report, bool hash)
{
        cJSON *list = cJSON_AddArrayToObject(root, "not_yet");
        _cleanup_free_ size_t *order = NULL;
        size_t n = report_not_yet(report, &order);

        for (size_t i = 0; i < n; i++) {
                const struct app_report *app = &report->apps[order[i]];
                cJSON *object = cJSON_CreateObject();

                if (!list || !object || !cJSON_AddItemToArray(list, object) || !add_app(object, app->name, hash) ||
                    !add_number(object, "hours", app->hours_more))
                        return false;
        }
        return list != NULL;
}

/* Apps that are in use nearly only with other features than those without them. */
static bool add_thin(cJSON *root, const struct report *report, bool hash)
{
        cJSON *list = cJSON_AddArrayToObject(root, "thin");
        _cleanup_free_ size_t *order = NULL;
        size_t n = report_thin(report, &order);

        for (size_t i = 0; i < n; i++) {
                const struct app_report *app = &report->apps[order[i]];
                cJSON *object = cJSON_CreateObject();

                if (!list || !object || !cJSON_AddItemToArray(list, object) || !add_app(object, app->name, hash) ||
                    !add_number(object, "clients", app->clients))
                        return false;
        }
        return list != NULL;
}

static bool add_score(cJSON *root, const struct report *report, const char *client)
{
        const struct score_report *score = &report->score;
        double rate, own;
        cJSON *object = cJSON_AddObjectToObject(root, "jscore"), *points;

        if (!object || !add_number(object, "clients", (double)score->clients))
                return false;
        if (score->clients < COMMUNITY_CLIENTS_MIN)
                return true;
        points = cJSON_AddArrayToObject(object, "points");
        if (!points || !add_number(object, "mean_rate", score->mean_rate))
                return false;
        for (int i = 0; i < SCORE_POINTS; i++) {
                cJSON *point = cJSON_CreateObject();

                if (!point || !cJSON_AddItemToArray(points, point) || !add_number(point, "score", score_percent[i]) ||
                    !add_number(point, "rate", score->rates[i]) ||
                    !add_number(point, "hours", 1 / NANO / score->rates[i] / 3600))
                        return false;
        }
        return !client || !report_score(report, name_hash_client(client), &rate, &own) ||
               (add_number(object, "own_rate", rate) && add_number(object, "own_score", own));
}

static bool add_asleep(cJSON *root, const struct report *report, const char *client)
{
        struct asleep_like like;
        cJSON *object = cJSON_AddObjectToObject(root, "asleep"), *rate;

        if (!object || report_asleep_like(report, client ? name_hash_client(client) : 0, &like) < 0 ||
            !add_number(object, "samples", (double)report->asleep.samples) ||
            !add_number(object, "clients", (double)like.clients))
                return false;
        if (client && !isnan(like.own) && !add_number(object, "own_rate", like.own))
                return false;
        if (isnan(like.value))
                return true;
        rate = cJSON_AddObjectToObject(object, "rate");
        return rate && add_number(rate, "value", like.value) && add_number(rate, "low", like.low) &&
               add_number(rate, "high", like.high) &&
               (!client || cJSON_AddBoolToObject(object, "same_model", like.same_model));
}

static bool fill(cJSON *root, const struct report *report, const char *client, bool only)
{
        cJSON *hogs, *bugs, *left_out;

        if (!add_number(root, "clients", (double)report->clients) ||
            !add_number(root, "samples", (double)report->samples) ||
            !add_number(root, "rates", (double)report->rates))
                return false;
        left_out = cJSON_AddObjectToObject(root, "left_out");
        if (!left_out || !add_number(left_out, "overlapping", (double)report->overlapping) ||
            !add_number(left_out, "too_many_a_day", (double)report->too_many) ||
            !add_number(left_out, "too_fast", (double)report->fast) ||
            !add_number(left_out, "clients_extreme", (double)report->extreme) ||
            !add_number(left_out, "clients_quarantined", (double)report->quarantined))
                return false;
        if (!add_number(root, "apps", (double)report->n_apps) || !add_number(root, "tested", (double)report->tested) ||
            !add_number(root, "paper_rule_only", (double)report->paper_only) ||
            !add_number(root, "middle_rate", report->middle_rate))
                return false;
        hogs = cJSON_AddArrayToObject(root, "hogs");
        for (size_t i = 0; i < report->n_hogs; i++)
                if (!hogs || !add_hog(hogs, &report->apps[report->hogs[i]], only))
                        return false;
        bugs = cJSON_AddArrayToObject(root, "bugs");
        for (size_t i = 0; i < report->n_bugs; i++)
                if (!bugs || ((!only || strcmp(report->bugs[i].client_hex, client) == 0) &&
                              !add_bug(bugs, &report->bugs[i], only)))
                        return false;
        return hogs && bugs && add_versions(root, report, only) && add_not_yet(root, report, only) &&
               add_thin(root, report, only) &&
               add_score(root, report, client) && add_asleep(root, report, client);
}

cJSON *report_json(const struct report *report, const char *client, bool only)
{
        cJSON *root = cJSON_CreateObject();

        if (root && fill(root, report, client, only))
                return root;
        cJSON_Delete(root);
        return NULL;
}

static int print(cJSON *root)
{
        char *text = root ? cJSON_Print(root) : NULL;

        cJSON_Delete(root);
        if (!text)
                return -ENOMEM;
        puts(text);
        free(text);
        return 0;
}

static bool add_distribution(cJSON *object, const char *key, const struct distribution *distribution)
{
        cJSON *inner = cJSON_AddObjectToObject(object, key),
                *points = inner ? cJSON_AddArrayToObject(inner, "points") : NULL;

        if (!points || !add_number(inner, "samples", (double)distribution->n))
                return false;
        for (int i = 0; distribution->n && i < SCORE_POINTS; i++) {
                cJSON *point = cJSON_CreateObject();

                if (!point || !cJSON_AddItemToArray(points, point) || !add_number(point, "percent", score_percent[i]) ||
                    !add_number(point, "rate", distribution->rates[i]))
                        return false;
        }
        return true;
}

static cJSON *asked_json(const struct report *report)
{
        const struct app_report *app = &report->apps[report->asked];
        cJSON *list = cJSON_CreateArray(), *object;

        if (!list || !add_hog(list, app, true)) {
                cJSON_Delete(list);
                return NULL;
        }
        object = cJSON_DetachItemFromArray(list, 0);
        cJSON_Delete(list);
        if (add_number(object, "hours", app->hours) && cJSON_AddBoolToObject(object, "enough", app->drop.enough) &&
            cJSON_AddBoolToObject(object, "thin", app->drop.thin) &&
            cJSON_AddBoolToObject(object, "hog", app->drop.hog) &&
            add_number(object, "effect_low", app->drop.effect_low) &&
            add_number(object, "hours_more", app->hours_more > 0 ? app->hours_more : NAN) &&
            add_distribution(object, "with", &report->with) && add_distribution(object, "without", &report->without))
                return object;
        cJSON_Delete(object);
        return NULL;
}

int report_print_json_part(const struct report *report, const char *key)
{
        cJSON *root, *part;

        if (!key)
                return print(asked_json(report));
        root = report_json(report, NULL, false);
        part = root ? cJSON_DetachItemFromObject(root, key) : NULL;
        cJSON_Delete(root);
        root = cJSON_CreateObject();
        if (!root || !part || !cJSON_AddItemToObject(root, key, part)) {
                cJSON_Delete(root);
                return -ENOMEM;
        }
        return print(root);
}

int report_print_json(const struct report *report, const char *client)
{
        return print(report_json(report, client, false));
}
