/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <stdlib.h>

#include "moment.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/util.h"

const struct log program_log = { .handler = log_to_stderr, .data = (void *)"joulecast" };

int options_parse(const struct option_table *command, unsigned shared, int argc, char **argv, struct options *options)
{
        const struct option_row rows[] = { /* in the order of enum shared_option */
                OPTION_DEVICE(&options->device),
                { "profile", "FILE", N_("the power model; or the name of a shipped one"), .text = &options->profile },
                { "database", "FILE", N_("what apps used"), .text = &options->database },
                { "observations", "FILE", N_("what calibration saw"), .text = &options->observations },
                { "machine", "DIR", N_("read DIR/sys and DIR/proc instead of /"), .text = &options->machine },
                { "json", .help = N_("answer in JSON"), .flag = &options->json },
                { "yes", .help = N_("do not ask"), .flag = &options->yes },
        };
        _cleanup_free_ char *device = NULL;
        _cleanup_free_ struct option_row *all = calloc(command->n_rows + ARRAY_SIZE(rows), sizeof(*all));
        struct option_table table = *command;
        int code;

        if (!all)
                return CODE_FAILED;
        for (size_t i = 0; i < command->n_rows; i++)
                all[i] = command->rows[i];
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                all[command->n_rows + i] = rows[i];
                all[command->n_rows + i].hidden = !(shared & 1u << i);
        }
        table.program = "joulecast";
        table.rows = all;
        table.n_rows += ARRAY_SIZE(rows);
        if (!table.exits)
                table.exits = N_("0 done; 1 it failed; 2 wrong usage; 3 no data to answer from");
        code = options_read(&table, argc, argv, &program_log);
        if (options->json)
                words_stop();
        if (code < 0 && options->device &&
            offer_find("virtual", N_("virtual device"), paths_virtual(options->device), &program_log, &device) < 0)
                return CODE_FAILED;
        return code;
}

int options_take_minutes(const char *text, void *data)
{
        return values_parse_minutes(text, data);
}

int options_take_time(const char *text, void *data)
{
        return values_parse_time(text, values_now_ns(), data);
}

int options_take_moment(const char *text, void *data)
{
        return moment_parse(text, values_now_ns(), data);
}
