/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the community's report for the apps on this device. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "answer/answer.h"
#include "discharge.h"
#include "findings.h"
#include "gains.h"
#include "kept-report.h"
#include "place.h"
#include "session.h"
#include "store/store.h"
#include "traits.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"
#include "versions.h"

#define CLIENTS_MIN 5 /* least number of clients with a hog */

/* "0.42 W here, 0.10 W on others" */
static char *print_why(const struct finding *finding, char *buf, size_t size)
{
        *buf = '\0';
        if (finding->kind == FINDING_RESTART)
                snprintf(buf, size, _("%.2g W here, %.2g W on others"), finding->here, finding->there);
        else if (finding->kind == FINDING_UPDATE)
                snprintf(buf, size, _("to %s: %+.0f %% instead of %+.0f %%"), finding->value, 100 * finding->there,
                         100 * finding->here);
        else if (finding->kind == FINDING_SETTING)
                snprintf(buf, size, "%s", finding->value);
        return buf;
}

/* @number: 0 if the finding has none. */
static void add_finding(struct table *table, const struct finding *finding, size_t number)
{
        char why[256], minutes[32], bounds[64], clients[32], text[32];

        snprintf(text, sizeof(text), "%zu", number);

        snprintf(minutes, sizeof(minutes), "%.0f min", finding->minutes);
        snprintf(bounds, sizeof(bounds), "%.0f .. %.0f", finding->low, finding->high);
        snprintf(clients, sizeof(clients), "%.0f", finding->clients);
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", number ? text : "");
        table_cell(table, "%s", _(shown_deeds[finding->kind]));
        table_cell(table, "%s", finding->app);
        table_cell(table, "%s", isnan(finding->minutes) ? "" : minutes);
        table_cell(table, "%s", isnan(finding->low) ? "" : bounds);
        table_cell(table, "%s", isnan(finding->clients) ? "" : clients);
        table_cell(table, "%s", print_why(finding, why, sizeof(why)));
}

static bool lacks_minutes(const struct findings *findings)
{
        for (size_t i = 0; i < findings->n; i++)
                if (findings->list[i].kind == FINDING_RESTART && isnan(findings->list[i].minutes))
                        return true;
        return false;
}

static void print_unknown(const struct findings *findings)
{
        if (findings->clients < CLIENTS_MIN)
                table_text(TABLE_PLAIN, "Not enough yet: %.0f of %d devices so far.", findings->clients, CLIENTS_MIN);
        for (size_t i = 0; i < findings->n_unknown; i++)
                table_text(TABLE_PLAIN, "Not enough yet about %s: about %.0f more hours.", findings->unknown[i].app,
                           ceil(findings->unknown[i].hours));
        if (findings->clients >= CLIENTS_MIN && findings->n_unknown == 0 && findings->n == 0)
                table_text(TABLE_PLAIN, "Of the apps that run here, none is known to cost more than others do.");
}

static const char *words_of_gain(const struct watch *watch, char *buf, size_t size)
{
        if (watch->kind == FINDING_UPDATE)
                snprintf(buf, size, _("from %s"), watch->was);
        else
                snprintf(buf, size, "%s", watch->value);
        return buf;
}

static void add_gain(struct table *table, const struct watch *watch, const struct cost_value *gain)
{
        char time[40], what[UPLOAD_TEXT_MAX + 16], app[80];

        values_print_local(watch->since_ns, time, sizeof(time));
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", _(shown_deeds[watch->kind]));
        table_cell(table, "%s", util_printable(watch->app, app, sizeof(app)));
        table_cell(table, "%.16s", time);
        table_cell(table, "%.0f min", gain->value);
        table_cell(table, "%.0f .. %.0f", gain->low, gain->high);
        table_cell(table, "%s", words_of_gain(watch, what, sizeof(what)));
}

/* Prints the suggestions that were followed, and the gain measured on this battery. */
static void print_gains(const struct member *member)
{
        _cleanup_(table_freep) struct table *table = table_new("lnrrrl");
        struct cost_value gain;
        size_t n = 0;

        table_heads(table, N_("Done"), N_("App"), N_("Since"), N_("Gained here"), "95 %", N_("Change"), NULL);
        for (size_t i = 0; i < member->n_watches; i++)
                if (watch_gain(&member->watches[i], &gain)) {
                        add_gain(table, &member->watches[i], &gain);
                        n++;
                }
        if (n) {
                putchar('\n');
                table_print(table);
                table_note("Minutes of a full charge, by how fast this battery drained before and since. They include "
                           "other changes since then.");
        }
        for (size_t i = 0; i < member->n_watches; i++) {
                const struct watch *watch = &member->watches[i];
                char app[80];

                if (!watch->since_ns || watch_gain(watch, &gain))
                        continue;
                table_text(TABLE_PLAIN, "Not enough yet about the gain with %s: %.0f spans before, %.0f since, of %d"
                                        " each.",
                           util_printable(watch->app, app, sizeof(app)), watch->before.n, watch->after.n,
                           WATCH_SPANS_MIN);
        }
}

