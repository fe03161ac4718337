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
        "Learns this device's own power model: holds it in one state after another,\n"
        "watches its battery, and writes a profile. Overnight, unplugged, with nothing\n"
        "else running.\n"
        "\n"
        "What is measured\n"
        "  --method METHOD       percent  from each step of the battery's percentage\n"
        "                        gauge    by its current sensor: half an hour\n"
        "                        ticks    by steps of its charge finer than one percent\n"
        "                        auto     the best that this battery offers (default)\n"
        "  --plan sapp           the SApp paper's own procedure, to compare with\n"
        "  --passes N            gauge: how often every state is measured (default 4)\n"
        "  --stop PERCENT        percent, ticks: until the energy of a mixture of apps is\n"
        "                        known to so many percent, 95 times in 100 (default 3%)\n"
        "  --seed N              another order (and another noise of a virtual device)\n"
        "\n"
        "How much it may take\n"
        "  --battery-limit N%    at most so many percent of charge; always ends at 20 %\n"
        "  --time-limit HOURS    at most so long\n"
        "  --dry-run             only list the states, the hours, the battery, and what\n"
        "                        would be touched\n"
        "  --yes                 do not ask\n"
        "\n"
        "On this machine\n"
        "  --disk FOLDER         measure the storage that this folder is on; again for\n"
        "                        another (default: that of /var/tmp)\n"
        "  --write-limit SIZE    writes at most so much to them (default 16G)\n"
        "  --wifi-url URL        receive from there; without, receiving is measured by\n"
        "                        --wifi-peer\n"
        "  --wifi-peer HOST[:PORT]\n"
        "                        an `iperf3 -s` to receive from and send to\n"
        "  --wifi-limit SIZE     moves at most so much (default 4G, gauge and ticks 500M)\n"
        "  --allow-disconnect    the radio may go off although this login comes over it\n"
        "  --force-discharge     on the charger, from the battery, where the firmware can\n"
        "  --schedule HH:MM      start at that time of the night; \"off\" takes it back\n"
        "  --restore             put back what an interrupted calibration left changed\n"
        "\n"
        "Where\n"
        "  --device virtual:X    a virtual device, by name or file, not this machine\n"
        "  --start-percent N     a virtual device's charge at the start (default 95)\n"
        "  --profile FILE        the profile to write\n"
        "  --observations FILE   keeps every measurement, to fit again or to go on\n"
        "  --resume              go on with the last night in there, or add to it\n"
        "  --machine DIR         with --dry-run: a machine whose sys and proc lie there\n"
        "  --database FILE       recorded usage: what it shows to matter is measured best\n"
        "  --json                progress and result as JSON lines\n"
        "  --help, --version\n"
        "\n"
        "Exit: 0 a profile was written, also when a limit came first; 1 nothing could be\n"
        "fitted; 2 wrong usage.\n";

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
        OPTION_DISK,
        OPTION_WRITE_LIMIT,
        OPTION_WIFI_URL,
        OPTION_WIFI_PEER,
        OPTION_WIFI_LIMIT,
        OPTION_ALLOW_DISCONNECT,
        OPTION_FORCE_DISCHARGE,
        OPTION_SCHEDULE,
        OPTION_RESTORE,
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
        { "disk", required_argument, NULL, OPTION_DISK },
        { "write-limit", required_argument, NULL, OPTION_WRITE_LIMIT },
        { "wifi-url", required_argument, NULL, OPTION_WIFI_URL },
        { "wifi-peer", required_argument, NULL, OPTION_WIFI_PEER },
        { "wifi-limit", required_argument, NULL, OPTION_WIFI_LIMIT },
        { "allow-disconnect", no_argument, NULL, OPTION_ALLOW_DISCONNECT },
        { "force-discharge", no_argument, NULL, OPTION_FORCE_DISCHARGE },
        { "schedule", required_argument, NULL, OPTION_SCHEDULE },
        { "restore", no_argument, NULL, OPTION_RESTORE },
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

        log_error(log, "--%s: \"%s\" is not %s; see --help", name,
                  util_printable(value, printable, sizeof(printable)), wanted);
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
                return parse_range(log, "stop", true, 0.1, 50, "a percentage of 0.1 to 50",
                                   &options->stop_percent);
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

/* "16G", "500M", "4000000": decimal prefixes, as those who sell storages and data count. */
static int parse_size(const struct log *log, const char *name, double *ret)
{
        static const struct {
                char letter;
                double factor;
        } prefixes[] = { { 'k', 1e3 }, { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 }, { 'T', 1e12 } };
        double factor = 1, value = 0;
        char copy[64];
        size_t length = strlen(optarg);

        if (length == 0 || length >= sizeof(copy))
                return wrong(log, name, optarg, "a size like 500M or 16G");
        memcpy(copy, optarg, length + 1);
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
                if (copy[length - 1] != prefixes[i].letter)
                        continue;
                factor = prefixes[i].factor;
                copy[length - 1] = '\0';
                break;
        }
        if (util_parse_double(copy, &value) < 0 || value < 0 || value * factor > 1e15)
                return wrong(log, name, optarg, "a size like 500M or 16G");
        *ret = value * factor;
        return 0;
}

