/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/json-print.h"
#include "util/units.h"
#include "util/util.h"

#define MADE_MAX_S 7e9 /* some time after 2190 */

struct reader {
        const struct findings_own *own;
        const struct cJSON *json;
        struct findings findings;
};

void findings_clear(struct findings *findings)
{
        free(findings->list);
        free(findings->unknown);
        *findings = (struct findings){ .n = 0 };
}

static const struct cJSON *get(const struct cJSON *json, const char *key)
{
        return cJSON_GetObjectItemCaseSensitive(json, key);
}

static double number(const struct cJSON *json, const char *key)
{
        const struct cJSON *item = get(json, key);

        return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : NAN;
}

static const char *text(const struct cJSON *json, const char *key)
{
        const char *value = cJSON_GetStringValue(get(json, key));

        return value ? value : "";
}

/* Finds the app on this machine by the entry's hash or name; NULL: it does not run here. */
static const struct findings_app *find_app(const struct findings_own *own, const struct cJSON *json)
{
        const char *name = *text(json, "hash") ? text(json, "hash") : text(json, "app");
        char hash[NAME_HASH_SIZE];

        if (!*name)
                return NULL;
        name_hash_of(name, hash);
        for (size_t i = 0; i < own->n_apps; i++)
                if (strcmp(own->apps[i].hash, hash) == 0)
                        return &own->apps[i];
        return NULL;
}

static int add(struct findings *findings, const struct finding *finding)
{
        if (findings->n >= FINDINGS_MAX)
                return 0;
        if (util_grow(&findings->list, &findings->capacity, findings->n + 1, sizeof(*findings->list)) < 0)
                return -ENOMEM;
        findings->list[findings->n++] = *finding;
        return 0;
}

static bool has_feature(const struct findings_own *own, const char *key, const char *value)
{
        for (size_t i = 0; i < own->n_features; i++)
                if (*value && strcmp(own->features[i].key, key) == 0 && strcmp(own->features[i].value, value) == 0)
                        return true;
        return false;
}

/* Adds the features that raise the app's cost, apply here and can be changed. */
static int add_settings(struct reader *reader, const struct cJSON *hog, const struct findings_app *app)
{
        const struct cJSON *why;
        int err = 0;

        cJSON_ArrayForEach(why, get(hog, "why")) {
                const struct cJSON *gain = get(why, "gain");
                struct finding finding = {
                        .kind = FINDING_SETTING, .app = app->name, .clients = number(why, "clients"),
                        .minutes = number(why, "minutes_there") - number(why, "minutes_else"),
                        .low = number(gain, "low"), .high = number(gain, "high"), .here = NAN, .there = NAN,
                };

                if (!cJSON_IsTrue(get(why, "actionable")) || !(finding.minutes > 0) ||
                    !has_feature(reader->own, text(why, "feature"), text(why, "is")))
                        continue;
                util_printable(text(why, "feature"), finding.value, sizeof(finding.value));
                err = add(&reader->findings, &finding);
                if (err)
                        break;
        }
        return err;
}

static int add_hogs(struct reader *reader)
{
        const struct cJSON *hog;
        int err = 0;

        cJSON_ArrayForEach(hog, get(reader->json, "hogs")) {
                const struct findings_app *app = find_app(reader->own, hog);
                const struct cJSON *minutes = get(hog, "minutes");
                const struct finding finding = {
                        .kind = FINDING_CLOSE, .app = app ? app->name : NULL, .minutes = number(minutes, "value"),
                                .low = number(minutes, "low"),
                        .high = number(minutes, "high"), .clients = number(hog, "clients"), .here = NAN, .there = NAN,
                };

                if (!app || !(finding.low <= finding.minutes) || !(finding.minutes <= finding.high) ||
                    !(finding.minutes > 0))
                        continue;
                err = add(&reader->findings, &finding);
                if (!err)
                        err = add_settings(reader, hog, app);
                if (err)
                        break;
        }
        return err;
}

