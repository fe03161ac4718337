/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Answers a question with the public API, restricted to what the user may see. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/answer.h"
#include "answering.h"
#include "forecast/charging.h"
#include "model/json-print.h"
#include "process/collector.h"
#include "answer/moment.h"
#include "question.h"
#include "util/units.h"
#include "util/util.h"

static int answer_cost(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        struct joulecast_cost *cost = NULL;
        int err = joulecast_cost_new(answering->profile, answering->usage, question->from.ns, question->to_ns, &cost);

        if (err == 0)
                *ret = answer_cost_json(cost->cost, answering->profile->profile);
        joulecast_cost_free(cost);
        return err;
}

static int answer_predict(const struct answering *answering, const struct question *question,
                          struct cJSON **ret)
{
        struct joulecast_forecast *forecast = NULL;
        int err = joulecast_forecast_new(answering->profile, answering->usage, question->app,
                                         question->minutes, &forecast);

        if (err == 0)
                *ret = answer_forecast_json(forecast, answering->profile->profile, question->minutes);
        joulecast_forecast_free(forecast);
        return err;
}

static int answer_budget(const struct answering *answering, const struct question *question,
                         struct cJSON **ret)
{
        struct joulecast_budget *budget = NULL;
        const struct joulecast_plan plan = { .plan = question->plan };
        int err = joulecast_budget_new(answering->profile, answering->usage, &plan, &budget);

        if (err == 0)
                *ret = answer_budget_json(budget, answering->profile->profile);
        joulecast_budget_free(budget);
        return err;
}

static int answer_whatif(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        struct joulecast_gain *gain = NULL;
        const struct joulecast_change change = { .changes = question->changes };
        int err = joulecast_gain_new(answering->profile, answering->usage, &change, &gain);

        if (err == 0)
                *ret = answer_gain_json(gain, answering->profile->profile);
        joulecast_gain_free(gain);
        return err;
}

static int answer_endure(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        struct joulecast_endurance *endurance = NULL;
        const struct joulecast_goal goal = { .goal = question->goal };
        int err = joulecast_endurance_new(answering->profile, answering->usage, &goal, &endurance);

        if (err == 0)
                *ret = answer_endure_json(&endurance->endurance, answering->profile->profile);
        joulecast_endurance_free(endurance);
        return err;
}

/* The commands depend on the user's session, so the client finds them. */
static int answer_advise(const struct answering *answering, struct cJSON **ret)
{
        struct advice advice[ADVICE_MAX];
        ssize_t n = api_advise(answering->usage, answering->profile, advice);

        if (n < 0)
                return (int)n;
        *ret = answer_advice_json(advice, (size_t)n, NULL, answering->profile->profile);
        return 0;
}

static int add_app(void *data, const char *app, const char *name, enum joulecast_state state, double active_s)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddItemToObject(json, "app", answer_text(app));
        cJSON_AddItemToObject(json, "name", answer_text(name));
        cJSON_AddStringToObject(json, "state", answer_state((enum app_state)state));
        cJSON_AddNumberToObject(json, "active_s", active_s);
        cJSON_AddItemToArray(data, json);
        return 0;
}

static int answer_apps(const struct answering *answering, struct cJSON **ret)
{
        struct cJSON *json = cJSON_CreateObject(), *battery;
        int64_t from_ns = INT64_MIN, to_ns = INT64_MIN;
        const struct forecast_battery *now = NULL;
        double percent = NAN;
        int plugged = -1, err;

        err = joulecast_usage_span(answering->usage, &from_ns, &to_ns);
        answer_add_time(json, "from", from_ns);
        answer_add_time(json, "to", to_ns);
        if (err == 0 && api_usage_battery(answering->usage, answering->profile, &now) == -ENOMEM)
                err = -ENOMEM;
        if (now && api_usage_percent(now, &percent) == 0)
                plugged = api_usage_plugged(now);
        battery = cJSON_AddObjectToObject(json, "battery");
        cJSON_AddNumberToObject(battery, "percent", percent);
        if (plugged < 0)
                cJSON_AddNullToObject(battery, "plugged");
        else
                cJSON_AddBoolToObject(battery, "plugged", plugged);
        if (err == 0)
                err = joulecast_usage_apps(answering->usage, add_app, cJSON_AddArrayToObject(json, "apps"));
        if (err < 0)
                cJSON_Delete(json);
        else
                *ret = json;
        return err;
}