static void print_asleep(const struct findings *findings)
{
        if (isnan(findings->asleep))
                return;
        table_text(TABLE_PLAIN, "Suspended, this device loses %.2g %% of a full charge an hour.",
                   100 * findings->asleep);
        if (isnan(findings->asleep_others) || isnan(findings->asleep_low) || isnan(findings->asleep_high))
                return;
        table_text(TABLE_PLAIN,
                   findings->asleep_same_model
                           ? N_("%.0f devices of the same model lose %.2g %% (median; 95 %% bounds %.2g to %.2g).")
                           : N_("%.0f other devices lose %.2g %% (median; 95 %% bounds %.2g to %.2g)."),
                   findings->asleep_clients, 100 * findings->asleep_others, 100 * findings->asleep_low,
                   100 * findings->asleep_high);
}

/* "12.3 %/h" */
static const char *print_rate(const struct watch_rates *rates, char *buf, size_t size)
{
        double rate;

        if (!watch_rate(rates, &rate))
                return _("not known yet");
        snprintf(buf, size, "%.3g %%/h", rate * 100 * 3600);
        return buf;
}

static void add_act(struct table *table, const struct watch *watch)
{
        char time[40], app[80], before[32], after[32];

        values_print_local(watch->acted_ns, time, sizeof(time));
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", _(watch_acts[watch->act]));
        table_cell(table, "%s", util_printable(watch->app, app, sizeof(app)));
        table_cell(table, "%.16s", time);
        table_cell(table, "%s", print_rate(&watch->before, before, sizeof(before)));
        table_cell(table, "%s", print_rate(&watch->after, after, sizeof(after)));
}

/* Prints the findings that were acted on: since when, and how fast the battery drained before and since. */
static void print_acts(const struct member *member)
{
        _cleanup_(table_freep) struct table *table = table_new("lnrrr");
        size_t n = 0;

        table_heads(table, N_("Acted"), N_("App"), N_("Since"), N_("Drain before"), N_("Drain since"), NULL);
        for (size_t i = 0; i < member->n_watches; i++)
                if (member->watches[i].act) {
                        add_act(table, &member->watches[i]);
                        n++;
                }
        if (n == 0)
                return;
        putchar('\n');
        table_print(table);
        table_note("Percent are of a full charge, with the app in use, and without it since it was closed.");
}

/* @acts: `act` can follow at least one finding. */
static int print_text(const struct findings *findings, const struct member *member, bool acts)
{
        _cleanup_(table_freep) struct table *table = table_new("rlnrrrl");

        /* Not converted to an integer, as a server may send any number. */
        table_text(TABLE_PLAIN, words_counted("From %.0f device and %.0f samples.",
                                              "From %.0f devices and %.0f samples.",
                                              findings->clients == 1 ? 1 : 2), findings->clients, findings->samples);
        if (findings->n > 0) {
                table_heads(table, "#", N_("Do"), N_("App"), N_("Gains"), "95 %", N_("Devices"), N_("Why"), NULL);
                for (size_t i = 0; i < findings->n; i++)
                        add_finding(table, &findings->list[i], i < member->n_shown ? i + 1 : 0);
                putchar('\n');
                table_print(table);
                table_note("Minutes of a full charge, as long as the app would be in use.");
                if (acts)
                        table_note("joulecast community act N does what a finding suggests.");
                if (lacks_minutes(findings))
                        table_note("Without minutes: the report does not say how fast this battery drains with that"
                                   " app.");
        }
        print_unknown(findings);
        print_acts(member);
        print_gains(member);
        if (!isnan(findings->score))
                table_text(TABLE_PLAIN, "This battery lasts longer than those of %.0f %% of %.0f devices (J-score).",
                           findings->score,
                           findings->score_clients);
        print_asleep(findings);
        return CODE_OK;
}

/* null: not known yet */
static void add_rate(struct cJSON *json, const char *key, const struct watch_rates *rates)
{
        double rate = NAN;

        (void)watch_rate(rates, &rate);
        cJSON_AddNumberToObject(json, key, rate * 100 * 3600);
}

static struct cJSON *gain_json(const struct watch *watch)
{
        struct cost_value gain = { NAN, NAN, NAN };
        struct cJSON *json = cJSON_CreateObject();