/*
 * Additional time on a full charge if the app took only @watts, based on the drain rate on this device with
 * the app.
 */
static double minutes_at(const struct reader *reader, const struct cJSON *bug, double watts)
{
        double rate = number(bug, "rate") * 1e-9, less = (number(bug, "watts") - watts) / reader->own->full_j;
        double minutes = (1 / (rate - less) - 1 / rate) / 60;

        return rate > 0 && less < rate && isfinite(minutes) ? minutes : NAN;
}

/*
 * Without a bound nothing is promised, for example if the battery drains more slowly than the model's power
 * of the app alone.
 */
static void find_restart_minutes(const struct reader *reader, const struct cJSON *bug, struct finding *finding)
{
        double value = minutes_at(reader, bug, finding->there),
               low = minutes_at(reader, bug, number(bug, "others_high")),
               high = minutes_at(reader, bug, number(bug, "others_low"));

        if (!(value > 0 && low <= value && value <= high))
                return;
        finding->minutes = value;
        finding->low = low;
        finding->high = high;
}

static int add_bugs(struct reader *reader)
{
        const struct cJSON *bug;
        int err = 0;

        cJSON_ArrayForEach(bug, get(reader->json, "bugs")) {
                const struct findings_app *app = find_app(reader->own, bug);
                struct finding finding = {
                        .kind = FINDING_RESTART, .app = app ? app->name : NULL, .minutes = NAN, .low = NAN, .high = NAN,
                        .clients = number(bug, "clients"), .here = number(bug, "watts"),
                        .there = number(bug, "others_watts"),
                };

                if (!app || strcmp(text(bug, "client"), reader->own->client) != 0 || !(finding.here > finding.there))
                        continue;
                find_restart_minutes(reader, bug, &finding);
                err = add(&reader->findings, &finding);
                if (err)
                        break;
        }
        return err;
}

/* Finds the entry of the version on this machine; NULL: there is none. */
static const struct cJSON *find_version(const struct reader *reader, const struct findings_app *app)
{
        const struct cJSON *version;

        cJSON_ArrayForEach(version, get(reader->json, "versions"))
                if (*app->version && strcmp(text(version, "version"), app->version) == 0 &&
                    find_app(reader->own, version) == app)
                        return version;
        return NULL;
}

/*
 * Additional time on a full charge with a smaller effect, based on the median device's rate; the bounds of
 * both effects are independent.
 */
static void find_update_minutes(const struct reader *reader, const struct cJSON *mine, const struct cJSON *best,
                                struct finding *finding)
{
        double rate = number(get(reader->json, "jscore"), "mean_rate") * 1e-9, a = 1 + finding->here,
               b = 1 + finding->there;
        double a_error = (number(mine, "effect_high") - number(mine, "effect_low")) / 2 / (a * a);
        double b_error = (number(best, "effect_high") - number(best, "effect_low")) / 2 / (b * b);
        double minutes = (1 / b - 1 / a) / rate / 60, error = sqrt(a_error * a_error + b_error * b_error) / rate / 60;

        if (!(rate > 0 && a > 0 && b > 0 && minutes > 0 && isfinite(minutes) && isfinite(error)))
                return;
        finding->minutes = minutes;
        finding->low = minutes - error;
        finding->high = minutes + error;
}

/* Adds an update if a newer version is significantly cheaper. */
static int add_update(struct reader *reader, const struct findings_app *app)
{
        const struct cJSON *mine = find_version(reader, app), *best = NULL, *version;
        struct finding finding = { .kind = FINDING_UPDATE, .app = app->name, .minutes = NAN, .low = NAN, .high = NAN };

        if (!mine)
                return 0;
        cJSON_ArrayForEach(version, get(reader->json, "versions"))
                if (strverscmp(text(version, "version"), app->version) > 0 && find_app(reader->own, version) == app &&
                    number(version, "effect_high") < number(mine, "effect_low") &&
                    (!best || number(version, "effect") < number(best, "effect")))
                        best = version;
        if (!best)
                return 0;
        util_printable(text(best, "version"), finding.value, sizeof(finding.value));
        finding.clients = number(best, "clients");
        finding.here = number(mine, "effect");
        finding.there = number(best, "effect");
        find_update_minutes(reader, mine, best, &finding);
        return add(&reader->findings, &finding);
}