static int answer_usage(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        const struct store_query query = { .from_ns = question->from.ns, .to_ns = question->to_ns, .app = question->app,
                                           .uid = answering->usage->uid };
        int err = usage_table_read(answering->usage->store, &query, &table);

        if (err == 0)
                *ret = answer_usage_json(table);
        return err;
}

static int answer_timeline(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        _cleanup_(timeline_freep) struct timeline *timeline = NULL;
        int err = timeline_make(answering->profile->profile, answering->usage->store, answering->usage->uid,
                                question->from.ns, question->to_ns, &timeline);

        if (err == 0)
                *ret = answer_timeline_json(timeline);
        return err;
}

/* Rounded up to the next whole second, so that the poll that ended there is not part of the span. */
static int answer_since(const struct answering *answering, struct cJSON **ret)
{
        static const struct {
                const char *key;
                enum joulecast_event event;
        } events[] = { { "full", JOULECAST_SINCE_FULL }, { "unplug", JOULECAST_SINCE_UNPLUG },
                       { "boot", JOULECAST_SINCE_BOOT }, { "resume", JOULECAST_SINCE_RESUME } };
        struct cJSON *json = cJSON_CreateObject();
        int err = 0;

        for (size_t i = 0; err == 0 && i < ARRAY_SIZE(events); i++) {
                int64_t time_ns = INT64_MIN;

                err = joulecast_usage_since(answering->usage, events[i].event, &time_ns);
                if (err == -ENODATA)
                        err = 0;
                if (time_ns == INT64_MIN)
                        cJSON_AddNullToObject(json, events[i].key);
                else
                        answer_add_time(json, events[i].key, time_ns + (int64_t)NS_PER_S - 1);
        }
        if (err < 0)
                cJSON_Delete(json);
        else
                *ret = json;
        return err;
}

/* Opens the database only where a supply may have stayed online: no other live question needs it. */
static void correct_battery(const struct answering *answering, const struct question_source *source,
                            struct battery *battery)
{
        struct store *store = NULL;

        if (!charging_is_doubtful(battery) ||
            store_open(source->database, STORE_READ, &answering->context->log, &store) < 0)
                return;
        (void)charging_correct(store, answering->profile->profile, (int64_t)util_clock_ns(CLOCK_REALTIME), battery);
        store_close(store);
}

/* @live may be empty: there is nothing new. */
static int price_live(const struct answering *answering, const struct question_source *source,
                      const struct question_live *live, uid_t uid, struct cJSON **ret)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        const struct profile *profile = answering->profile->profile;
        struct answer_live about = { .number = live->number };
        int err = cost_make_now(profile, live->list, live->n, answering_seen_by(uid), &cost);

        for (size_t i = 0; i < live->n; i++)
                about.suspend_s += (double)live->list[i].suspend_ns / (double)NS_PER_S;
        if (live->n > 0) {
                about.battery = live->list[live->n - 1].battery;
                correct_battery(answering, source, &about.battery);
        }
        if (!err)
                *ret = answer_live_json(&about, cost, profile);
        return err;
}

static int answer_live(struct answering *answering, const struct question_source *source,
                       const struct question *question, uid_t uid, struct cJSON **ret)
{
        struct question_live live = { 0 };
        int err = source->look ? source->look(source->look_data, question->after, &live) : -ENODATA;

        if (err == -ENODATA)
                snprintf(answering->sentence, sizeof(answering->sentence), "nothing was seen yet; ask again");
        if (err == -EBUSY)
                snprintf(answering->sentence, sizeof(answering->sentence),
                         "the service cannot write its database and waits; see its log");
        return err ? err : price_live(answering, source, &live, uid, ret);
}

