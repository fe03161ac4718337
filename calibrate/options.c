/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

#include "util.h"

static const char help[] =
        "Usage: joulecast calibrate [OPTION]...\n"
        "\n"
        "Learns this device's own power model: holds it in one state after another, watches\n"
        "its battery, and writes a profile. Overnight, unplugged, with nothing else running.\n"
        "\n"
        "What is measured\n"
        "  --method METHOD       percent  from each step of the battery's percentage\n"
        "                        gauge    by its current sensor: half an hour\n"
        "                        ticks    by steps of its charge finer than one percent\n"
        "                        auto     the best that this battery offers (default)\n"
        "  --plan sapp           the SApp paper's own procedure, to compare with\n"
        "  --passes N            gauge: how often every state is measured (default 4)\n"
        "  --stop PERCENT        percent, ticks: until the energy of a mixture of apps is known\n"
        "                        to so many percent, 95 times in 100 (default 3%)\n"
        "  --seed N              another order (and another noise of a virtual device)\n"
        "\n"
        "How much it may take\n"
        "  --battery-limit N%    at most so many percent of charge; never below 20 % of charge\n"
        "  --time-limit HOURS\n"
        "  --dry-run             only list the states, the hours, the battery and what is touched\n"
        "  --yes                 do not ask\n"
        "\n"
        "Where\n"
        "  --device virtual:X    a virtual device, by name or file, instead of this machine\n"
        "  --start-percent N     a virtual device's charge at the start (default 95)\n"
        "  --profile FILE        the profile to write\n"
        "  --observations FILE   keeps every measurement, to fit again or to go on\n"
        "  --resume              go on with the last night in --observations, or add to it\n"
        "  --machine DIR         with --dry-run: another machine's sys and proc, in a folder\n"
        "  --database FILE       recorded usage: what it shows to matter is measured best\n"
        "  --json                progress and result as JSON lines\n"
        "  --help, --version\n"
        "\n"
        "Ends with 0 when a profile was written, also when a limit came first; 1 when nothing\n"
        "could be fitted; 2 after a wrong option.\n";

enum option_code {
        OPTION_METHOD = 256,
        OPTION_PLAN,
        OPTION_STOP,
        OPTION_PASSES,
        OPTION_BATTERY_LIMIT,
        OPTION_TIME_LIMIT,
        OPTION_START_PERCENT,
        OPTION_SEED,
        OPTION_DRY_RUN,
        OPTION_YES,
        OPTION_JSON,
        OPTION_RESUME,
        OPTION_DEVICE,
        OPTION_MACHINE,
        OPTION_PROFILE,
        OPTION_OBSERVATIONS,
        OPTION_DATABASE,
        OPTION_HELP,
        OPTION_VERSION,
};

