/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast warn`: tells the user what will soon go wrong. joulecast-focus runs it every few minutes with --notify,
 * which shows each warning once.
 */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "ask.h"
#include "commands.h"
#include "limit/plan-file.h"
#include "live.h"
#include "names.h"
#include "state.h"
#include "util/config.h"
#include "util/ini-text.h"
#include "util/log.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define WARNINGS_MAX 8
#define HOUR_NS (3600 * (int64_t)NS_PER_S)

/* Thresholds for an app in the background: its rate, and how many times its usual rate. */
#define MUCH_PERCENT_PER_HOUR 2
#define MORE_THAN_USUAL 2
#define LEAST_S 1200       /* time in the background that is needed in the last hour */
#define LEAST_USUAL_S 21600 /* and in the week before */

/* Remembers the warnings that the user has got, so that none comes twice; in a file that outlives sessions. */

#define WARNED_MAX 32 /* warnings that are remembered */
#define WARNED_ID_MAX 160

struct warned {
        struct {
                char id[WARNED_ID_MAX];
                int64_t held_ns; /* realtime: when it was last true */
        } list[WARNED_MAX];
        size_t n;
        int64_t sent_ns; /* when the last one was shown; 0: never */
};

#define FILE_MAX (64 << 10)
#define EVERY_NS (600 * (int64_t)NS_PER_S)
#define FORGOTTEN_NS (6 * 3600 * (int64_t)NS_PER_S)

/* A line for each: its time, a blank, its id; the first is "sent". */
static void read_line(struct warned *warned, char *line)
{
        char *end;
        long long time_ns = strtoll(line, &end, 10);

        if (end == line || *end != ' ' || !end[1] || strlen(end + 1) >= WARNED_ID_MAX || warned->n == WARNED_MAX)
                return;
        if (strcmp(end + 1, "sent") == 0) {
                warned->sent_ns = time_ns;
                return;
        }
        snprintf(warned->list[warned->n].id, WARNED_ID_MAX, "%s", end + 1);
        warned->list[warned->n++].held_ns = time_ns;
}

/* An unreadable file is an empty one: at worst a warning comes again. */
static void warned_read(const char *path, struct warned *ret)
{
        const struct log quiet = { 0 };
        _cleanup_free_ char *text = NULL;
        char *rest, *line;
        size_t length;

        *ret = (struct warned){ 0 };
        if (ini_text_read(path, FILE_MAX, &quiet, &text, &length) < 0 || memchr(text, '\0', length))
                return;
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
                read_line(ret, line);
}

/* 0; a negative errno: nothing was kept, so a warning that is shown now would come again and again. */
static int warned_write(const char *path, const struct warned *warned)
{
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return -ENOMEM;
        fprintf(file, "%lld sent\n", (long long)warned->sent_ns);
        for (size_t i = 0; i < warned->n; i++)
                fprintf(file, "%lld %s\n", (long long)warned->list[i].held_ns, warned->list[i].id);
        text = text_close(file, &kept);
        return text ? util_write_file(path, text, strlen(text), 0600) : -ENOMEM;
}

/* Notes that the warning @id is true now. Returns whether it was shown already. */
static bool warned_holds(struct warned *warned, const char *id, int64_t now_ns)
{
        for (size_t i = 0; i < warned->n; i++) {
                if (strcmp(warned->list[i].id, id) != 0)
                        continue;
                warned->list[i].held_ns = now_ns;
                return true;
        }
        return false;
}

/* Notes that it was shown. */
static void warned_told(struct warned *warned, const char *id, int64_t now_ns)
{
        size_t at = 0;

        warned->sent_ns = now_ns;
        if (warned->n < WARNED_MAX)
                at = warned->n++;
        else /* forget the one that has not held for the longest time */
                for (size_t i = 1; i < warned->n; i++)
                        if (warned->list[i].held_ns < warned->list[at].held_ns)
                                at = i;
        snprintf(warned->list[at].id, WARNED_ID_MAX, "%s", id);
        warned->list[at].held_ns = now_ns;
}

/* Clocks may be set back. */
static bool is_within(int64_t time_ns, int64_t now_ns, int64_t span_ns)
{
        return time_ns <= now_ns && time_ns > now_ns - span_ns;
}

/* Whether a warning may be shown now: not more than one in ten minutes. */
static bool warned_may(const struct warned *warned, int64_t now_ns)
{
        return !is_within(warned->sent_ns, now_ns, EVERY_NS);
}

/* Forgets warnings that have not been true for a while: they may come again. */
static void warned_forget(struct warned *warned, int64_t now_ns)
{
        size_t n = 0;

        for (size_t i = 0; i < warned->n; i++)
                if (is_within(warned->list[i].held_ns, now_ns, FORGOTTEN_NS))
                        warned->list[n++] = warned->list[i];
        warned->n = n;
}

struct warning {
        char id[WARNED_ID_MAX];
        char key[WARNED_ID_MAX]; /* key by which it is remembered */
        char summary[160];
        char sentence[512];
};

struct warn {
        struct options options;
        struct config config;
        struct state now;
        int reserve; /* exit code of the reserve part, after its sentence */
        struct warning list[WARNINGS_MAX]; /* the most urgent first */
        size_t n;
};

static struct warning *add(struct warn *warn, const char *id)
{
        struct warning *warning = &warn->list[warn->n < WARNINGS_MAX - 1 ? warn->n++ : WARNINGS_MAX - 1];

        *warning = (struct warning){ 0 };
        snprintf(warning->id, sizeof(warning->id), "%s", id);
        snprintf(warning->key, sizeof(warning->key), "%s", id);
        return warning;
}

/* ---- reserves that the user has named ---- */

/* Appends words for people, as in "10 minutes of phone, 60 minutes of tetris". */
static void append_words(const char *app, double minutes, char *words, size_t size)
{
        char span[32], printable[128];
        size_t length = strlen(words);

        if (length < size)
                length += (size_t)snprintf(words + length, size - length, "%s", length ? ", " : "");
        if (length < size)
                snprintf(words + length, size - length, _("%s of %s"), ask_minutes(minutes, 0, span),
                         util_printable(app, printable, sizeof(printable)));
}

/* Makes "phone=10m tetris=1h" into a plan and into words. CODE_OK; CODE_USAGE after a sentence; CODE_FAILED. */
static int make_plan(const char *reserve, struct joulecast_plan **ret, char *words, size_t size)
{
        _cleanup_free_ char *copy = strdup(reserve);
        struct joulecast_plan *plan = NULL;
        char *rest = NULL, *word, printable[128];
        int err = copy ? joulecast_plan_new(NULL, &plan) : -ENOMEM;

        for (word = err ? NULL : strtok_r(copy, " ", &rest); word && !err; word = strtok_r(NULL, " ", &rest)) {
                char *equals = strrchr(word, '=');
                double minutes;

                err = equals && equals != word ? values_parse_minutes(equals + 1, &minutes) : -EINVAL;
                if (err)
                        break;
                *equals = '\0';
                err = joulecast_plan_reserve(plan, word, minutes);
                append_words(word, minutes, words, size);
        }
        if (err) {
                joulecast_plan_free(plan);
                if (err == -ENOMEM)
                        return CODE_FAILED;
                log_error(&program_log, "joulecast.conf: [warn] reserve = %s is not APP=TIME, like phone=10m, or none",
                          util_printable(reserve, printable, sizeof(printable)));
                return CODE_USAGE;
        }
        *ret = plan;
        return CODE_OK;
}

static void tell_reserve(struct warn *warn, const struct joulecast_budget *budget, const char *words)
{
        struct joulecast_value minutes = ask_told_minutes(budget);
        struct warning *warning;
        char likely[32], low[32];

        if (warn->now.plugged > 0 || isnan(minutes.value) || minutes.value > warn->config.warn_minutes)
                return;
        warning = add(warn, "reserve");
        /* With other reserves it is another warning. */
        snprintf(warning->key, sizeof(warning->key), "reserve %s", warn->config.warn_reserve);
        if (minutes.value < 1) {
                snprintf(warning->summary, sizeof(warning->summary), _("Too little is left for %s"), words);
                snprintf(warning->sentence, sizeof(warning->sentence),
                         _("At this rate the battery no longer has enough for %s."), words);
                return;
        }
        snprintf(warning->summary, sizeof(warning->summary), _("About %s until %s is at risk"),
                 ask_minutes(minutes.value, 0, likely), words);
        if (isnan(minutes.low))
                snprintf(warning->sentence, sizeof(warning->sentence), _("If use goes on as it is, then in "
                         "about %s the battery has just enough for %s."), likely, words);
        else
                snprintf(warning->sentence, sizeof(warning->sentence), _("If use goes on as it is, then in probably "
                                                                         "%s, and almost certainly not before %s, the "
                                                                         "battery has just enough for %s."), likely,
                         ask_minutes(minutes.low, minutes.value, low), words);
}

static int look_at_reserve(struct warn *warn)
{
        struct joulecast_budget *budget = NULL;
        struct joulecast_plan *plan = NULL;
        char words[128] = "";
        int code, err;

        if (strcmp(warn->config.warn_reserve, "none") == 0)
                return CODE_OK;
        code = make_plan(warn->config.warn_reserve, &plan, words, sizeof(words));
        if (code != CODE_OK)
                return code;
        err = joulecast_budget_new(warn->now.ask.profile, warn->now.ask.usage, plan, &budget);
        joulecast_plan_free(plan);
        if (err)
                return err == -ENODEV ? CODE_OK : ask_failed(err);
        tell_reserve(warn, budget, words);
        joulecast_budget_free(budget);
        return CODE_OK;
}

static void look_at_charger(struct warn *warn)
{
        struct warning *warning;

        if (!warn->now.budget || joulecast_budget_charger_too_weak(warn->now.budget) <= 0)
                return;
        warning = add(warn, "charger");
        snprintf(warning->summary, sizeof(warning->summary), "%s", _("The charger is too weak"));
        snprintf(warning->sentence, sizeof(warning->sentence),
                 "%s", _("The battery loses charge although it is plugged in. Use a stronger charger, or "
                         "close something."));
}

/* ---- usage of apps in the background ---- */

static void compare_app(struct warn *warn, const struct joulecast_cost_app *app, const struct joulecast_cost *usual)
{
        double now = 60 * app->percent_per_minute.low, then;
        struct joulecast_cost_app before;
        struct warning *warning;
        char id[WARNED_ID_MAX], name[256], printable[256];

        if (app->state != JOULECAST_BACKGROUND || app->active_s < LEAST_S || strcmp(app->app, STORE_OTHERS) == 0 ||
            joulecast_cost_find(usual, app->app, JOULECAST_BACKGROUND, &before) < 0 || before.active_s < LEAST_USUAL_S)
                return;
        then = 60 * before.percent_per_minute.value;
        if (!(now > MUCH_PERCENT_PER_HOUR && now > MORE_THAN_USUAL * then))
                return;
        snprintf(id, sizeof(id), "background %s", util_printable(app->app, printable, sizeof(printable)));
        warning = add(warn, id);
        names_of(&warn->options, app->app, name, sizeof(name));
        util_printable(name, printable, sizeof(printable));
        snprintf(warning->summary, sizeof(warning->summary), _("%.80s uses much battery in the background"), printable);
        snprintf(warning->sentence, sizeof(warning->sentence),
                 _("%.80s took %.2g %% in the last hour in the background; in the week before it was %.2g %% "
                   "an hour."), printable,
                 60 * app->percent_per_minute.value, then);
}

/* @usual: of the week before the last hour. -ENODATA: there is none of one of them. */
static int read_costs(const struct warn *warn, struct joulecast_cost **recent, struct joulecast_cost **usual)
{
        const struct ask *ask = &warn->now.ask;
        int64_t last_ns;
        int err = joulecast_usage_span(ask->usage, NULL, &last_ns);

        if (!err)
                err = joulecast_cost_new(ask->profile, ask->usage, last_ns - HOUR_NS, last_ns, recent);
        if (!err)
                err = joulecast_cost_new(ask->profile, ask->usage, last_ns - 7 * 24 * HOUR_NS,
                                         last_ns - HOUR_NS, usual);
        return err;
}

static int look_at_background(struct warn *warn)
{
        struct joulecast_cost *recent = NULL, *usual = NULL;
        struct joulecast_cost_app app;
        int err = read_costs(warn, &recent, &usual);

        for (size_t i = 0; !err && joulecast_cost_app(recent, i, &app) == 0; i++)
                compare_app(warn, &app, usual);
        joulecast_cost_free(recent);
        joulecast_cost_free(usual);
        return !err || err == -ENODATA ? CODE_OK : ask_failed(err);
}

/* ---- a plan that joulecast-focus follows ---- */

/* Does the charge still last until the end of the plan that joulecast-focus follows? */

struct warn_plan {
        int64_t until_ns;      /* realtime */
        double likely_minutes; /* minutes that the charge likely lasts with the plan's changes */
};

/* Reads the plan from its wish, which has percent. False: no plan is followed, as there is no journal of one. */
static bool read_plan(struct plan_file *ret)
{
        _cleanup_free_ char *wish = NULL, *made = NULL;

        if (paths_plan(&wish) < 0 || paths_plan_made(&made) < 0 || access(made, F_OK) < 0)
                return false;
        return plan_file_read(wish, ret) == 0;
}

static size_t list_changes(const struct plan_file *plan, struct endure_change *list)
{
        for (size_t i = 0; i < plan->n; i++) {
                list[i] = (struct endure_change){ .kind = plan->list[i].kind, .brightness_percent = NAN };
                snprintf(list[i].app, sizeof(list[i].app), "%s", plan->list[i].app);
                if (list[i].kind == ENDURE_BRIGHTNESS &&
                    util_parse_double(plan->list[i].value, &list[i].brightness_percent) < 0)
                        list[i].brightness_percent = NAN;
        }
        return plan->n;
}

/* True: it likely does not. False: it does, or no plan is followed, or it is not known. */
static bool warn_plan_read(const struct ask *ask, struct warn_plan *ret)
{
        struct endure_change list[PLAN_CHANGES_MAX];
        struct joulecast_gain *gain = NULL;
        struct joulecast_change change = { 0 };
        struct plan_file plan = { 0 };
        double left_minutes, lasts;

        if (!read_plan(&plan))
                return false;
        change.changes = endure_changes(list, list_changes(&plan, list));
        left_minutes = (double)(plan.until_ns - values_now_ns()) / 60e9;
        if (left_minutes <= 0 || joulecast_gain_new(ask->profile, ask->usage, &change, &gain) < 0)
                return false;
        lasts = joulecast_gain_after(gain).value;
        joulecast_gain_free(gain);
        *ret = (struct warn_plan){ plan.until_ns, lasts };
        return lasts < left_minutes; /* NaN: unknown, and so no warning */
}

static void look_at_plan(struct warn *warn)
{
        struct warn_plan plan;
        struct warning *warning;
        char until[32], likely[32];

        if (warn->now.plugged > 0 || !warn_plan_read(&warn->now.ask, &plan))
                return;
        warning = add(warn, "plan");
        values_print_local(plan.until_ns, until, sizeof(until));
        snprintf(warning->key, sizeof(warning->key), "plan %lld", (long long)plan.until_ns);
        snprintf(warning->summary, sizeof(warning->summary), _("The charge will not last until %.5s"), until + 11);
        snprintf(warning->sentence, sizeof(warning->sentence),
                 _("In spite of the plan the charge probably lasts %s. joulecast advise --until %.5s shows what else "
                   "helps."),
                 ask_minutes(plan.likely_minutes, 0, likely), until + 11);
}

/* ---- settings and answers ---- */

/* CODE_OK, or CODE_USAGE after a sentence. */
static int read_switch(const char *name, const char *value, bool *ret)
{
        char printable[64];

        *ret = strcmp(value, "on") == 0;
        if (*ret || strcmp(value, "off") == 0)
                return CODE_OK;
        log_error(&program_log, "joulecast.conf: [warn] %s = %s is neither on nor off", name,
                  util_printable(value, printable, sizeof(printable)));
        return CODE_USAGE;
}

static int look(struct warn *warn)
{
        bool background = false, charger = false;
        int code = read_switch("background", warn->config.warn_background, &background);

        if (code == CODE_OK)
                code = read_switch("charger", warn->config.warn_charger, &charger);
        if (code == CODE_OK)
                code = state_read(&warn->options, &warn->now);
        if (code != CODE_OK)
                return code;
        warn->reserve = look_at_reserve(warn); /* an app that was never seen hides no other warning */
        look_at_plan(warn);
        if (charger)
                look_at_charger(warn);
        return background ? look_at_background(warn) : CODE_OK;
}

static int print_warnings(const struct warn *warn)
{
        struct cJSON *json, *list;

        if (!warn->options.json) {
                for (size_t i = 0; i < warn->n; i++) {
                        table_text(TABLE_HEAD, "%s", warn->list[i].summary);
                        table_text(TABLE_PLAIN, "%s", warn->list[i].sentence);
                }
                if (warn->n == 0)
                        table_text(TABLE_PLAIN, "Nothing to warn of.");
                return CODE_OK;
        }
        json = cJSON_CreateObject();
        list = cJSON_AddArrayToObject(json, "warnings");
        for (size_t i = 0; i < warn->n; i++) {
                struct cJSON *one = cJSON_CreateObject();

                cJSON_AddItemToObject(one, "id", answer_text(warn->list[i].id));
                cJSON_AddItemToObject(one, "summary", answer_text(warn->list[i].summary));
                cJSON_AddItemToObject(one, "sentence", answer_text(warn->list[i].sentence));
                cJSON_AddItemToArray(list, one);
        }
        return answer_print_json(json);
}

/* Shows the most urgent one that was not shown yet. */
static int show(const struct warn *warn, const char *path)
{
        int64_t now_ns = values_now_ns();
        const struct warning *next = NULL;
        struct warned warned, before;
        int err = 0;

        warned_read(path, &warned);
        for (size_t i = 0; i < warn->n; i++)
                if (!warned_holds(&warned, warn->list[i].key, now_ns) && !next)
                        next = &warn->list[i];
        warned_forget(&warned, now_ns);
        if (next && warned_may(&warned, now_ns)) {
                before = warned;
                warned_told(&warned, next->key, now_ns);
                err = warned_write(path, &warned); /* before: else it might come every time */
                if (!err)
                        err = live.notify(next->summary, next->sentence);
                if (err == -ENOTCONN) /* nobody can have seen it */
                        warned_write(path, &before);
        } else {
                err = warned_write(path, &warned);
        }
        if (err)
                log_error(&program_log, "the warning cannot be shown: %s",
                          err == -ENOTCONN ? _("this session has no service for notifications") :
                          err == -EOPNOTSUPP ? _("this build has no D-Bus") : strerror(-err));
        return err ? CODE_FAILED : CODE_OK;
}

static int notify(const struct warn *warn)
{
        _cleanup_free_ char *path = NULL;
        int err = paths_warned(&path);

        if (!err)
                err = util_make_parent(path, 0700);
        if (!err)
                return show(warn, path);
        if (err == -ENOENT)
                log_error(&program_log, "HOME is not set, so warnings would be repeated; start it as a user");
        else
                log_error(&program_log, "%s: %s", path ? path : "warned", util_reason(err));
        return CODE_FAILED;
}

int warn_main(int argc, char **argv)
{
        bool want_notify = false;
        const char *config = NULL;
        const struct option_row rows[] = {
                { "config", "FILE", N_("read [warn] from this file instead of joulecast.conf"), .text = &config },
                { "notify", NULL,
                  N_("show the most urgent new warning on the desktop, at most one in ten minutes"),
                  .flag = &want_notify },
        };
        const struct option_table command = {
                .called = "joulecast warn",
                .usage = "joulecast warn [--config FILE] [--notify]",
                .about = N_("Says what will soon go wrong: the battery will not last for what [warn] of\n"
                         "joulecast.conf names, a plan of joulecast advise --apply no longer suffices, an\n"
                         "app in the background uses much more energy than it did, or the charger is too\n"
                         "weak. In a desktop session, joulecast-focus runs this every five minutes with\n"
                         "--notify."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        struct warn warn = { .now.plugged = -1 };
        _cleanup_free_ char *path = NULL;
        int code = options_parse(&command, SHARED_ASK, argc, argv, &warn.options);

        if (code >= 0)
                return code;
        if (want_notify && !live.notify)
                return live_become("warn", argv);
        if (paths_config(&path) < 0)
                path = NULL;
        if (config_load(config ? config : path, &program_log, &warn.config) < 0)
                return CODE_USAGE;
        code = look(&warn);
        if (code == CODE_OK)
                code = want_notify ? notify(&warn) : print_warnings(&warn);
        if (code == CODE_OK)
                code = warn.reserve;
        state_clear(&warn.now);
        config_clear(&warn.config);
        return code;
}