/*
 * Users may forget their own apps only; root and the owner of the service may forget all. The database is not
 * read while it is rewritten.
 */
static int answer_forget(struct answering *answering, const struct question_source *source,
                         const struct question *question, uid_t uid, struct cJSON **ret)
{
        const struct store_forget what = { question->from.ns, question->to_ns, answering_seen_by(uid), question->app };
        struct store_forgotten forgotten = { 0 };
        int err;

        joulecast_usage_free(answering->usage);
        answering->usage = NULL;
        answering_kept_drop(source->kept);
        err = source->forget ? source->forget(source->look_data, &what, &forgotten) : -ENODATA;
        if (err == -EBUSY)
                snprintf(answering->sentence, sizeof(answering->sentence),
                         "the service cannot write its database and waits; see its log");
        if (!err)
                *ret = answer_forgotten_json(&forgotten);
        return err;
}

static int answer(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        switch (question->ask) {
        case ASK_COST:
                return answer_cost(answering, question, ret);
        case ASK_PREDICT:
                return answer_predict(answering, question, ret);
        case ASK_BUDGET:
                return answer_budget(answering, question, ret);
        case ASK_ADVISE:
                return answer_advise(answering, ret);
        case ASK_ENDURE:
                return answer_endure(answering, question, ret);
        case ASK_WHATIF:
                return answer_whatif(answering, question, ret);
        case ASK_APPS:
                return answer_apps(answering, ret);
        case ASK_SINCE:
                return answer_since(answering, ret);
        case ASK_TIMELINE:
                return answer_timeline(answering, question, ret);
        case ASK_USAGE:
                return answer_usage(answering, question, ret);
        default:
                return -EINVAL;
        }
}

/* Describes the service: its collector, and how many process ends it missed. */
static struct cJSON *answer_service(const struct question_source *source)
{
        struct cJSON *json = cJSON_CreateObject();

        for (size_t i = 0; source->sources && i < source->sources->n; i++) {
                const struct source *collector = source->sources->list[i];

                if (!(collector->counts & COUNTS_CPU))
                        continue;
                cJSON_AddStringToObject(json, "collector", collector->ops->name);
                cJSON_AddNumberToObject(json, "lost", (double)collector->lost);
                break;
        }
        return json;
}

static char *print_line(struct cJSON *json)
{
        _cleanup_free_ char *text = NULL;
        char *line;

        json_add_schema(json);
        text = json_print(json, JSON_LINE);
        return text && asprintf(&line, "%s\n", text) >= 0 ? line : NULL;
}

char *question_refuse(int err, const char *sentence)
{
        bool none = json_failed(); /* clears an earlier failure, which does not matter for the refusal */
        struct cJSON *json = cJSON_CreateObject();

        if (none)
                sentence = NULL;
        cJSON_AddStringToObject(json, "error", service_error_name(err));
        if (sentence && *sentence)
                cJSON_AddItemToObject(json, "sentence", answer_text(sentence));
        return print_line(json);
}

char *question_answer(const struct question_source *source, uid_t uid, const char *text, size_t length)
{
        struct answering answering = { 0 };
        _cleanup_(question_clear) struct question question = { 0 };
        struct cJSON *json = NULL;
        char *line = NULL;
        int err = question_parse(text, length, &question, answering.sentence);

        if (err == 0 && question.ask == ASK_SERVICE)
                return print_line(answer_service(source));
        if (err == 0)
                err = answering_open(&answering, source, uid, &question);
        if (err == 0 && question.ask == ASK_LIVE)
                err = answer_live(&answering, source, &question, uid, &json);
        else if (err == 0 && question.ask == ASK_FORGET)
                err = answer_forget(&answering, source, &question, uid, &json);
        else if (err == 0)
                err = answer(&answering, &question, &json);
        answering_close(&answering, source);
        if (err == 0) {
                line = print_line(json);
                err = line ? 0 : -ENOMEM;
        }
        return line ? line : question_refuse(err, answering.sentence);
}