        (void)watch_gain(watch, &gain);
        cJSON_AddStringToObject(json, "do", shown_deeds[watch->kind]);
        cJSON_AddItemToObject(json, "app", answer_text(watch->app));
        cJSON_AddItemToObject(json, "what", answer_text(watch->value));
        answer_add_time(json, "told", watch->told_ns);
        answer_add_time(json, "since", watch->since_ns ? watch->since_ns : INT64_MIN);
        cJSON_AddItemToObject(json, "minutes", answer_value(&gain));
        cJSON_AddNumberToObject(json, "spans_before", watch->before.n);
        cJSON_AddNumberToObject(json, "spans_since", watch->after.n);
        cJSON_AddItemToObject(json, "act", answer_text(watch->act ? watch_acts[watch->act] : NULL));
        answer_add_time(json, "acted", watch->act ? watch->acted_ns : INT64_MIN);
        add_rate(json, "percent_per_hour_before", &watch->before);
        add_rate(json, "percent_per_hour_since", &watch->after);
        return json;
}

/* @number: NaN if the finding has none. */
static struct cJSON *finding_json(const struct finding *finding, double number)
{
        const struct cost_value minutes = { finding->minutes, finding->low, finding->high };
        struct cJSON *json = cJSON_CreateObject();
        char why[256];

        cJSON_AddNumberToObject(json, "number", number);
        cJSON_AddStringToObject(json, "do", shown_deeds[finding->kind]);
        cJSON_AddItemToObject(json, "app", answer_text(finding->app));
        cJSON_AddItemToObject(json, "minutes", answer_value(&minutes));
        cJSON_AddNumberToObject(json, "clients", finding->clients);
        cJSON_AddItemToObject(json, "why", answer_text(print_why(finding, why, sizeof(why))));
        return json;
}

static int print_json(const struct findings *findings, const struct member *member)
{
        const struct cost_value others = { 100 * findings->asleep_others, 100 * findings->asleep_low,
                                           100 * findings->asleep_high };
        struct cJSON *json = cJSON_CreateObject(), *list, *score;

        cJSON_AddNumberToObject(json, "clients", findings->clients);
        cJSON_AddNumberToObject(json, "samples", findings->samples);
        answer_add_time(json, "made", findings->made_ns);
        list = cJSON_AddArrayToObject(json, "findings");
        for (size_t i = 0; i < findings->n; i++)
                cJSON_AddItemToArray(list, finding_json(&findings->list[i],
                                                        i < member->n_shown ? (double)(i + 1) : NAN));
        list = cJSON_AddArrayToObject(json, "not_yet");
        for (size_t i = 0; i < findings->n_unknown; i++) {
                struct cJSON *item = cJSON_CreateObject();

                cJSON_AddItemToObject(item, "app", answer_text(findings->unknown[i].app));
                cJSON_AddNumberToObject(item, "hours", findings->unknown[i].hours);
                cJSON_AddItemToArray(list, item);
        }
        list = cJSON_AddArrayToObject(json, "gains");
        for (size_t i = 0; i < member->n_watches; i++)
                cJSON_AddItemToArray(list, gain_json(&member->watches[i]));
        score = cJSON_AddObjectToObject(json, "jscore");
        cJSON_AddNumberToObject(score, "score", findings->score);
        cJSON_AddNumberToObject(score, "clients", findings->score_clients);
        score = cJSON_AddObjectToObject(json, "asleep");
        cJSON_AddNumberToObject(score, "percent_per_hour", 100 * findings->asleep);
        cJSON_AddItemToObject(score, "others_percent_per_hour", answer_value(&others));
        cJSON_AddNumberToObject(score, "clients", findings->asleep_clients);
        cJSON_AddBoolToObject(score, "same_model", findings->asleep_same_model);
        return answer_print_json(json);
}

/* Lists the apps that run on this device now, as far as recorded. */

struct running {
        char **names;
        size_t n, capacity;
};

#define SPAN_NS (900 * (int64_t)NS_PER_S)

static void running_clear(struct running *running)
{
        for (size_t i = 0; i < running->n; i++)
                free(running->names[i]);
        free(running->names);
        *running = (struct running){ .n = 0 };
}

static int take_row(void *data, const struct store_row *row)
{
        struct running *running = data;

        if (!discharge_is_app(row->app) || row->active_ns == 0)
                return 0;
        for (size_t i = 0; i < running->n; i++)
                if (strcmp(running->names[i], row->app) == 0)
                        return 0;
        if (util_grow(&running->names, &running->capacity, running->n + 1, sizeof(*running->names)) < 0)
                return -ENOMEM;
        running->names[running->n] = strdup(row->app);
        return running->names[running->n] ? (running->n++, 0) : -ENOMEM;
}

/*
 * Reads the last recorded quarter of an hour. Returns 0; -ENODATA: nothing is recorded; another negative
 * errno.
 */
