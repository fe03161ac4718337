/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"
#include "util/offer.h"
#include "util/paths.h"
#include "util/util.h"

const struct log program_log = { .handler = log_to_stderr, .data = (void *)"joulecast" };

/* The commands that read a machine differ in when they open it, and some would go on without it. */
static int check_machine(const char *folder)
{
        _cleanup_close_ int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        char printable[128];

        if (!folder || fd >= 0)
                return CODE_OK;
        log_error(&program_log, "cannot open the machine tree %s: %s",
                  util_printable(folder, printable, sizeof(printable)), strerror(errno));
        return CODE_FAILED;
}

int options_parse(const struct option_table *command, unsigned shared, int argc, char **argv, struct options *options)
{
        const struct option_row rows[] = { /* in the order of enum shared_option */
                OPTION_DEVICE(&options->device),
                { "profile", "FILE", N_("the power model: a file, or the name of a shipped one"),
                  .text = &options->profile },
                { "database", "FILE", N_("the database that records what apps used"), .text = &options->database },
                { "observations", "FILE", N_("the database of what a calibration measured"),
                  .text = &options->observations },
                { "machine", "DIR", N_("read DIR/sys and DIR/proc instead of /sys and /proc"),
                  .text = &options->machine },
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
        return code < 0 && check_machine(options->machine) != CODE_OK ? CODE_FAILED : code;
}

bool options_one_app(const char *word, const char **app)
{
        if (word && *app)
                log_error(&program_log, "the app is given twice, by --app and as an argument; give it once");
        else if (word)
                *app = word;
        return !word || *app == word;
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
