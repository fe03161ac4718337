/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "community/name-hash.h"
#include "report.h"
#include "util/util.h"

#define NANO 1e-9

/* So many digits, that a last bit is no difference. */
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

/* Other apps that were always in use with it: any of them may be the hog. */
static bool add_together(cJSON *hog, const struct app_report *app)
{
        cJSON *list = app->n_together ? cJSON_AddArrayToObject(hog, "together") : NULL;

        for (size_t i = 0; i < app->n_together; i++)
                if (!list || !cJSON_AddItemToArray(list, cJSON_CreateString(app->together[i])))
                        return false;
        return true;
}

/* A device knows its apps by their hashes, too. */
static bool add_app(cJSON *object, const char *name, bool hash)
{
        char text[NAME_HASH_SIZE];

        name_hash_of(name, text);
        return cJSON_AddStringToObject(object, "app", name) && (!hash || cJSON_AddStringToObject(object, "hash", text));
}

static bool add_hog(cJSON *list, const struct app_report *app, bool hash)
{
        cJSON *hog = cJSON_CreateObject(), *minutes;

        if (!hog || !cJSON_AddItemToArray(list, hog) || !add_app(hog, app->name, hash))
                return false;
        minutes = cJSON_AddObjectToObject(hog, "minutes");
        return minutes && add_number(minutes, "value", app->drop.minutes) && add_number(minutes, "low", app->drop.minutes_low) &&
               add_number(minutes, "high", app->drop.minutes_high) && add_number(hog, "clients", app->clients) &&
               add_number(hog, "rates", app->rates) && add_number(hog, "rate_with", app->drop.rate_with) &&
               add_number(hog, "rate_without", app->drop.rate_without) && add_number(hog, "effect", app->drop.effect) &&
               add_number(hog, "q", app->drop.q) && cJSON_AddBoolToObject(hog, "paper_rule", app->drop.paper_rule) &&
               add_together(hog, app);
}

static bool add_bug(cJSON *list, const struct bug_report *bug, bool hash)
{
        cJSON *object = cJSON_CreateObject();

        return object && cJSON_AddItemToArray(list, object) && add_app(object, bug->app_name, hash) &&
               cJSON_AddStringToObject(object, "client", bug->client_hex) && add_number(object, "watts", bug->watts) &&
               add_number(object, "others_watts", bug->others_watts) && add_number(object, "clients", (double)bug->clients);
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
                    !add_number(point, "rate", score->rates[i]) || !add_number(point, "hours", 1 / NANO / score->rates[i] / 3600))
                        return false;
        }
        return !client || !report_score(report, name_hash_client(client), &rate, &own) ||
               (add_number(object, "own_rate", rate) && add_number(object, "own_score", own));
}

static bool fill(cJSON *root, const struct report *report, const char *client, bool only)
{
        cJSON *hogs, *bugs, *left_out;

        if (!add_number(root, "clients", (double)report->clients) || !add_number(root, "samples", (double)report->samples) ||
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
            !add_number(root, "paper_rule_only", (double)report->paper_only))
                return false;
        hogs = cJSON_AddArrayToObject(root, "hogs");
        for (size_t i = 0; i < report->n_hogs; i++)
                if (!hogs || !add_hog(hogs, &report->apps[report->hogs[i]], only))
                        return false;
        bugs = cJSON_AddArrayToObject(root, "bugs");
        for (size_t i = 0; i < report->n_bugs; i++)
                if (!bugs || ((!only || strcmp(report->bugs[i].client_hex, client) == 0) && !add_bug(bugs, &report->bugs[i], only)))
                        return false;
        return hogs && bugs && add_score(root, report, client);
}

cJSON *report_json(const struct report *report, const char *client, bool only)
{
        cJSON *root = cJSON_CreateObject();

        if (root && fill(root, report, client, only))
                return root;
        cJSON_Delete(root);
        return NULL;
}

int report_print_json(const struct report *report, const char *client)
{
        cJSON *root = report_json(report, client, false);
        char *text = root ? cJSON_Print(root) : NULL;

        cJSON_Delete(root);
        if (!text)
                return -ENOMEM;
        puts(text);
        free(text);
        return 0;
}
