/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "command/options.h"
#include "command/schedule.h"
#include "fuzz.h"
#include "model/component.h"
#include "util/util.h"

/*
 * The command line of calibrate, one argument a line, the first one the current folder: accepted values are in range,
 * and the unit made from them has exactly as many lines as a plain one, whatever the arguments contain.
 */

#define ARGUMENTS_MAX 32

static unsigned count_lines(const char *text)
{
        unsigned lines = 0;

        for (const char *end = strchr(text, '\n'); end; end = strchr(end + 1, '\n')) {
                fuzz_assert(end == text || !strchr("\\ ", end[-1])); /* the line would be joined with the next one */
                lines++;
        }
        return lines;
}

static unsigned plain_lines(void)
{
        char *none[] = { NULL };
        _cleanup_free_ char *plain = schedule_service(&(struct schedule){ .program = "/calibrate", .working = "/",
                                                                          .arguments = none });

        fuzz_assert(plain);
        return count_lines(plain);
}

static void plan(const char *working, char **arguments, const char *clock)
{
        struct schedule schedule = { .program = "/usr/libexec/joulecast-calibrate", .working = working,
                                     .arguments = arguments, .when = schedule_next(clock, 1795000000) };
        _cleanup_free_ char *service = schedule_service(&schedule), *timer = schedule_timer(&schedule);

        fuzz_assert(schedule.when > 1795000000 && schedule.when <= 1795000000 + 25 * 3600 && timer);
        if (service)
                fuzz_assert(count_lines(service) == plain_lines());
}

static void check_options(const struct options *options)
{
        fuzz_assert(options->stop_percent >= 0.1 && options->stop_percent <= 50);
        fuzz_assert(options->passes <= 1000); /* 0: not given */
        fuzz_assert(options->battery_limit_percent > 0 && options->time_limit_h > 0);
        fuzz_assert(options->n_disks <= OPTIONS_DISKS_MAX && options->write_limit_bytes >= 0);
        fuzz_assert(isnan(options->wifi_limit_bytes) || options->wifi_limit_bytes >= 0);
        fuzz_assert(isnan(options->start_percent) || (options->start_percent >= 1 && options->device));
        fuzz_assert(!options->only || (!options->sapp && options->only < 1u << COMPONENT_COUNT));
        fuzz_assert(!options->schedule || options->schedule_place.from < options->schedule_place.to);
}

/* Answered on standard output. */
static bool is_question(const char *argument)
{
        return strcmp(argument, "--help") == 0 || strcmp(argument, "--version") == 0 ||
               strcmp(argument, "-h") == 0 || strcmp(argument, "-V") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        char *argv[ARGUMENTS_MAX + 2] = { (char[]){ "calibrate" } }, *rest = text, *word;
        struct options options;
        int argc = 1;

        fuzz_assert(text);
        word = strsep(&rest, "\n");
        while (argc <= ARGUMENTS_MAX && rest) {
                argv[argc] = strsep(&rest, "\n");
                if (is_question(argv[argc++]))
                        return 0;
        }
        if (options_parse(argc, argv, NULL, &options) >= 0)
                return 0;
        check_options(&options);
        if (*word == '/' && options.schedule && strcmp(options.schedule, "off"))
                plan(word, argv + 1, options.schedule);
        return 0;
}
