/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast status`, and `joulecast` alone: charge, drain, time left, dearest apps, advice, and missing parts. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "advised.h"
#include "answer.h"
#include "api/joulecast-private.h"
#include "commands.h"
#include "names.h"
#include "source/battery.h"
#include "state.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define DEAREST 3
#define DAY_NS (24 * 3600 * (int64_t)NS_PER_S)

/* An app in both states; the energy of a state that is not known is not in it. */
struct dear {
        const struct cost_app *app;
        double percent, background_percent;
};

struct status {
        struct state now;
        struct joulecast_cost *cost; /* NULL: nothing was recorded in that time */
        int64_t since_ns;
        bool since_full;             /* since the last full charge; false: the last day */
        struct dear dearest[DEAREST];
        size_t n_dearest;
        char advice[4096];           /* "": none */
};

static void status_clear(struct status *status)
{
        joulecast_cost_free(status->cost);
        state_clear(&status->now);
}

static int find_cost(struct status *status, const struct options *options)
{
        struct desktop_index *index;
        int64_t last_ns;
        int err = joulecast_usage_since(status->now.ask.usage, JOULECAST_SINCE_FULL, &status->since_ns);

        status->since_full = !err;
        if (err == -ENODATA)
                err = joulecast_usage_span(status->now.ask.usage, NULL, &last_ns);
        if (!err && !status->since_full)
                status->since_ns = last_ns - DAY_NS;
        if (!err)
                err = joulecast_cost_new(status->now.ask.profile, status->now.ask.usage, status->since_ns,
                                         INT64_MAX, &status->cost);
        if (err)
                return err == -ENODATA ? 0 : err;
        index = options->device ? NULL : desktop_index_of_user();
        names_localise(index, status->cost->cost);
        desktop_index_free(index);
        return 0;
}

static int by_percent(const void *a, const void *b)
{
        const struct dear *one = a, *other = b;

        return one->percent < other->percent ? 1 : one->percent > other->percent ? -1 : 0;
}

static int find_dearest(struct status *status)
{
        const struct cost *cost = status->cost->cost;
        _cleanup_free_ struct dear *all = calloc(cost->n_apps + 1, sizeof(*all));
        size_t n = 0;

        if (!all)
                return -ENOMEM;
        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];
                size_t at = 0;

                if (isnan(app->percent.value))
                        continue;
                while (at < n && strcmp(all[at].app->app, app->app) != 0)
                        at++;
                if (at == n)
                        all[n++] = (struct dear){ .app = app };
                all[at].percent += app->percent.value;
                if (app->state == STATE_BACKGROUND)
                        all[at].background_percent += app->percent.value;
        }
        qsort(all, n, sizeof(*all), by_percent);
        status->n_dearest = MIN(n, (size_t)DEAREST);
        memcpy(status->dearest, all, status->n_dearest * sizeof(*all));
        return 0;
}

/* Longer ago than any configured interval of polls with its slack: the service is not running. */
#define ENDED_NS (20 * 60 * (int64_t)NS_PER_S)

/* "": it goes on, or the device is virtual. */
static void say_ended(const struct status *status, const struct options *options, char *text, size_t size)
{
        int64_t last_ns, ago_ns;
        char span[32];

        *text = '\0';
        if (options->device || joulecast_usage_span(status->now.ask.usage, NULL, &last_ns) < 0)
                return;
        ago_ns = values_now_ns() - last_ns;
        if (ago_ns > ENDED_NS)
                snprintf(text, size, _("recording ended %s ago: %s start joulecastd, or joulecast poll"),
                         answer_print_duration((double)ago_ns / NS_PER_S, span), paths_systemctl());
}

/* Finds one piece of advice: first problems that make the answers wrong, then the change that gains most. */
static int advise(struct status *status, const struct options *options)
{
        _cleanup_(advised_clear) struct advised advised = { 0 };
        const char *basis = profile_basis(status->now.ask.profile->profile);
        char line[512];
        int err = 0;

        say_ended(status, options, status->advice, sizeof(status->advice));
        if (status->advice[0])
                return 0;
        if (status->now.budget && joulecast_budget_charger_too_weak(status->now.budget) > 0) {
                snprintf(status->advice, sizeof(status->advice), "%s",
                         _("the charger is too weak for what runs: use a stronger one, or close something"));
                return 0;
        }
        if (status->now.plugged == 0)
                err = advised_make(&status->now.ask, &advised);
        if (err < 0 && err != -ENODATA && err != -ENODEV)
                return err;
        if (advised.found.n > 0 && advised.commands[0])
                snprintf(status->advice, sizeof(status->advice), "%s: %s",
                         advised_print(options, &advised.found.list[0], line), advised.commands[0]);
        else if (advised.found.n > 0)
                snprintf(status->advice, sizeof(status->advice), "%s",
                         advised_print(options, &advised.found.list[0], line));
        else if (strcmp(basis, "calibrated") != 0)
                snprintf(status->advice, sizeof(status->advice), "%s",
                         _("sudo joulecast calibrate --schedule 01:30, unplugged at night: numbers of this "
                           "very device"));
        return 0;
}

/* The names of the lines; begin_column() is the column where their texts begin. */
static const char *const names[] = { N_("Battery"), N_("Remaining"), N_("Dearest"), N_("Advice"), N_("Missing") };

static size_t begin_column(void)
{
        size_t column = 0;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                column = MAX(column, text_width(_(names[i])) + 2);
        return column;
}

/* Prints a line, wrapped at the width of the terminal; without a terminal it is not wrapped. */
static void print_line(const char *name, const char *text)
{
        size_t column = begin_column(), columns = table_columns();
        char printable[8192];

        text_column(stdout, _(name), column, false);
        text_wrap(stdout, util_printable(text, printable, sizeof(printable)), column, column,
                  columns > 0 ? columns : SIZE_MAX);
        putchar('\n');
}

static const char *power_word(const struct status *status)
{
        return status->now.plugged < 0 ? NULL : status->now.plugged ? _("plugged in") : _("on battery");
}

static void print_battery(const struct status *status)
{
        const char *power = power_word(status);
        char text[256];
        size_t length;

        if (isnan(status->now.percent)) {
                print_line(names[0], _("unknown"));
                return;
        }
        if (status->now.budget && joulecast_budget_held_at_limit(status->now.budget) > 0) {
                print_line(names[0],
                           ask_held(status->now.percent,
                                    joulecast_budget_charge_limit_percent(status->now.budget), text));
                return;
        }
        length = (size_t)snprintf(text, sizeof(text), "%.0f %%", status->now.percent);
        if (power)
                length += (size_t)snprintf(text + length, sizeof(text) - length, ", %s", power);
        if (status->now.plugged > 0 && status->now.budget &&
            joulecast_budget_minutes_to_full(status->now.budget).value == 0)
                length += (size_t)snprintf(text + length, sizeof(text) - length, ", %s", _("full"));
        if (!isnan(status->now.power_w))
                length += (size_t)snprintf(text + length, sizeof(text) - length,
                                           status->now.live ? _(", drawing %.3g W: %.2g %%/h now") :
                                                              _(", drawing %.3g W: %.2g %%/h"),
                                           status->now.power_w, status->now.percent_per_hour);
        if (!status->now.live)
                length += (size_t)snprintf(text + length, sizeof(text) - length, ", %s", _("as last recorded"));
        if (!isnan(status->now.counted_percent))
                snprintf(text + length, sizeof(text) - length,
                         _("; it was %.0f %% just now, so the gauge is checked for three minutes"),
                         status->now.counted_percent);
        print_line(names[0], text);
}

static void print_remaining(const struct status *status)
{
        struct joulecast_value minutes = { NAN, NAN, NAN }, full = { NAN, NAN, NAN };
        char low[32], likely[32], high[32], text[256];
        double limit = NAN;
        size_t length = 0;

        if (status->now.budget) {
                limit = joulecast_budget_charge_limit_percent(status->now.budget);
                minutes = ask_told_minutes(status->now.budget);
                full = joulecast_budget_minutes_to_full(status->now.budget);
        }
        if (full.value > 0 && !isnan(limit))
                snprintf(text, sizeof(text), _("probably %s until the limit of %.3g %%, at most %s"),
                         ask_minutes(full.value, full.high, likely), limit, ask_minutes(full.high, full.value, high));
        else if (full.value > 0)
                snprintf(text, sizeof(text), _("full in probably %s, at most %s"),
                         ask_minutes(full.value, full.high, likely),
                         ask_minutes(full.high, full.value, high));
        else if (isnan(minutes.value))
                snprintf(text, sizeof(text), "%s", _("unknown"));
        else if (isnan(minutes.low))
                length = (size_t)snprintf(text, sizeof(text), _("about %s"), ask_minutes(minutes.value, 0, likely));
        else if (isnan(minutes.high))
                length = (size_t)snprintf(text, sizeof(text),
                                          _("at least %s (19 times in 20), probably %s, with use as usual"),
                                          ask_minutes(minutes.low, minutes.value, low),
                                          ask_minutes(minutes.value, 0, likely));
        else
                length = (size_t)snprintf(text, sizeof(text),
                                          _("at least %s (19 times in 20), probably %s, at most %s, with "
                                            "use as usual"),
                                          ask_minutes(minutes.low, minutes.high, low),
                                          ask_minutes(minutes.value, minutes.high, likely),
                                          ask_minutes(minutes.high, 0, high));
        if (length > 0 && status->now.plugged > 0)
                snprintf(text + length, sizeof(text) - length, isnan(minutes.low) ? " %s" : ", %s",
                         _("without external power"));
        print_line(names[1], text);
}

/* "firefox 3.1 %, mpv 1.2 %" */
static void list_dearest(const struct status *status, char *text, size_t size)
{
        size_t length = (size_t)snprintf(text, size, "%s", status->n_dearest == 0 ? _("nothing was recorded") : "");

        for (size_t i = 0; i < status->n_dearest && length < size; i++) {
                const struct dear *dear = &status->dearest[i];
                char number[32], name[256];

                names_in_table(dear->app->app, dear->app->name, name, sizeof(name));
                length += (size_t)snprintf(text + length, size - length, "%s%s %s %%", i ? ", " : "", name,
                                           answer_print_number(dear->percent, dear->percent / 10, number));
        }
}

static void print_dearest(const struct status *status)
{
        char list[1024], text[1280], span[32];
        int64_t to_ns = status->cost ? status->cost->cost->to_ns : 0;

        list_dearest(status, list, sizeof(list));
        if (status->since_full && status->cost)
                snprintf(text, sizeof(text), _("%s since the last full charge, %s ago"), list,
                         answer_print_duration((double)(to_ns - status->since_ns) / 1e9, span));
        else
                snprintf(text, sizeof(text),
                         status->since_full ? _("%s since the last full charge") : _("%s in the last 24 h"),
                         list);
        print_line(names[2], text);
}

static void print_missing(const struct status *status)
{
        size_t n = status->cost ? status->cost->cost->n_not_measured : 0, length = 0;
        char list[512] = "", text[640], part[128];

        for (size_t i = 0; i < MIN(n, (size_t)3) && length < sizeof(list); i++)
                length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                                           answer_part(status->cost->cost->not_measured[i], part, sizeof(part)));
        if (n == 0)
                snprintf(text, sizeof(text), "%s", _("nothing"));
        else
                snprintf(text, sizeof(text), n > 3 ? _("%s and more: see joulecast doctor") :
                         _("%s: see joulecast doctor"), list);
        print_line(names[4], text);
}

static int print_status(const struct status *status)
{
        print_battery(status);
        print_remaining(status);
        print_dearest(status);
        print_line(names[3], status->advice[0] ? status->advice : _("none"));
        print_missing(status);
        return CODE_OK;
}

static struct cJSON *dearest_json(const struct status *status)
{
        struct cJSON *list = cJSON_CreateArray();

        for (size_t i = 0; i < status->n_dearest; i++) {
                struct cJSON *app = cJSON_CreateObject();

                cJSON_AddItemToObject(app, "app", answer_text(status->dearest[i].app->app));
                cJSON_AddItemToObject(app, "name", answer_text(status->dearest[i].app->name));
                cJSON_AddNumberToObject(app, "percent", status->dearest[i].percent);
                cJSON_AddNumberToObject(app, "background_percent", status->dearest[i].background_percent);
                cJSON_AddItemToArray(list, app);
        }
        return list;
}

static struct cJSON *status_json(const struct status *status)
{
        struct cJSON *json = cJSON_CreateObject(), *missing;
        struct joulecast_value unknown = { NAN, NAN, NAN };

        cJSON_AddNumberToObject(json, "battery_percent", status->now.percent);
        cJSON_AddNumberToObject(json, "counted_percent", status->now.counted_percent);
        if (status->now.plugged < 0)
                cJSON_AddNullToObject(json, "plugged");
        else
                cJSON_AddBoolToObject(json, "plugged", status->now.plugged);
        cJSON_AddBoolToObject(json, "live", status->now.live);
        cJSON_AddNumberToObject(json, "power_w", status->now.power_w);
        cJSON_AddNumberToObject(json, "percent_per_hour", status->now.percent_per_hour);
        cJSON_AddItemToObject(json, "minutes",
                              answer_public_value(status->now.budget ?
                                                          joulecast_budget_minutes(status->now.budget) :
                                                          unknown));
        cJSON_AddItemToObject(json, "minutes_to_full",
                              answer_public_value(status->now.budget ?
                                                          joulecast_budget_minutes_to_full(status->now
                                                                                                   .budget) :
                                                          unknown));
        cJSON_AddNumberToObject(json, "charge_limit_percent",
                                status->now.budget ? joulecast_budget_charge_limit_percent(status->now.budget) : NAN);
        answer_add_known(json, "held_at_limit",
                         status->now.budget ? joulecast_budget_held_at_limit(status->now.budget) : -1);
        cJSON_AddNumberToObject(json, "level", FORECAST_LEVEL);
        cJSON_AddStringToObject(json, "since", status->since_full ? "full" : "24h");
        answer_add_time(json, "from", status->since_ns);
        cJSON_AddItemToObject(json, "dearest", dearest_json(status));
        cJSON_AddItemToObject(json, "advice", answer_text(status->advice[0] ? status->advice : NULL));
        missing = cJSON_AddArrayToObject(json, "not_measured");
        for (size_t i = 0; status->cost && i < status->cost->cost->n_not_measured; i++)
                cJSON_AddItemToArray(missing, answer_text(status->cost->cost->not_measured[i]));
        return json;
}

static int make(const struct options *options, struct status *ret)
{
        int code = state_read(options, &ret->now), err;

        if (code != CODE_OK)
                return code;
        err = find_cost(ret, options);
        if (!err && ret->cost)
                err = find_dearest(ret);
        if (!err)
                err = advise(ret, options);
        return err ? ask_failed(err) : CODE_OK;
}

/* The file that would answer does not exist. */
static bool is_unrecorded(const struct options *options)
{
        _cleanup_free_ char *found = NULL;
        const char *path = options->database;

        if (!path && paths_usage(options->device, false, &found) == 0)
                path = found;
        return path && access(path, F_OK) < 0 && errno == ENOENT;
}

/* Before anything is recorded: the battery by its own sensor, and how to record. CODE_NO_DATA: there is no battery. */
static int print_unrecorded(const struct options *options)
{
        _cleanup_close_ int root_fd = open(options->machine ? options->machine : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_free_ struct battery_unit *units = NULL;
        struct status status = { .now = { .plugged = -1, .live = true, .power_w = NAN, .counted_percent = NAN } };
        struct battery battery;
        char text[256], span[32];
        double full_j;
        size_t n = 0;

        if (root_fd < 0 || battery_list(root_fd, &units, &n, NULL) < 0 || n == 0)
                return CODE_NO_DATA;
        battery_sum(units, n, &battery);
        full_j = battery_full_mwh(&battery) * J_PER_MWH;
        status.now.percent = battery_percent(&battery);
        if (battery.status != BATTERY_UNKNOWN)
                status.now.plugged = battery.status != BATTERY_DISCHARGING;
        if (battery.status == BATTERY_DISCHARGING && battery.have & BATTERY_POWER && battery.power_uw > 0 &&
            full_j > 0) {
                status.now.power_w = (double)battery.power_uw / UJ_PER_J;
                status.now.percent_per_hour = 100 * status.now.power_w * 3600 / full_j;
        }
        print_battery(&status);
        if (status.now.percent_per_hour > 0 && !isnan(status.now.percent))
                snprintf(text, sizeof(text), _("about %s at the present power"),
                         ask_minutes(60 * status.now.percent / status.now.percent_per_hour, 0, span));
        else
                snprintf(text, sizeof(text), "%s", _("unknown"));
        print_line(names[1], text);
        snprintf(text, sizeof(text), _("nothing is recorded yet: %s enable --now joulecastd, or joulecast poll as "
                                       "yourself"), paths_systemctl());
        print_line(names[3], text);
        return CODE_OK;
}

int status_main(int argc, char **argv)
{
        const struct option_table command = {
                .called = "joulecast status",
                .usage = "joulecast [status]",
                .about = N_("Shows in five lines: the charge and what is drawn now, the time left if use goes on as "
                            "it is, the three dearest apps since the last full charge, what to do, and what is not "
                            "measured. What is said with \"at least\" or \"at most\" is right 19 times in 20."),
        };
        _cleanup_(status_clear) struct status status = { .now.plugged = -1 };
        struct options options = { 0 };
        int code = options_parse(&command, SHARED_ASK, argc, argv, &options);

        if (code >= 0)
                return code;
        if (!options.device && !options.json && is_unrecorded(&options) && print_unrecorded(&options) == CODE_OK)
                return CODE_OK;
        code = make(&options, &status);
        if (code != CODE_OK)
                return code;
        return options.json ? answer_print_json(status_json(&status)) : print_status(&status);
}
