/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The table of options that all programs read their command lines by. */

#include <math.h>
#include <string.h>

#include "check.h"
#include "util/options.h"
#include "util/util.h"

static char said[256];

static void keep(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

struct values {
        bool fast, slow;
        const char *name, *way, *device, *words[1];
        double interval_s, share_percent;
        uint64_t count, seed;
        struct option_place place;
};

static int read_line(const char *line, struct values *values)
{
        const struct option_row rows[] = {
                { "fast", .help = "a switch", .flag = &values->fast },
                { "slow", .help = "its contrary", .flag = &values->slow, .excludes = "fast share" },
                { "name", "N", "a text", .letter = 'n', .text = &values->name, .place = &values->place },
                { "way", "W", "a word", .text = &values->way, .words = "one two" },
                OPTION_DEVICE(&values->device),
                { "interval", "S", "a number", .number = &values->interval_s, .low = 0.1, .high = 86400, .unit = "s" },
                { "share", "P", "a percentage", .number = &values->share_percent, .high = 100, .unit = "%" },
                { "count", "N", "a whole number", .count = &values->count, .low = 1, .high = 1000 },
                { "seed", "N", "any whole number", .count = &values->seed },
        };
        const struct option_table table = { "test", "test", "test", "", rows, ARRAY_SIZE(rows), values->words, 1 };
        const struct log log = { .handler = keep };
        char copy[128], *rest = copy, *argv[16] = { copy };
        int argc = 1;

        snprintf(copy, sizeof(copy), "%s", line);
        *values = (struct values){ .interval_s = NAN, .share_percent = NAN };
        said[0] = '\0';
        while (rest && *rest)
                argv[argc++] = strsep(&rest, "|");
        return options_read(&table, argc, argv, &log);
}

static void good(void)
{
        struct values values;

        check_int(read_line("--fast|--name|n|--way=two|word|--interval|0.1|--share=12.5 %|--count|1000", &values), -1);
        check(values.fast && strcmp(values.name, "n") == 0 && strcmp(values.way, "two") == 0);
        check(strcmp(values.words[0], "word") == 0);
        check_near(values.interval_s, 0.1, 0);
        check_near(values.share_percent, 12.5, 0);
        check_int(values.count, 1000);
        check_int(values.place.from, 2);
        check_int(values.place.to, 4);
        check_int(read_line("-n|--fast|-n|-n", &values), -1); /* a value may begin with a dash */
        check(strcmp(values.name, "-n") == 0 && !values.fast);
        check_int(read_line("--seed|18446744073709551615|--share|0|--device|virtual:x", &values), -1);
        check(values.seed == UINT64_MAX && values.share_percent == 0 && strcmp(values.device, "virtual:x") == 0);
        /* The beginning of a name will do, and the unit. */
        check_int(read_line("--inter=3s|--name=-x|--|--fast", &values), -1);
        check(values.interval_s == 3 && strcmp(values.words[0], "--fast") == 0 && !values.fast);
}

static void wrong(void)
{
        static const struct {
                const char *line, *sentence;
        } cases[] = {
                { "-x", "unknown option -x; see test --help" },
                { "-nx", "unknown option -nx; see test --help" },
                { "-n", "-n needs a value; see test --help" },
                { "--quick", "unknown option --quick; see test --help" },
                { "--fast|--slow", "--slow and --fast exclude each other; see test --help" },
                { "--slow|--name|n|--share|3", "--slow and --share exclude each other; see test --help" },
                { "-x", "unknown option -x; see test --help" },
                { "--s=1", "unknown option --s=1; see test --help" }, /* slow, share or seed */
                { "--fast=1", "this option takes no value: --fast=1; see test --help" },
                { "--name", "--name needs a value; see test --help" },
                { "--name=", "--name needs a value that is not empty; see test --help" },
                { "a|b", "unexpected argument \"b\"; see test --help" },
                { "--way=three", "--way: \"three\" is not one of: one two; see test --help" },
                { "--way=on", "--way: \"on\" is not one of: one two; see test --help" },
                { "--device=real", "--device: \"real\" is not virtual:NAME or virtual:FILE; see test --help" },
                { "--device=virtual:", "--device: \"virtual:\" is not virtual:NAME or virtual:FILE; see test --help" },
                { "--interval=0.01", "--interval: 0.01 s is below 0.1 s; see test --help" },
                { "--interval=1e6", "--interval: 1000000 s is above 86400 s; see test --help" },
                { "--interval=nan", "--interval: \"nan\" is not a number; see test --help" },
                { "--interval=1%", "--interval: \"1%\" is not a number; see test --help" },
                { "--share=101", "--share: 101 % is above 100 %; see test --help" },
                { "--share=-1%", "--share: -1 % is below 0 %; see test --help" },
                { "--share=20%%", "--share: \"20%%\" is not a number; see test --help" },
                { "--interval=s", "--interval: \"s\" is not a number; see test --help" },
                { "--interval=3ms", "--interval: \"3ms\" is not a number; see test --help" },
                { "--share=%", "--share: \"%\" is not a number; see test --help" },
                { "--count=0", "--count: 0 is below 1; see test --help" },
                { "--count=1.5", "--count: \"1.5\" is not a whole number; see test --help" },
                { "--count=1001", "--count: 1001 is above 1000; see test --help" },
                { "--seed=-1", "--seed: -1 is below 0; see test --help" },
                { "--seed=99999999999999999999", "--seed: 1e+20 is above 1.844674407e+19; see test --help" },
        };
        struct values values;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(read_line(cases[i].line, &values), CODE_USAGE);
                check_text(said, cases[i].sentence);
        }
}

int main(void)
{
        good();
        wrong();
        return check_result();
}
