/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast cost`: what a span of time cost the battery, and who had it. */

#include <errno.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "options.h"
#include "usage-table.h"
#include "util.h"

struct arguments {
        struct options options;
        const char *usage, *from, *to;
};

static int answer(const struct arguments *arguments, const struct cost *cost, const struct profile *profile)
{
        return arguments->options.json ? answer_cost_json(cost, profile) : answer_cost_table(cost, profile);
}

static int cost_of_table(const struct arguments *arguments, const struct profile *profile)
{
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        int err;

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
        return answer(arguments, cost, profile);
}

int cost_main(int argc, char **argv)
{
        struct arguments arguments = { 0 };
        const struct option_row rows[] = {
                { "from", "T", "start: 2026-11-20T08:00 (local, or with Z or +01:00), or -24h before now",
                  .text = &arguments.from },
                { "to", "T", "end, likewise", .text = &arguments.to },
                { "usage", "FILE", "price a usage table (CSV) instead of the database", .text = &arguments.usage },
        };
        const struct command command = {
                .name = "cost", .arguments = "[--from T] [--to T] [--usage FILE] [--json]",
                .help = "What each app cost the battery, with 95 % intervals: in front and in the background, by\n"
                        "component, per minute. Without --from and --to everything that is recorded counts.",
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int code;

        if (!options_parse(&command, argc, argv, &arguments.options, NULL, &code))
                return code;
        code = open_profile(&arguments.options, &profile);
        if (code != CODE_OK)
                return code;
        if (arguments.usage)
                return cost_of_table(&arguments, profile);
        log_error(&program_log, "cost: say --usage FILE");
        return CODE_USAGE;
}