static const struct option long_options[] = {
        { "method", required_argument, NULL, OPTION_METHOD },
        { "plan", required_argument, NULL, OPTION_PLAN },
        { "stop", required_argument, NULL, OPTION_STOP },
        { "passes", required_argument, NULL, OPTION_PASSES },
        { "battery-limit", required_argument, NULL, OPTION_BATTERY_LIMIT },
        { "time-limit", required_argument, NULL, OPTION_TIME_LIMIT },
        { "start-percent", required_argument, NULL, OPTION_START_PERCENT },
        { "seed", required_argument, NULL, OPTION_SEED },
        { "dry-run", no_argument, NULL, OPTION_DRY_RUN },
        { "yes", no_argument, NULL, OPTION_YES },
        { "json", no_argument, NULL, OPTION_JSON },
        { "resume", no_argument, NULL, OPTION_RESUME },
        { "device", required_argument, NULL, OPTION_DEVICE },
        { "machine", required_argument, NULL, OPTION_MACHINE },
        { "profile", required_argument, NULL, OPTION_PROFILE },
        { "observations", required_argument, NULL, OPTION_OBSERVATIONS },
        { "database", required_argument, NULL, OPTION_DATABASE },
        { "help", no_argument, NULL, OPTION_HELP },
        { "version", no_argument, NULL, OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

/* "3", "3%" and "3 %" alike. */
static int parse_number(const char *text, bool percent, double *ret)
{
        char copy[64];
        size_t length = strlen(text);

        if (length >= sizeof(copy))
                return -EINVAL;
        memcpy(copy, text, length + 1);
        if (percent && length > 0 && copy[length - 1] == '%')
                copy[length - 1] = '\0';
        return util_parse_double(copy, ret);
}

static int wrong(const struct log *log, const char *name, const char *value, const char *wanted)
{
        char printable[64];

        log_error(log, "--%s: \"%s\" is not %s; see --help", name, util_printable(value, printable, sizeof(printable)),
                  wanted);
        return -EINVAL;
}

static int parse_range(const struct log *log, const char *name, bool percent, double low, double high,
                       const char *wanted, double *ret)
{
        double value;

        if (parse_number(optarg, percent, &value) < 0 || value < low || value > high)
                return wrong(log, name, optarg, wanted);
        *ret = value;
        return 0;
}

static int parse_method(const struct log *log, enum method_choice *ret)
{
        static const char *const names[] = { "auto", "percent", "gauge", "ticks" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(optarg, names[i]))
                        continue;
                *ret = (enum method_choice)i;
                return 0;
        }
        return wrong(log, "method", optarg, "auto, percent, gauge or ticks");
}

static int parse_device(const struct log *log, const char **ret)
{
        if (strncmp(optarg, "virtual:", 8) || !optarg[8])
                return wrong(log, "device", optarg, "virtual:NAME or virtual:FILE");
        *ret = optarg;
        return 0;
}

static int parse_file(const struct log *log, const char *name, const char **ret)
{
        if (!*optarg)
                return wrong(log, name, optarg, "a file's name");
        *ret = optarg;
        return 0;
}

static int parse_amount(const struct log *log, int option, struct options *options)
{
        double number = 0;
        int err;

        switch (option) {
        case OPTION_STOP:
                return parse_range(log, "stop", true, 0.1, 50, "a percentage of 0.1 to 50", &options->stop_percent);
        case OPTION_PASSES:
                err = parse_range(log, "passes", false, 1, 1000, "a number of 1 to 1000", &number);
                if (!err && number != floor(number))
                        err = wrong(log, "passes", optarg, "a whole number");
                options->passes = err ? options->passes : (uint32_t)number;
                return err;
        case OPTION_BATTERY_LIMIT:
                return parse_range(log, "battery-limit", true, 0.1, 100, "a percentage of 0.1 to 100",
                                   &options->battery_limit_percent);
        case OPTION_TIME_LIMIT:
                return parse_range(log, "time-limit", false, 0.01, 1000, "a number of hours of 0.01 to 1000",
                                   &options->time_limit_h);
        case OPTION_START_PERCENT:
                return parse_range(log, "start-percent", true, 1, 100, "a percentage of 1 to 100",
                                   &options->start_percent);
        case OPTION_SEED:
                if (util_parse_u64(optarg, &options->seed) < 0)
                        return wrong(log, "seed", optarg, "a whole number of 0 or more");
                return 0;
        default:
                return -EINVAL;
        }
}

static int parse_one(const struct log *log, int option, struct options *options)
{
        switch (option) {
        case OPTION_METHOD:
                return parse_method(log, &options->method);
        case OPTION_PLAN:
                options->sapp = true;
                return strcmp(optarg, "sapp") ? wrong(log, "plan", optarg, "a plan that can be asked for (sapp)") : 0;
        case OPTION_DRY_RUN:
                options->dry_run = true;
                return 0;
        case OPTION_YES:
                options->yes = true;
                return 0;
        case OPTION_JSON:
                options->json = true;
                return 0;
        case OPTION_RESUME:
                options->resume = true;
                return 0;
        case OPTION_DEVICE:
                return parse_device(log, &options->device);
        case OPTION_MACHINE:
                return parse_file(log, "machine", &options->machine);
        case OPTION_PROFILE:
                return parse_file(log, "profile", &options->profile);
        case OPTION_OBSERVATIONS:
                return parse_file(log, "observations", &options->observations);
        case OPTION_DATABASE:
                return parse_file(log, "database", &options->database);
        default:
                return parse_amount(log, option, options);
        }
}

static int check_together(const struct log *log, struct options *options)
{
        if (options->sapp && (options->method == CHOICE_GAUGE || options->method == CHOICE_TICKS)) {
                log_error(log, "--plan sapp measures by percent; leave --method out");
                return -EINVAL;
        }
        if (!isnan(options->start_percent) && !options->device) {
                log_error(log, "--start-percent is for virtual devices; this machine starts at the charge it has");
                return -EINVAL;
        }
        if (options->machine && (!options->dry_run || options->device)) {
                log_error(log, "--machine is a folder to look at, not a machine to hold; use it with --dry-run alone");
                return -EINVAL;
        }
        if (options->sapp)
                options->method = CHOICE_PERCENT;
        return 0;
}

static int unknown(const struct log *log, int option, char **argv)
{
        char printable[64];

        util_printable(argv[optind - 1], printable, sizeof(printable));
        if (option == ':')
                log_error(log, "%s needs a value; see --help", printable);
        else
                log_error(log, "%s is no option of calibrate, or not like this; see --help", printable);
        return -EINVAL;
}

int options_parse(int argc, char **argv, const struct log *log, struct options *ret)
{
        struct options options = {
                .stop_percent = 3,
                .passes = 4,
                .battery_limit_percent = INFINITY,
                .time_limit_h = INFINITY,
                .start_percent = NAN,
                .seed = 1,
        };
        int option;

        optind = 1;
        while ((option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
                int err;

                if (option == '?' || option == ':')
                        return unknown(log, option, argv);
                if (option == 'h' || option == OPTION_HELP || option == OPTION_VERSION) {
                        fputs(option == OPTION_VERSION ? "joulecast-calibrate " JOULECAST_VERSION "\n" : help, stdout);
                        return 1;
                }
                err = parse_one(log, option, &options);
                if (err)
                        return err;
        }
        if (optind < argc) {
                char printable[64];

                log_error(log, "\"%s\" is not an option, and calibrate takes nothing else; see --help",
                          util_printable(argv[optind], printable, sizeof(printable)));
                return -EINVAL;
        }
        *ret = options;
        return check_together(log, ret);
}