static int add_unknown(struct reader *reader)
{
        struct findings *findings = &reader->findings;
        const struct cJSON *item;

        cJSON_ArrayForEach(item, get(reader->json, "not_yet")) {
                const struct findings_app *app = find_app(reader->own, item);
                double hours = number(item, "hours");

                if (!app || !(hours > 0) || findings->n_unknown >= FINDINGS_MAX)
                        continue;
                if (util_grow(&findings->unknown, &findings->unknown_capacity, findings->n_unknown + 1,
                              sizeof(*findings->unknown)) < 0)
                        return -ENOMEM;
                findings->unknown[findings->n_unknown++] = (struct findings_unknown){ app->name, hours };
        }
        return 0;
}

static int compare(const void *a, const void *b)
{
        const struct finding *x = a, *y = b;
        double p = isnan(x->minutes) ? -1 : x->minutes, q = isnan(y->minutes) ? -1 : y->minutes;
        int order = strcmp(x->app, y->app);

        return p != q ? (p < q ? 1 : -1) : order ? order : (int)x->kind - (int)y->kind;
}

/* Converts 1e-9 of a full charge per second to parts of a full charge per hour. */
static double an_hour(double rate)
{
        return rate >= 0 ? rate * 1e-9 * 3600 : NAN;
}

static void read_asleep(const struct cJSON *json, struct findings *findings)
{
        const struct cJSON *rate = get(json, "rate");

        findings->asleep = an_hour(number(json, "own_rate"));
        findings->asleep_others = an_hour(number(rate, "value"));
        findings->asleep_low = an_hour(number(rate, "low"));
        findings->asleep_high = an_hour(number(rate, "high"));
        findings->asleep_clients = number(json, "clients");
        findings->asleep_same_model = cJSON_IsTrue(get(json, "same_model"));
}

static int read_all(struct reader *reader)
{
        struct findings *findings = &reader->findings;
        const struct cJSON *score = get(reader->json, "jscore");
        double made = number(reader->json, "made");
        int err;

        findings->clients = number(reader->json, "clients");
        findings->samples = number(reader->json, "samples");
        if (!(findings->clients >= 0) || !(findings->samples >= 0) || !cJSON_IsArray(get(reader->json, "hogs")))
                return -EBADMSG;
        findings->made_ns = made > 0 && made < MADE_MAX_S ? (int64_t)(made * (double)NS_PER_S) : INT64_MIN;
        findings->score = number(score, "own_score");
        findings->score_clients = number(score, "clients");
        read_asleep(get(reader->json, "asleep"), findings);
        err = add_hogs(reader);
        if (!err)
                err = add_bugs(reader);
        for (size_t i = 0; !err && i < reader->own->n_apps; i++)
                err = add_update(reader, &reader->own->apps[i]);
        if (!err)
                err = add_unknown(reader);
        if (!err && findings->n > 1)
                qsort(findings->list, findings->n, sizeof(*findings->list), compare);
        return err;
}

int findings_parse(const char *report, const struct findings_own *own, struct findings *ret)
{
        struct cJSON *json = cJSON_Parse(report);
        struct reader reader = { .own = own, .json = json };
        int err = json_failed() ? -ENOMEM : cJSON_IsObject(json) ? read_all(&reader) : -EBADMSG;

        cJSON_Delete(json);
        if (err)
                findings_clear(&reader.findings);
        else
                *ret = reader.findings;
        return err;
}
