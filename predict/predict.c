/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast predict`: what so many minutes of an app will cost. */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "ask.h"
#include "commands.h"
#include "names.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static void add_line(struct table *table, const char *what, struct joulecast_value value, const char *unit)
{
        struct cost_value plain = { value.value, value.low, value.high };
        char text[64], bounds[64];

        table_row(table, TABLE_PLAIN);
        table_cell(table, "%s", what);
        table_cell(table, "%s", answer_print_value(&plain, unit, text));
        table_cell(table, "%s", answer_print_bounds(&plain, bounds));
}

static int print_table(const struct joulecast_forecast *forecast, const struct ask *ask, const struct options *options,
                       double minutes)
{
        _cleanup_(table_freep) struct table *table = table_new("lrr");
        char span[32], name[256];
        bool intervals = !isnan(joulecast_forecast_device_percent(forecast).low);

        table_row(table, TABLE_HEAD);
        table_cell(table, _("%s of %s"), ask_span(minutes, span),
                   names_of(options, joulecast_forecast_app(forecast), name, sizeof(name)));
        table_cell(table, "%s", _("Likely"));
        table_cell(table, "%s", intervals ? /* xgettext:no-c-format */ _("90 % prediction interval") : "");
        add_line(table, _("its own"), joulecast_forecast_percent(forecast), "%");
        add_line(table, "", joulecast_forecast_energy_j(forecast), "J");
        add_line(table, _("the whole device"), joulecast_forecast_device_percent(forecast), "%");
        table_print(table);
        putchar('\n');
        table_note("From %s.", joulecast_forecast_basis(forecast));
        answer_note_basis(ask->profile->profile);
        return CODE_OK;
}

int predict_main(int argc, char **argv)
{
        const char *app = NULL, *word = NULL;
        double minutes = NAN;
        const struct option_row rows[] = {
                { "app", "A", N_("the app, by its id or its name"), .text = &app },
                { "minutes", "N", N_("how long it will run: minutes, or a time like 90s, 20m or 1h30m"),
                  OPTION_MINUTES(&minutes) },
        };
        const struct option_table command = {
                .called = "joulecast predict",
                .usage = "joulecast predict APP --minutes N\n"
                         "joulecast predict --app A --minutes N",
                /* xgettext:no-c-format */
                .about = N_("What an app will cost the battery in so many minutes, judged by what it used before, "
                            "with 90 % prediction intervals."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = &word, .max_words = 1,
        };
        struct options options = { 0 };
        struct joulecast_forecast *forecast = NULL;
        _cleanup_(ask_close) struct ask ask = { 0 };
        int code, err;

        code = options_parse(&command, SHARED_ASK, argc, argv, &options);
        if (code >= 0)
                return code;
        if (!options_one_app(word, &app))
                return CODE_USAGE;
        if (!app || isnan(minutes)) {
                log_error(&program_log, "an app and --minutes are needed; see joulecast predict --help");
                return CODE_USAGE;
        }
        code = ask_open(&options, &ask);
        if (code != CODE_OK)
                return code;
        err = joulecast_forecast_new(ask.profile, ask.usage, app, minutes, &forecast);
        if (err < 0)
                return ask_failed(err);
        code = options.json ? answer_print_json(answer_json(forecast_fields, &forecast->forecast, ask.profile->profile))
                            : print_table(forecast, &ask, &options, minutes);
        joulecast_forecast_free(forecast);
        return code;
}
