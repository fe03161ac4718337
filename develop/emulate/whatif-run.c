/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `joulecast whatif RUN`: what a recorded run would have cost under other conditions, by arithmetic alone. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer-run.h"
#include "answer/answer.h"
#include "answer/options.h"
#include "commands.h"
#include "util/util.h"

struct request {
        struct options options;
        const char *run, *network, *carrier, *signal, *target, *html, *app;
        double brightness_percent, battery_mwh;
};

/* Replaces a recorded option by a copy of the given one; NULL: keeps it. 0; -ENOMEM. */
static int replace(char **old, const char *new)
{
        char *copy = new ? strdup(new) : NULL;

        if (!new)
                return 0;
        if (!copy)
                return -ENOMEM;
        free(*old);
        *old = copy;
        return 0;
}

/* Warns that another target or carrier would also move packets and computations in time, unlike a run of @slowed_as. */
static void warn_of_time(const struct request *request, const struct recorded_run *run, const char *slowed_as)
{
        size_t packets = 0;

        for (size_t i = 0; i < run->n_runs; i++)
                packets += run->runs[i].n_packets;
        if (request->target && strcmp(request->target, slowed_as) != 0)
                log_warning(&program_log, "this run was slowed as %s is, and its times stay those; joulecast "
                            "emulate --target %s runs the app again", slowed_as, request->target);
        if (request->carrier && packets)
                log_warning(&program_log,
                            "with another carrier the radio may have slept at other times, and "
                            "packets waited for it; joulecast emulate --carrier %s runs the app again",
                            request->carrier);
}

static int change(const struct request *request, struct recorded_run *run)
{
        int err;

        if (request->network && strcmp(request->network, run->network) != 0) {
                log_error(&program_log, "this run's packets were sent over %s, and over another network they "
                          "would have other times; use joulecast emulate --network %s", run->network, request->network);
                return -EINVAL;
        }
        err = replace(&run->target, request->target);
        err = err ? err : replace(&run->carrier, request->carrier);
        err = err ? err : replace(&run->signal, request->signal);
        if (!isnan(request->brightness_percent))
                run->brightness_percent = request->brightness_percent;
        return err;
}

static int answer_request(const struct request *request)
{
        _cleanup_(run_file_clear) struct recorded_run run = { 0 };
        _cleanup_free_ char *slowed_as = NULL;
        struct answer_run answer;
        int err = run_load(request->run, &program_log, &run), code;

        if (!err && !(slowed_as = strdup(run.target)))
                err = -ENOMEM;
        if (!err)
                err = change(request, &run);
        if (!err)
                err = answer_run_make(&run, request->battery_mwh, &program_log, &answer);
        if (err)
                return CODE_FAILED;
        warn_of_time(request, &run, slowed_as);
        code = answer_run_say(&answer, request->html, &request->options, request->app);
        answer_run_clear(&answer);
        return code;
}

int whatif_run_main(int argc, char **argv)
{
        struct request request = { .brightness_percent = NAN, .battery_mwh = NAN };
        const struct option_row rows[] = {
                { "brightness", "N%", N_("of the screen; 0 is off"), .number = &request.brightness_percent,
                  .high = 100, .unit = "%" },
                { "signal", "WHICH", N_("strength of the signal: high, medium or low"),
                  .text = &request.signal, .words = "high medium low" },
                { "carrier", "NAME", N_("whose timers the radio has, such as att or sprint"),
                  .text = &request.carrier },
                { "target", "NAME", N_("the device: a profile's name or file"), .text = &request.target },
                { "network", "NAME", N_("that of the run; another one moves packets in time, and is refused"),
                  .text = &request.network },
                ANSWER_RUN_APP(&request.app),
                { "html", "FILE", N_("write a page with pictures in place of the table; - for standard output"),
                  .text = &request.html, .excludes = "json" },
                { "battery", "MWH", N_("energy of the full battery, in place of the target's"),
                  .number = &request.battery_mwh, .low = 1, .high = 1e7, .unit = "mWh" },
        };
        const struct option_table command = {
                .called = "joulecast whatif",
                .usage = "joulecast whatif RUN [OPTIONS]",
                .about = N_("What a run that joulecast emulate -o kept would have cost under other conditions."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
                .words = &request.run,
                .max_words = 1,
        };
        int code = options_parse(&command, ANSWER_RUN_SHARED, argc, argv, &request.options);

        return code >= 0 ? code : answer_request(&request);
}
