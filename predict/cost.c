/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast cost`: what each app cost the battery in a span of time. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "ask.h"
#include "commands.h"
#include "forecast/cost.h"
#include "forecast/usage-table.h"
#include "model/component.h"
#include "model/profile.h"
#include "names.h"
#include "options.h"
#include "util/table.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"
#include "util/words.h"
#include "values.h"

struct arguments {
        struct options options;
        const char *usage;
        bool csv;
        const char *by; /* "component"; NULL: the whole of each app */
        const char *app; /* NULL: all */
        struct moment from;
        int64_t to_ns;
};

/* Answers as CSV (RFC 4180): a line of names, then one line each; unknown is empty. */

static bool begun;

static void begin_field(void)
{
        if (begun)
                putchar(',');
        begun = true;
}

/* Fields of one line, which csv_end() ends. */
static void csv_text(const char *text)
{
        begin_field();
        if (!strpbrk(text, ",\"\n\r")) {
                fputs(text, stdout);
                return;
        }
        putchar('"');
        for (; *text; text++)
                printf(*text == '"' ? "\"\"" : "%c", *text);
        putchar('"');
}

/* NaN: empty */
static void csv_number(double value)
{
        char text[32];

        begin_field();
        if (!isnan(value))
                fputs(util_print_double(value, text, sizeof(text)), stdout);
}

/* value, low, high */
static void csv_value(const struct cost_value *value)
{
        csv_number(value->value);
        csv_number(value->low);
        csv_number(value->high);
}

static void csv_time(int64_t time_ns)
{
        char text[40] = "";

        if (time_ns != INT64_MIN)
                utc_print(time_ns, text, sizeof(text));
        csv_text(text);
}

static void csv_end(void)
{
        fputs("\r\n", stdout);
        begun = false;
}

/*
 * A cost: its head, and a line for each app and state, for the base, the total, the battery and unattributed
 * energy.
 */
static void csv_cost_head(void)
{
        fputs("from,to,kind,app,name,state,active_s,energy_j,energy_low_j,energy_high_j,percent,percent_low,"
              "percent_high",
              stdout);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        printf(",%s_j", component_names[c]);
        fputs("\r\n", stdout);
}

/* @joule_part: relative error of joules; 0 for energies that the battery itself measured. */
static void put_energy(const struct cost_value *energy_j, double joule_part, const struct profile *profile)
{
        const struct cost_value joules = cost_joules(energy_j, joule_part), percent = cost_percent(energy_j, profile);

        csv_value(&joules);
        csv_value(&percent);
}

/* Prints a line that is not for an app. */
static void put_line(const struct cost *cost, const char *kind, const struct cost_value *energy_j,
                     double joule_part, const struct profile *profile)
{
        csv_time(cost->from_ns);
        csv_time(cost->to_ns);
        csv_text(kind);
        csv_text("");
        csv_text("");
        csv_text("");
        csv_number(cost->recorded_s);
        put_energy(energy_j, joule_part, profile);
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                if (c != COMPONENT_BASE)
                        csv_number(NAN);
        csv_end();
}

static void csv_cost(const struct cost *cost, const struct profile *profile)
{
        const struct cost_value base = { cost->base_j, NAN, NAN };

        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                csv_time(cost->from_ns);
                csv_time(cost->to_ns);
                csv_text("app");
                csv_text(app->app);
                csv_text(app->name);
                csv_text(answer_state(app->state));
                csv_number(app->active_s);
                put_energy(&app->energy_j, cost->joule_part, profile);
                for (size_t c = 0; c < COMPONENT_COUNT; c++)
                        if (c != COMPONENT_BASE)
                                csv_number(app->component_j[c]);
                csv_end();
        }
        put_line(cost, "base", &base, 0, profile);
        put_line(cost, "total", &cost->total_j, cost->joule_part, profile);
        put_line(cost, "battery", &cost->measured_j, 0, profile);
        put_line(cost, "unattributed", &cost->unexplained_j, 0, profile);
}

static int answer(const struct arguments *arguments, const struct cost *cost, const struct profile *profile)
{
        if (arguments->options.json)
                return answer_print_json(answer_cost_json(cost, profile));
        if (arguments->csv) {
                csv_cost_head();
                csv_cost(cost, profile);
                return CODE_OK;
        }
        return arguments->by ? answer_parts_table(cost, profile) : answer_cost_table(cost, profile);
}

/* Leaves the rows of the app that the user calls so; base, battery and sums stay those of the whole device. */
static int keep_app(struct cost *cost, const char *called)
{
        char app[APP_ID_MAX];
        int code = called ? names_app_called(cost, called, app) : CODE_OK;

        if (called && code == CODE_OK)
                cost_keep_app(cost, app);
        return code;
}

static int cost_of_table(const struct arguments *arguments, const struct profile *profile)
{
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int code, err;

        err = usage_table_load(arguments->usage, &program_log, &table);
        if (err < 0)
                return CODE_FAILED;
        err = cost_make_from_table(profile, table, &cost);
        if (err == -ENODATA) {
                log_error(&program_log, "%s: the table has no rows", arguments->usage);
                return CODE_NO_DATA;
        }
        if (err < 0) {
                log_error(&program_log, "%s: %s", arguments->usage, strerror(-err));
                return CODE_FAILED;
        }
        code = keep_app(cost, arguments->app);
        return code == CODE_OK ? answer(arguments, cost, profile) : code;
}

static int nothing_recorded(struct joulecast_usage *usage)
{
        int64_t from_ns, to_ns;
        char from[32], to[32];

        if (joulecast_usage_span(usage, &from_ns, &to_ns) < 0) {
                log_error(&program_log, "nothing was recorded yet; start the service, or run joulecast poll");
                return CODE_NO_DATA;
        }
        values_print_local(from_ns, from, sizeof(from));
        values_print_local(to_ns, to, sizeof(to));
        log_error(&program_log, "nothing was recorded in that time; the database goes from %s to %s",
                  from, to);
        return CODE_NO_DATA;
}

/* `joulecast cost --by day`: a row for each day of a span, in local time. */

#define DAYS_MAX 3700 /* ten years */
#define DEAREST 3

struct days {
        const struct ask *ask;
        const struct desktop_index *index;
        bool csv;
        struct cJSON *json;  /* else, or the table */
        struct table *table;
        size_t n;
};

/* The next local midnight, or -1. */
static int64_t next_day(int64_t time_ns)
{
        time_t seconds = (time_t)(time_ns / (int64_t)NS_PER_S);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -1;
        tm.tm_mday++;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_isdst = -1;
        return (int64_t)mktime(&tm) * (int64_t)NS_PER_S;
}

static void dearest_cell(struct table *table, const struct cost *cost)
{
        char cell[512] = "", name[APP_ID_MAX + 2], number[32];
        size_t length = 0;

        for (size_t i = 0; i < cost->n_apps && length < sizeof(cell); i++) {
                const struct cost_app *app = &cost->apps[i];

                if (!isnan(app->percent.value))
                        length += (size_t)snprintf(cell + length, sizeof(cell) - length, "%s%s %s %%", i ? ", " : "",
                                                   names_in_table(app->app, app->name, name, sizeof(name)),
                                                   answer_print_number(app->percent.value, app->percent.value / 5,
                                                                       number));
        }
        table_cell(table, "%s", cell);
}

static void add_row(struct days *days, int64_t start_ns, const struct cost *cost)
{
        double percent_j = J_PER_PERCENT(joulecast_profile_energy_full_mwh(days->ask->profile));
        struct cost_value total = { cost->total_j.value / percent_j, cost->total_j.low / percent_j,
                                    cost->total_j.high / percent_j };
        char day[32], text[64], bounds[64], duration[32], measured[32];

        values_print_local(start_ns, day, sizeof(day));
        day[strcspn(day, " ")] = '\0';
        table_row(days->table, TABLE_PLAIN);
        table_cell(days->table, "%s", day);
        table_cell(days->table, "%s", answer_print_duration(cost->recorded_s, duration));
        table_cell(days->table, "%s%s", answer_print_number(cost->measured_percent, 1, measured),
                   isnan(cost->measured_percent) ? "" : " %");
        table_cell(days->table, "%s", answer_print_value(&total, "%", text));
        table_cell(days->table, "%s", answer_print_bounds(&total, bounds));
        dearest_cell(days->table, cost);
}

/* 0, also for a day without anything; a negative errno. */
static int add_day(struct days *days, int64_t from_ns, int64_t to_ns)
{
        bool is_table = !days->csv && !days->json;
        struct joulecast_cost *cost = NULL;
        int err = (is_table ? api_cost_sums : joulecast_cost_new)(days->ask->profile, days->ask->usage, from_ns, to_ns,
                                                                  &cost);

        if (err)
                return err == -ENODATA ? 0 : err;
        if (is_table)
                cost_keep_dearest(cost->cost, DEAREST);
        names_localise(days->index, cost->cost);
        if (days->csv)
                csv_cost(cost->cost, days->ask->profile->profile);
        else if (days->json)
                cJSON_AddItemToArray(days->json, answer_cost_json(cost->cost, days->ask->profile->profile));
        else
                add_row(days, from_ns, cost->cost);
        joulecast_cost_free(cost);
        days->n++;
        return 0;
}

/* Each day that has a record. */
static int add_days(struct days *days, int64_t from_ns, int64_t to_ns)
{
        int64_t first_ns, last_ns;
        int err = joulecast_usage_span(days->ask->usage, &first_ns, &last_ns);

        if (err)
                return err;
        from_ns = MAX(from_ns, first_ns);
        to_ns = MIN(to_ns, last_ns);
        for (int i = 0; !err && i < DAYS_MAX && from_ns < to_ns; i++) {
                int64_t next_ns = next_day(from_ns);

                if (next_ns <= from_ns)
                        return -EOVERFLOW;
                err = add_day(days, from_ns, MIN(next_ns, to_ns));
                from_ns = next_ns;
        }
        return err ? err : days->n > 0 ? 0 : -ENODATA;
}

/* An exit code. -ENODATA: nothing was recorded in that time. */
static int cost_days(const struct ask *ask, const struct options *options, bool csv, int64_t from_ns, int64_t to_ns)
{
        struct desktop_index *index = options->device ? NULL : desktop_index_of_user();
        _cleanup_(table_freep) struct table *table = table_new("lrrrrl");
        struct cJSON *json = options->json ? cJSON_CreateObject() : NULL;
        struct days days = { .ask = ask, .index = index, .table = table, .csv = csv,
                             .json = cJSON_AddArrayToObject(json, "days") };
        int err;

        table_spare(table, "514");
        table_heads(table, N_("Day"), N_("Recorded"), N_("Battery"), N_("Model"), N_("95 % CI"), N_("Dearest"), NULL);
        if (csv)
                csv_cost_head();
        err = add_days(&days, from_ns, to_ns);
        desktop_index_free(index);
        if (err) {
                cJSON_Delete(json);
                return err;
        }
        if (csv)
                return CODE_OK;
        if (json)
                return answer_print_json(json);
        table_print(table);
        putchar('\n');
        table_note("Battery: the energy that it delivered, without the time on external power. Model: base and all "
                   "apps.");
        answer_note_profile(ask->profile->profile);
        return CODE_OK;
}

static int cost_of_database(struct arguments *arguments)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        struct joulecast_cost *cost = NULL;
        struct desktop_index *index;
        int code, err;

        code = ask_open(&arguments->options, &ask);
        if (code == CODE_OK)
                code = ask_moment(ask.usage, &arguments->from);
        if (code != CODE_OK)
                return code;
        if (arguments->by && strcmp(arguments->by, "day") == 0)
                err = code = cost_days(&ask, &arguments->options, arguments->csv, arguments->from.ns, arguments->to_ns);
        else
                err = joulecast_cost_new(ask.profile, ask.usage, arguments->from.ns, arguments->to_ns, &cost);
        if (err == -ENODATA)
                return nothing_recorded(ask.usage);
        if (err == -ENOMEM || err == -EOVERFLOW) /* all others were logged by the store or the service */
                log_error(&program_log, "the recorded usage cannot be summed: %s", strerror(-err));
        if (err < 0)
                return CODE_FAILED;
        if (!cost)
                return code;
        index = arguments->options.device ? NULL : desktop_index_of_user();
        names_localise(index, cost->cost);
        desktop_index_free(index);
        code = keep_app(cost->cost, arguments->app);
        if (code == CODE_OK)
                code = answer(arguments, cost->cost, ask.profile->profile);
        joulecast_cost_free(cost);
        return code;
}

int cost_main(int argc, char **argv)
{
        struct arguments arguments = { .from.ns = INT64_MIN, .to_ns = INT64_MAX };
        const struct option_row rows[] = {
                OPTIONS_FROM(&arguments.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&arguments.to_ns) },
                { "by", "WORD", N_("component: show joules by component instead of intervals; day: show a row for "
                                   "each day"),
                  .text = &arguments.by, .words = "component day" },
                { "csv", NULL, N_("answer in CSV; also with --by day"), .flag = &arguments.csv,
                  .excludes = "json" },
                { "usage", "FILE", N_("price a usage table (CSV) instead of the database"), .text = &arguments.usage },
        };
        const struct option_table command = {
                .called = "joulecast cost",
                .usage = "joulecast cost [APP] [--from T | --since WHAT] [--to T]\n"
                         "               [--by component | day] [--csv]\n"
                         "joulecast cost [APP] --usage FILE --profile FILE [--by component]",
                /* xgettext:no-c-format */
                .about = N_("What each app cost the battery, in the foreground and in the background, with 95 % "
                            "confidence intervals. --by component shows joules by component instead, which --json "
                            "always has. Without --from and --to everything that is recorded counts. With APP, an "
                            "id or a name, only that app and the sums of the whole device are shown."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .words = &arguments.app, .max_words = 1,
        };
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int code;

        code = options_parse(&command, SHARED_DEVICE | SHARED_PROFILE | SHARED_DATABASE | SHARED_JSON, argc, argv,
                             &arguments.options);
        if (code >= 0)
                return code;
        code = ask_check_span("cost", &arguments.from, arguments.to_ns);
        if (code != CODE_OK)
                return code;
        if (arguments.usage &&
            (arguments.from.word || arguments.from.ns != INT64_MIN || arguments.to_ns != INT64_MAX)) {
                log_error(&program_log, "--from and --to are for what is recorded; the table of --usage has no times");
                return CODE_USAGE;
        }
        if (arguments.app && arguments.by && strcmp(arguments.by, "day") == 0) {
                log_error(&program_log, "--by day is for all apps together; name an app or a day with --from and --to");
                return CODE_USAGE;
        }
        if (arguments.usage && arguments.by && strcmp(arguments.by, "day") == 0) {
                log_error(&program_log, "--by day is for what is recorded; the table of --usage has no days");
                return CODE_USAGE;
        }
        if (!arguments.usage)
                return cost_of_database(&arguments);
        code = open_profile(&arguments.options, &profile);
        if (code == CODE_OK && !arguments.options.profile) /* the table is of any device */
                code = open_check_device(&arguments.options, profile);
        return code == CODE_OK ? cost_of_table(&arguments, profile) : code;
}
