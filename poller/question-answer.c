/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Answers a question with the public API, restricted to what the user may see. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/answer.h"
#include "api/answer-fields.h"
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
                *ret = answer_json(forecast_fields, &forecast->forecast, answering->profile->profile);
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
                *ret = answer_json(budget_fields, &budget->budget, answering->profile->profile);
        joulecast_budget_free(budget);
        return err;
}

static int answer_whatif(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        struct joulecast_gain *gain = NULL;
        const struct joulecast_change change = { .changes = question->changes };
        int err = joulecast_gain_new(answering->profile, answering->usage, &change, &gain);

        if (err == 0)
                *ret = answer_json(gain_fields, &gain->gain, answering->profile->profile);
        joulecast_gain_free(gain);
        return err;
}

static int answer_endure(const struct answering *answering, const struct question *question, struct cJSON **ret)
{
        struct joulecast_endurance *endurance = NULL;
        const struct joulecast_goal goal = { .goal = question->goal };
        int err = joulecast_endurance_new(answering->profile, answering->usage, &goal, &endurance);

        if (err == 0)
                *ret = answer_json(endurance_fields, &endurance->endurance, answering->profile->profile);
        joulecast_endurance_free(endurance);
        return err;
}

/* The commands depend on the user's session, so the client finds them. */
static int answer_advise(const struct answering *answering, struct cJSON **ret)
{
        struct advice_list advice;
        int err = api_advise(answering->usage, answering->profile, &advice);

        if (err == 0)
                *ret = answer_advice_json(&advice, NULL, answering->profile->profile);
        return err;
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
        struct answer_apps apps = { INT64_MIN, INT64_MIN, NAN, -1 };
        const struct forecast_battery *now = NULL;
        struct cJSON *json;
        int err = joulecast_usage_span(answering->usage, &apps.from_ns, &apps.to_ns);

        if (err == 0 && api_usage_battery(answering->usage, answering->profile, &now) == -ENOMEM)
                err = -ENOMEM;
        if (now && api_usage_percent(now, &apps.percent) == 0)
                apps.plugged = api_usage_plugged(now);
        json = answer_json(apps_fields, &apps, NULL);
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
                *ret = answer_json(timeline_fields, timeline, NULL);
        return err;
}

/* Rounded up to the next whole second, so that the poll that ended there is not part of the span. */
static int answer_since(const struct answering *answering, struct cJSON **ret)
{
        struct answer_since since;
        int err = 0;

        for (size_t i = 0; err == 0 && i < ARRAY_SIZE(since.times_ns); i++) {
                int64_t *time_ns = &since.times_ns[i];

                *time_ns = INT64_MIN;
                err = joulecast_usage_since(answering->usage, (enum joulecast_event)i, time_ns);
                if (err == -ENODATA)
                        err = 0;
                if (*time_ns != INT64_MIN)
                        *time_ns += (int64_t)NS_PER_S - 1;
        }
        if (err == 0)
                *ret = answer_json(since_fields, &since, NULL);
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
        struct answer_live about = { .number = live->number, .percent = NAN, .plugged = -1 };
        int err = cost_make_now(profile, live->list, live->n, answering_seen_by(uid), &cost);

        for (size_t i = 0; i < live->n; i++)
                about.suspend_s += (double)live->list[i].suspend_ns / (double)NS_PER_S;
        if (live->n > 0) {
                struct forecast_battery last = { .battery = live->list[live->n - 1].battery };

                last.known = last.battery.have != 0;
                correct_battery(answering, source, &last.battery);
                (void)api_usage_percent(&last, &about.percent);
                about.plugged = api_usage_plugged(&last);
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
                *ret = answer_json(forgotten_fields, &forgotten, NULL);
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