static int running_read(struct store *store, struct running *ret)
{
        struct store_query query = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .grain = STORE_RAW, .uid = -1 };
        struct running running = { .n = 0 };
        struct store_battery battery;
        int err = store_battery(store, INT64_MIN, INT64_MAX, &battery);

        if (err)
                return err;
        query.from_ns = battery.last_ns - SPAN_NS;
        err = store_rows(store, &query, take_row, &running);
        if (err)
                running_clear(&running);
        else
                *ret = running;
        return err;
}

/* Compares the apps on this device and their versions with the report. */
static int find(struct session *session, struct member *member, const char *text, struct running *running,
                struct findings *ret)
{
        _cleanup_free_ struct findings_app *apps = calloc(running->n + 1, sizeof(*apps));
        _cleanup_free_ const char **names = calloc(running->n + 1, sizeof(char *));
        _cleanup_free_ char(*versions)[VERSION_SIZE] = calloc(running->n + 1, sizeof(*versions));
        struct traits traits;
        const struct findings_feature features[] = { { "kernel", traits.kernel }, { "mesa", traits.mesa },
                                                     { "firmware", traits.firmware } };
        const struct findings_own own = { .client = member->client, .apps = apps, .n_apps = running->n,
                                          .features = features, .n_features = ARRAY_SIZE(features),
                                          .full_j = session->profile->energy_full_mwh * J_PER_MWH };
        int err;

        if (!apps || !names || !versions)
                return -ENOMEM;
        for (size_t i = 0; i < running->n; i++)
                names[i] = running->names[i];
        err = versions_of_apps(session->root_fd, names, running->n, versions);
        if (err)
                return err;
        for (size_t i = 0; i < running->n; i++) {
                apps[i].name = running->names[i];
                apps[i].version = versions[i];
                name_hash_of(running->names[i], apps[i].hash);
        }
        traits_read(session->root_fd, session->profile, &traits);
        err = findings_parse(text, &own, ret);
        if (!err)
                gains_tell(member, ret, &own, values_now_ns());
        return err;
}

/* Where nobody answers now, the last answer counts. Returns an exit code after a sentence. @kept: it is that. */
static int get_report(const struct session *session, const struct member *member, bool *kept, char **ret)
{
        int err = place_report(member, session->state, &program_log, ret);

        if (err == -ENODATA) {
                log_error(&program_log, "%s has no report yet", member->where);
                return CODE_NO_DATA;
        }
        if (!err)
                return CODE_OK;
        *kept = err == -EAGAIN && kept_report_read(session->state, ret) == 0;
        if (!*kept)
                return CODE_FAILED;
        log_warning(&program_log, "this is the last report that %s gave", member->where);
        return CODE_OK;
}

/* Reads the member again: `leave`, `forget` or `send` may have changed it while the server answered. */
static int read_again(const struct session *session, struct member *member)
{
        _cleanup_(member_clear) struct member now = { .where = NULL };
        struct member before;
        int code = session_read_member(session, &now);

        if (code != CODE_OK)
                return code;
        if (strcmp(now.client, member->client) != 0) {
                log_error(&program_log, "this device has another id since the report was asked for; ask again");
                return CODE_FAILED;
        }
        before = *member;
        *member = now;
        now = before;
        return CODE_OK;
}

int report_run(struct session *session)
{
        _cleanup_(member_clear) struct member member = { .where = NULL };
        _cleanup_(running_clear) struct running running = { .n = 0 };
        _cleanup_(findings_clear) struct findings findings = { .n = 0 };
        _cleanup_free_ char *text = NULL;
        bool kept = false, acts = !session->was_root && !session->options.device && !session->options.machine;
        int code = session_read_member(session, &member), err;

        if (code == CODE_OK)
                code = session_open_files(session);
        if (code != CODE_OK)
                return code;
        err = running_read(session->store, &running);
        if (err && err != -ENODATA)
                return CODE_FAILED;
        code = get_report(session, &member, &kept, &text);
        if (code == CODE_OK)
                code = read_again(session, &member);
        if (code != CODE_OK)
                return code;
        err = find(session, &member, text, &running, &findings);
        if (err == -EBADMSG)
                log_error(&program_log, "the report of %s cannot be read: it is none, or damaged", member.where);
        if (err)
                return CODE_FAILED;
        if (!kept)
                kept_report_write(session->state, text, &program_log);
        member.n_shown = shown_take(&findings, member.shown);
        code = gains_follow(session, &member);
        if (code != CODE_OK)
                return code;
        member_write(session->state, &member, &program_log); /* says so where it fails; the report is shown anyway */
        return session->options.json ? print_json(&findings, &member) : print_text(&findings, &member, acts);
}
