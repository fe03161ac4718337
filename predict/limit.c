/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast limit`: chooses apps that get less CPU time in the background, or none. joulecast-focus enforces it. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "commands.h"
#include "limit-name.h"
#include "limit/limit-state.h"
#include "limit/limit-wish.h"
#include "names.h"
#include "util/paths.h"
#include "util/quantile.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define USUAL_CPU_PERCENT 10
#define ANSWER_TRIES 150 /* waits of 20 ms: the agent answers soon */

struct limit {
        struct options options;
        struct limit_wishes wishes;
        struct limit_state state;
        char *wishes_path, *state_path;
        bool runs; /* the agent runs */
};

static void limit_clear(struct limit *limit)
{
        free(limit->wishes_path);
        free(limit->state_path);
}

static int read_state(struct limit *limit)
{
        int fd = limit_state_lock();

        limit->runs = fd == -EBUSY;
        closep(&fd);
        return limit_state_read(limit->state_path, &limit->state);
}

static int open_all(struct limit *limit)
{
        int err = paths_limits(&limit->wishes_path);

        if (!err)
                err = limit_state_path(LIMIT_STATE, &limit->state_path);
        if (err == -ENOENT)
                log_error(&program_log, "limits belong to a user's session: run it there, where HOME and "
                                        "XDG_RUNTIME_DIR are set, without sudo");
        if (!err)
                err = limit_wishes_read(limit->wishes_path, &program_log, &limit->wishes);
        if (!err)
                err = read_state(limit);
        return err ? CODE_FAILED : CODE_OK;
}

/* ---- output for people and programs ---- */

static const char *const states[LIMIT_EFFECTS] = {
        "absent", "front", "waits", "cpu", "frozen", "busy", "unseen", "refused", "failed",
};

static const char *const sentences[LIMIT_EFFECTS] = {
        N_("does not run"),
        N_("in front"),
        N_("runs"),
        N_("CPU limited"),
        N_("frozen"),
        N_("not frozen: busy"),
        N_("focus unknown"),
        N_("no unit of its own"),
        N_("cannot be limited"),
};

static const struct limit_app *app_now(struct limit *limit, const char *app)
{
        return limit->runs ? limit_state_app(&limit->state, app) : NULL;
}

static char *print_limit(const struct limit_wish *wish, char *buf, size_t size)
{
        char span[32];
        size_t length = 0;

        buf[0] = '\0';
        if (wish->cpu_percent > 0)
                length = (size_t)snprintf(buf, size, _("%g %% CPU"), wish->cpu_percent);
        if (wish->freeze_after_s > 0 && length < size)
                snprintf(buf + length, size - length, length ? _(", frozen after %s") : _("frozen after %s"),
                         ask_span(wish->freeze_after_s / 60, span));
        return buf;
}

/* Opens the costs only if some app is limited. */
static bool open_costs(struct limit *limit, struct ask *ask)
{
        return limit->wishes.n > 0 && ask_open(&limit->options, ask) == CODE_OK;
}

/* Charge that a limit saved: the app's background use at the hourly rate before it, less its use since then. */

struct limit_saved {
        bool known;                         /* false: too little is recorded */
        struct joulecast_value percent;     /* saved, in percent of a full battery */
        double before_per_hour, since_per_hour; /* percent per hour in the background */
        double hours;                       /* time in the background since then */
};

#define HOUR_NS (3600 * (int64_t)NS_PER_S)
#define BEFORE_NS (7 * 24 * HOUR_NS)
#define BLOCKS_MAX 7
#define LEAST_S 600 /* time in the background that is needed for an answer */

struct part {
        double hours;                   /* time in the background */
        struct joulecast_value percent; /* charge used in all of it */
};

/* 0; -ENODATA: too little; another negative errno. */
static int read_part(const struct ask *ask, const char *app, int64_t from_ns, int64_t to_ns, struct part *ret)
{
        struct joulecast_cost *cost = NULL;
        struct joulecast_cost_app found;
        int err = from_ns < to_ns ? joulecast_cost_new(ask->profile, ask->usage, from_ns, to_ns, &cost) : -ENODATA;

        if (!err)
                err = joulecast_cost_find(cost, app, JOULECAST_BACKGROUND, &found);
        if (!err && (found.active_s < LEAST_S || isnan(found.percent.value)))
                err = -ENODATA;
        if (!err)
                *ret = (struct part){ .hours = found.active_s / 3600, .percent = found.percent };
        joulecast_cost_free(cost);
        return err;
}

struct spread {
        size_t n;
        double deviation;   /* standard deviation of the rates of blocks, percent per hour */
        double block_hours;
};

/* How much the rate differed from time to time. -ENODATA: fewer than two blocks say something. */
static int read_spread(const struct ask *ask, const char *app, int64_t from_ns, int64_t to_ns, struct spread *ret)
{
        int64_t block_ns = MAX((to_ns - from_ns) / BLOCKS_MAX, HOUR_NS);
        double rates[BLOCKS_MAX], mean = 0, squares = 0;
        size_t n = 0;

        for (int64_t at_ns = to_ns; n < BLOCKS_MAX && at_ns - block_ns >= from_ns; at_ns -= block_ns) {
                struct part part;
                int err = read_part(ask, app, at_ns - block_ns, at_ns, &part);

                if (err && err != -ENODATA)
                        return err;
                if (!err)
                        rates[n++] = part.percent.value / part.hours;
        }
        if (n < 2)
                return -ENODATA;
        for (size_t i = 0; i < n; i++)
                mean += rates[i] / (double)n;
        for (size_t i = 0; i < n; i++)
                squares += (rates[i] - mean) * (rates[i] - mean);
        *ret = (struct spread){ n, sqrt(squares / (double)(n - 1)), (double)block_ns / (double)HOUR_NS };
        return 0;
}

static double half_width(const struct joulecast_value *value)
{
        return (value->high - value->low) / 2; /* NaN: the profile has no errors */
}

/*
 * The energy that it would have taken is estimated from before the limit: the mean of the blocks has an error, and the
 * time since then may differ from them. The model's errors of both parts count as independent, though most are common.
 */
static void compare(const struct part *before, const struct spread *spread, const struct part *since,
                    struct limit_saved *ret)
{
        double rate = before->percent.value / before->hours, times = MAX(1, since->hours / spread->block_hours);
        double scatter = quantile_student_t((double)(spread->n - 1), 0.95) * spread->deviation * since->hours *
                         sqrt(1 / (double)spread->n + 1 / times);
        double model = half_width(&before->percent) / before->hours * since->hours;
        double half = sqrt(scatter * scatter + model * model + pow(half_width(&since->percent), 2));

        ret->known = true;
        ret->hours = since->hours;
        ret->before_per_hour = rate;
        ret->since_per_hour = since->percent.value / since->hours;
        ret->percent.value = rate * since->hours - since->percent.value;
        ret->percent.low = ret->percent.value - half;
        ret->percent.high = ret->percent.value + half;
}

/* @since_ns: when the limit was set, realtime. 0; a negative errno. */
static int limit_saved_read(const struct ask *ask, const char *app, int64_t since_ns, struct limit_saved *ret)
{
        struct part before, since;
        struct spread spread;
        int64_t first_ns, last_ns;
        int err = joulecast_usage_span(ask->usage, &first_ns, &last_ns);

        *ret = (struct limit_saved){
                .percent = { NAN, NAN, NAN }, .before_per_hour = NAN, .since_per_hour = NAN, .hours = NAN
        };
        if (!err) {
                first_ns = MAX(first_ns, since_ns - BEFORE_NS);
                err = read_part(ask, app, first_ns, since_ns, &before);
        }
        if (!err)
                err = read_spread(ask, app, first_ns, since_ns, &spread);
        if (!err)
                err = read_part(ask, app, since_ns, last_ns, &since);
        if (!err)
                compare(&before, &spread, &since, ret);
        return err == -ENODATA ? 0 : err;
}

static void print_saved(const struct limit_saved *saved, char *buf, size_t size)
{
        if (!saved->known)
                snprintf(buf, size, "%s", _("not enough yet"));
        else if (isnan(saved->percent.low))
                snprintf(buf, size, "%.2g %%", saved->percent.value);
        else
                snprintf(buf, size, "%.2g %% (%.2g .. %.2g)", saved->percent.value, saved->percent.low,
                         saved->percent.high);
}

static void print_row(struct limit *limit, const struct limit_wish *wish, const struct limit_saved *saved,
                      struct table *table)
{
        const struct limit_app *now = app_now(limit, wish->app);
        char name[256], printable[258], text[128];

        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s",
                   names_in_table(wish->app, names_of(&limit->options, wish->app, name, sizeof(name)),
                                  printable, sizeof(printable)));
        table_cell(table, "%s", print_limit(wish, text, sizeof(text)));
        table_cell(table, "%s", _("background"));
        table_cell(table, "%s", now ? _(sentences[now->effect]) : _("not done"));
        values_print_local(wish->since_ns, text, sizeof(text));
        table_cell(table, "%.16s", text);
        print_saved(saved, text, sizeof(text));
        table_cell(table, "%s", text);
}

static void print_notes(struct limit *limit)
{
        bool busy = false;

        for (size_t i = 0; limit->runs && i < limit->state.n_apps; i++)
                busy = busy || limit->state.apps[i].effect == LIMIT_BUSY;
        if (!limit->runs && limit->wishes.n > 0)
                table_note("joulecast-focus does not run in this session, so that nothing is limited now; "
                           "systemctl --user enable --now joulecast-focus starts it.");
        if (busy)
                table_note("Busy: it plays, records, uses a camera or keeps the device awake.");
        if (limit->wishes.n > 0)
                table_note("CPU: percent of one core. Saved: percent of a full battery since then, with its "
                           "95 %% interval, by what it took in the background before.");
}

static struct cJSON *saved_json(const struct limit_saved *saved)
{
        struct cJSON *json = cJSON_CreateObject();

        cJSON_AddItemToObject(json, "percent", answer_public_value(saved->percent));
        cJSON_AddNumberToObject(json, "before_percent_per_hour", saved->before_per_hour);
        cJSON_AddNumberToObject(json, "since_percent_per_hour", saved->since_per_hour);
        cJSON_AddNumberToObject(json, "hours", saved->hours);
        return json;
}

static struct cJSON *wish_json(struct limit *limit, const struct limit_wish *wish, const struct limit_saved *saved)
{
        const struct limit_app *now = app_now(limit, wish->app);
        struct cJSON *json = cJSON_CreateObject();
        char name[256];

        cJSON_AddItemToObject(json, "app", answer_text(wish->app));
        cJSON_AddItemToObject(json, "name", answer_text(names_of(&limit->options, wish->app, name, sizeof(name))));
        cJSON_AddStringToObject(json, "when", "background");
        cJSON_AddNumberToObject(json, "cpu_percent", wish->cpu_percent > 0 ? wish->cpu_percent : NAN);
        cJSON_AddNumberToObject(json, "freeze_after_s", wish->freeze_after_s > 0 ? wish->freeze_after_s : NAN);
        answer_add_time(json, "since", wish->since_ns);
        cJSON_AddItemToObject(json, "state", answer_text(now ? states[now->effect] : NULL));
        answer_add_time(json, "state_since", now ? now->since_ns : INT64_MIN);
        cJSON_AddItemToObject(json, "saved", saved_json(saved));
        return json;
}

static int show(struct limit *limit)
{
        _cleanup_(table_freep) struct table *table = table_new("nnlnll");
        struct ask ask = { 0 };
        bool costs = open_costs(limit, &ask);
        struct cJSON *json = cJSON_CreateObject(), *list;
        int err = 0;

        cJSON_AddBoolToObject(json, "agent", limit->runs);
        list = cJSON_AddArrayToObject(json, "limits");
        table_spare(table, "24");
        table_heads(table, N_("App"), N_("Limit"), N_("When"), N_("Now"), N_("Since"), N_("Saved"), NULL);
        for (size_t i = 0; !err && i < limit->wishes.n; i++) {
                const struct limit_wish *wish = &limit->wishes.list[i];
                struct limit_saved saved = { .percent = { NAN, NAN, NAN },
                                             .before_per_hour = NAN,
                                             .since_per_hour = NAN,
                                             .hours = NAN };

                if (costs)
                        err = limit_saved_read(&ask, wish->app, wish->since_ns, &saved);
                print_row(limit, wish, &saved, table);
                cJSON_AddItemToArray(list, wish_json(limit, wish, &saved));
        }
        ask_close(&ask);
        if (err || limit->options.json) {
                if (!err)
                        return answer_print_json(json);
                cJSON_Delete(json);
                return ask_failed(err);
        }
        cJSON_Delete(json);
        if (limit->wishes.n == 0)
                table_text(TABLE_PLAIN, "No app is limited.");
        else
                table_print(table);
        print_notes(limit);
        return CODE_OK;
}

/* ---- setting and ending limits ---- */

/* Writes the wishes and, if the agent runs, waits until they are in effect. */
static int write_wishes(struct limit *limit)
{
        int err = limit_wishes_write(limit->wishes_path, &limit->wishes);

        for (int i = 0; !err && i < ANSWER_TRIES; i++) {
                err = read_state(limit);
                if (!limit->runs || limit->state.wishes_ns == limit->wishes.written_ns)
                        break;
                usleep(20000);
        }
        if (!err)
                return CODE_OK;
        log_error(&program_log, "%s: %s", limit->wishes_path, util_reason(err));
        return CODE_FAILED;
}

static void say_now(struct limit *limit, const char *app, bool runs)
{
        const struct limit_app *now = app_now(limit, app);

        if (!limit->runs)
                table_note("joulecast-focus does not run in this session, so that nothing is limited yet; "
                           "systemctl --user enable --now joulecast-focus starts it.");
        else if (!runs)
                table_note("It does not run now. It is limited once it runs in a unit of its own, as "
                           "desktops start apps.");
        else if (now && now->effect == LIMIT_UNSEEN)
                table_note("joulecast-focus does not know which app is in front; until then nothing is "
                           "limited. See joulecast focus --list.");
}

static int set(struct limit *limit, const char *asked, double cpu_percent, double freeze_minutes)
{
        struct limit_wish wish = { .cpu_percent = cpu_percent,
                                   .freeze_after_s = freeze_minutes * 60,
                                   .since_ns = values_now_ns() };
        const struct limit_wish *before;
        char text[128], name[256], printable[256];
        bool runs = false;
        int code = limit_name_find(&limit->options, &limit->wishes, false, asked, wish.app), err;

        if (code == CODE_OK)
                code = limit_name_check(wish.app, &runs);
        if (code != CODE_OK)
                return code;
        before = limit_wish_find(&limit->wishes, wish.app);
        if (before)
                wish.since_ns = before->since_ns; /* the app's use without any limit was before that */
        err = limit_wish_set(&limit->wishes, &wish);
        if (err) {
                if (err == -ENOSPC)
                        log_error(&program_log, "there are %d limits already; remove one with --off",
                                  LIMIT_WISHES_MAX);
                else
                        log_error(&program_log, "an app of this name cannot be limited");
                return CODE_FAILED;
        }
        code = write_wishes(limit);
        if (code != CODE_OK || limit->options.json)
                return code == CODE_OK ? show(limit) : code;
        util_printable(names_of(&limit->options, wish.app, name, sizeof(name)), printable, sizeof(printable));
        table_text(TABLE_PLAIN, "%s in the background: %s. joulecast limit %s --off ends it.", printable,
                   print_limit(&wish, text, sizeof(text)), wish.app);
        say_now(limit, wish.app, runs);
        return CODE_OK;
}

static int unset(struct limit *limit, const char *asked)
{
        char app[APP_ID_MAX];
        int code = CODE_OK;

        if (asked) {
                code = limit_name_find(&limit->options, &limit->wishes, true, asked, app);
                if (code != CODE_OK)
                        return code;
                limit_wish_remove(&limit->wishes, app);
        } else {
                limit->wishes.n = 0;
        }
        code = write_wishes(limit);
        if (code == CODE_OK && limit->options.json)
                return show(limit);
        if (code == CODE_OK)
                table_text(TABLE_PLAIN, asked ? N_("%s is no longer limited.") : N_("No app is limited."),
                           asked ? app : "");
        return code;
}

static int take(struct limit *limit, const char *asked, bool off, double cpu_percent, double freeze_minutes)
{
        bool limits = cpu_percent > 0 || freeze_minutes > 0;
        int code;

        if (off && limits) {
                log_error(&program_log, "--off goes with neither --cpu nor --freeze-after; see joulecast limit --help");
                return CODE_USAGE;
        }
        if (!asked && limits) {
                log_error(&program_log, "which app? joulecast limit APP --cpu 10%%; see joulecast limit --help");
                return CODE_USAGE;
        }
        if (freeze_minutes > 0 && (freeze_minutes * 60 < LIMIT_FREEZE_MIN || freeze_minutes * 60 > LIMIT_FREEZE_MAX)) {
                log_error(&program_log, "--freeze-after may be 1s to 7d");
                return CODE_USAGE;
        }
        code = open_all(limit);
        if (code != CODE_OK)
                return code;
        if (off)
                return unset(limit, asked);
        return asked ? set(limit, asked, limits ? cpu_percent : USUAL_CPU_PERCENT, freeze_minutes) : show(limit);
}

int limit_main(int argc, char **argv)
{
        _cleanup_free_ struct limit *limit = calloc(1, sizeof(*limit));
        const char *asked = NULL, *when = "background";
        double cpu_percent = 0, freeze_minutes = 0;
        bool off = false;
        const struct option_row rows[] = {
                { "when", "WHEN", N_("when the app is limited; never while it is in front"), .usual = "background",
                  .text = &when, .words = "background" },
                { "cpu", "PERCENT",
                  N_("limit its CPU time to this share of one core, such as 10%; without --cpu and --freeze-after "
                     "it is 10%"),
                  .number = &cpu_percent, .low = LIMIT_CPU_MIN, .high = LIMIT_CPU_MAX, .unit = "%" },
                { "freeze-after", "TIME", N_("freeze it after this time in the background, such as 5m"),
                  OPTION_MINUTES(&freeze_minutes) },
                { "off", NULL, N_("end the limit of APP, or all of them"), .flag = &off },
        };
        const struct option_table command = {
                .called = "joulecast limit",
                .usage = "joulecast limit\n"
                         "joulecast limit APP [--when background] [--cpu 10%] [--freeze-after 5m]\n"
                         "joulecast limit [APP] --off",
                .about = N_("Gives an app less CPU time in the background, or freezes it there after a while.\n"
                         "Without APP: which apps are limited, and what that saved. joulecast-focus sets\n"
                         "the limits through the user's own systemd, and lifts them at once when the app\n"
                         "comes to the front. An app that plays, records or keeps the device awake is not\n"
                         "frozen."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = &asked, .max_words = 1,
        };
        int code;

        if (!limit)
                return CODE_FAILED;
        code = options_parse(&command, SHARED_ASK & ~(unsigned)SHARED_MACHINE, argc, argv, &limit->options);
        if (code < 0)
                code = take(limit, asked, off, cpu_percent, freeze_minutes);
        limit_clear(limit);
        return code;
}
