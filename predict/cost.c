/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast cost`: what each app cost the battery in a span of time. */

#include "forecast/cost.h"

#include <errno.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "ask.h"
#include "commands.h"
#include "cost-days.h"
#include "csv.h"
#include "forecast/usage-table.h"
#include "names.h"
#include "options.h"
#include "util/util.h"

struct arguments {
        struct options options;
        const char *usage;
        bool csv;
        const char *by; /* "component"; NULL: the whole of each app */
        const char *app; /* NULL: all */
        struct moment from;
        int64_t to_ns;
};

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
                { "csv", NULL, N_("answer in CSV; also with --by day"), .flag = &arguments.csv },
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
        if (arguments.csv && arguments.options.json) {
                log_error(&program_log, "--csv and --json exclude each other");
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