/* As joulecast-traffic takes it; hours later is too late to hear that it does not. */
static int parse_url(const struct log *log, const char **ret)
{
        bool known = strncmp(optarg, "http://", 7) == 0 || strncmp(optarg, "https://", 8) == 0;

        for (const char *at = optarg; *at; at++)
                known = known && (unsigned char)*at > ' ' && *at != 0x7f;
        if (!known)
                return wrong(log, "wifi-url", optarg, "an address that begins with http:// or https://");
        *ret = optarg;
        return 0;
}

static int parse_disk(const struct log *log, struct options *options)
{
        if (options->n_disks == OPTIONS_DISKS_MAX) {
                log_error(log, "--disk: only %d storages can be measured in one night", OPTIONS_DISKS_MAX);
                return -EINVAL;
        }
        options->n_disks++;
        return parse_file(log, "disk", &options->disks[options->n_disks - 1]);
}

static int parse_schedule(const struct log *log, const char **ret)
{
        unsigned hour, minute;
        char end;

        if (*ret) {
                log_error(log, "--schedule: a night begins once; say it once");
                return -EINVAL;
        }
        if (strcmp(optarg, "off") &&
            (sscanf(optarg, "%2u:%2u%c", &hour, &minute, &end) != 2 || hour > 23 || minute > 59))
                return wrong(log, "schedule", optarg, "a time of the day like 01:30, or off");
        *ret = optarg;
        return 0;
}

/* Options about this machine; 1: not one of them. */
static int parse_machine(const struct log *log, int option, struct options *options)
{
        switch (option) {
        case OPTION_DISK:
                return parse_disk(log, options);
        case OPTION_WRITE_LIMIT:
                return parse_size(log, "write-limit", &options->write_limit_bytes);
        case OPTION_WIFI_LIMIT:
                return parse_size(log, "wifi-limit", &options->wifi_limit_bytes);
        case OPTION_WIFI_URL:
                return parse_url(log, &options->wifi_url);
        case OPTION_WIFI_PEER:
                return parse_file(log, "wifi-peer", &options->wifi_peer);
        case OPTION_SCHEDULE:
                return parse_schedule(log, &options->schedule);
        case OPTION_ALLOW_DISCONNECT:
                options->allow_disconnect = true;
                return 0;
        case OPTION_FORCE_DISCHARGE:
                options->force_discharge = true;
                return 0;
        case OPTION_RESTORE:
                options->restore = true;
                return 0;
        default:
                return 1;
        }
}

static int parse_one(const struct log *log, int option, struct options *options)
{
        int err = parse_machine(log, option, options);

        if (err <= 0)
                return err;
        switch (option) {
        case OPTION_METHOD:
                return parse_method(log, &options->method);
        case OPTION_PLAN:
                options->sapp = true;
                return strcmp(optarg, "sapp")
                               ? wrong(log, "plan", optarg, "a plan that can be asked for (sapp)")
                               : 0;
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

/* What starts while nobody looks may not do what somebody has to look after. */
static int check_schedule(const struct log *log, const struct options *options)
{
        const char *other = options->force_discharge ? "--force-discharge" : options->device ? "--device"
                            : options->restore ? "--restore" : options->dry_run ? "--dry-run"
                            : options->json ? "--json" : NULL;

        if (!other)
                return 0;
        log_error(log, "--schedule does not go together with %s%s", other,
                  options->force_discharge ? ", which is for when you are there" : "");
        return -EINVAL;
}

static int check_together(const struct log *log, struct options *options)
{
        if (options->sapp && (options->method == CHOICE_GAUGE || options->method == CHOICE_TICKS)) {
                log_error(log, "--plan sapp measures by percent; leave --method out");
                return -EINVAL;
        }
        if (!isnan(options->start_percent) && !options->device) {
                log_error(log,
                          "--start-percent is for virtual devices; this machine starts at the charge it has");
                return -EINVAL;
        }
        if (options->machine && (!options->dry_run || options->device)) {
                log_error(log, "--machine is a folder to look at, not a machine to hold; use it with "
                               "--dry-run alone");
                return -EINVAL;
        }
        if (options->schedule && check_schedule(log, options) < 0)
                return -EINVAL;
        if (options->restore && (options->dry_run || options->device)) {
                log_error(log,
                          "--restore puts back what was changed on this machine; it does not go together "
                          "with %s",
                          options->dry_run ? "--dry-run" : "--device");
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
                .write_limit_bytes = 16e9,
                .wifi_limit_bytes = NAN,
        };
        int option, before;

        optind = 1;
        while ((before = optind, option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
                int err;

                if (option == '?' || option == ':')
                        return unknown(log, option, argv);
                if (option == 'h' || option == OPTION_HELP || option == OPTION_VERSION) {
                        fputs(option == OPTION_VERSION ? "joulecast-calibrate " JOULECAST_VERSION "\n" : help,
                              stdout);
                        return 1;
                }
                err = parse_one(log, option, &options);
                if (err)
                        return err;
                if (option == OPTION_SCHEDULE) {
                        options.schedule_at = before;
                        options.schedule_end = optind;
                }
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
