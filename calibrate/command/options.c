/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define WRITE_LIMIT_BYTES 16e9 /* as the help says */

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
        "On this machine, not with --device\n"
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

/* An option that takes a value, or, without @parse, one that sets the bool at @offset of struct options. */
struct row {
        const char *name;
        int (*parse)(const struct row *row, const char *text, const struct log *log, struct options *options);
        size_t offset;
        double low, high; /* of a number */
        bool percent;     /* it may end in % */
        const char *wanted;
};

static int wrong(const struct row *row, const char *text, const char *wanted, const struct log *log)
{
        char printable[64];

        log_error(log, "--%s: \"%s\" is not %s; see --help", row->name,
                  util_printable(text, printable, sizeof(printable)), wanted);
        return -EINVAL;
}

static void *place_of(const struct row *row, struct options *options)
{
        return (char *)options + row->offset;
}

/* "3", "3%" and "3 %" alike. */
static int read_number(const char *text, bool percent, double *ret)
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

static int parse_number(const struct row *row, const char *text, const struct log *log,
                        struct options *options)
{
        double value;

        if (read_number(text, row->percent, &value) < 0 || value < row->low || value > row->high)
                return wrong(row, text, row->wanted, log);
        *(double *)place_of(row, options) = value;
        return 0;
}

static int parse_passes(const struct row *row, const char *text, const struct log *log,
                        struct options *options)
{
        double number;

        if (read_number(text, false, &number) < 0 || number < row->low || number > row->high)
                return wrong(row, text, row->wanted, log);
        if (number != floor(number))
                return wrong(row, text, "a whole number", log);
        options->passes = (uint32_t)number;
        return 0;
}

static int parse_seed(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        if (util_parse_u64(text, &options->seed) < 0)
                return wrong(row, text, "a whole number of 0 or more", log);
        return 0;
}

static int parse_method(const struct row *row, const char *text, const struct log *log,
                        struct options *options)
{
        static const char *const names[] = { "auto", "percent", "gauge", "ticks" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcmp(text, names[i]))
                        continue;
                options->method = (enum method_choice)i;
                return 0;
        }
        return wrong(row, text, "auto, percent, gauge or ticks", log);
}

static int parse_plan(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        options->sapp = true;
        return strcmp(text, "sapp") ? wrong(row, text, "a plan that can be asked for (sapp)", log) : 0;
}

static int parse_device(const struct row *row, const char *text, const struct log *log,
                        struct options *options)
{
        if (strncmp(text, "virtual:", 8) || !text[8])
                return wrong(row, text, "virtual:NAME or virtual:FILE", log);
        options->device = text;
        return 0;
}

static int parse_file(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        if (!*text)
                return wrong(row, text, "a file's name", log);
        *(const char **)place_of(row, options) = text;
        return 0;
}

static int parse_disk(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        if (options->n_disks == OPTIONS_DISKS_MAX) {
                log_error(log, "--disk: only %d storages can be measured in one night", OPTIONS_DISKS_MAX);
                return -EINVAL;
        }
        if (!*text)
                return wrong(row, text, "a file's name", log);
        options->disks[options->n_disks++] = text;
        return 0;
}

/* "16G", "500M", "4000000": decimal prefixes, as those who sell storages and data count. */
static int parse_size(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        static const struct {
                char letter;
                double factor;
        } prefixes[] = { { 'k', 1e3 }, { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 }, { 'T', 1e12 } };
        double factor = 1, value = 0;
        char copy[64];
        size_t length = strlen(text);

        if (length == 0 || length >= sizeof(copy))
                return wrong(row, text, "a size like 500M or 16G", log);
        memcpy(copy, text, length + 1);
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
                if (copy[length - 1] != prefixes[i].letter)
                        continue;
                factor = prefixes[i].factor;
                copy[length - 1] = '\0';
                break;
        }
        if (util_parse_double(copy, &value) < 0 || value < 0 || value * factor > 1e15)
                return wrong(row, text, "a size like 500M or 16G", log);
        *(double *)place_of(row, options) = value * factor;
        return 0;
}

/* As joulecast-traffic takes it; hours later is too late to hear that it does not. */
static int parse_url(const struct row *row, const char *text, const struct log *log, struct options *options)
{
        bool known = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;

        for (const char *at = text; *at; at++)
                known = known && (unsigned char)*at > ' ' && *at != 0x7f;
        if (!known)
                return wrong(row, text, "an address that begins with http:// or https://", log);
        options->wifi_url = text;
        return 0;
}

static int parse_schedule(const struct row *row, const char *text, const struct log *log,
                          struct options *options)
{
        unsigned hour, minute;
        char end;

        if (options->schedule) {
                log_error(log, "--schedule: a night begins once; say it once");
                return -EINVAL;
        }
        if (strcmp(text, "off") &&
            (sscanf(text, "%2u:%2u%c", &hour, &minute, &end) != 2 || hour > 23 || minute > 59))
                return wrong(row, text, "a time of the day like 01:30, or off", log);
        options->schedule = text;
        return 0;
}

#define AT(field) offsetof(struct options, field)

static const struct row rows[] = {
        { "method", parse_method },
        { "plan", parse_plan },
        { "stop", parse_number, AT(stop_percent), 0.1, 50, true, "a percentage of 0.1 to 50" },
        { "passes", parse_passes, 0, 1, 1000, false, "a number of 1 to 1000" },
        { "battery-limit", parse_number, AT(battery_limit_percent), 0.1, 100, true,
          "a percentage of 0.1 to 100" },
        { "time-limit", parse_number, AT(time_limit_h), 0.01, 1000, false,
          "a number of hours of 0.01 to 1000" },
        { "start-percent", parse_number, AT(start_percent), 1, 100, true, "a percentage of 1 to 100" },
        { "seed", parse_seed },
        { "dry-run", NULL, AT(dry_run) },
        { "yes", NULL, AT(yes) },
        { "json", NULL, AT(json) },
        { "resume", NULL, AT(resume) },
        { "device", parse_device },
        { "machine", parse_file, AT(machine) },
        { "profile", parse_file, AT(profile) },
        { "observations", parse_file, AT(observations) },
        { "database", parse_file, AT(database) },
        { "disk", parse_disk },
        { "write-limit", parse_size, AT(write_limit_bytes) },
        { "wifi-url", parse_url },
        { "wifi-peer", parse_file, AT(wifi_peer) },
        { "wifi-limit", parse_size, AT(wifi_limit_bytes) },
        { "allow-disconnect", NULL, AT(allow_disconnect) },
        { "force-discharge", NULL, AT(force_discharge) },
        { "schedule", parse_schedule },
        { "restore", NULL, AT(restore) },
};

enum {
        OPTION_HELP = 'h',
        OPTION_VERSION = 256,
        OPTION_ROWS, /* and so on, by row */
};

static void list_options(struct option list[ARRAY_SIZE(rows) + 3])
{
        size_t n = ARRAY_SIZE(rows);

        for (size_t i = 0; i < n; i++)
                list[i] = (struct option){ rows[i].name, rows[i].parse ? required_argument : no_argument,
                                           NULL, OPTION_ROWS + (int)i };
        list[n] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
        list[n + 1] = (struct option){ "version", no_argument, NULL, OPTION_VERSION };
        list[n + 2] = (struct option){ 0 };
}

/* @before: where in argv it stands. */
static int parse_row(const struct row *row, int before, const struct log *log, struct options *options)
{
        int err = row->parse ? row->parse(row, optarg, log, options) : 0;

        if (!row->parse)
                *(bool *)place_of(row, options) = true;
        if (row->parse == parse_schedule) {
                options->schedule_at = before;
                options->schedule_end = optind;
        }
        return err;
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

/* NULL: none of those was said. */
static const char *of_this_machine(const struct options *options)
{
        return options->n_disks ? "--disk" :
               !isnan(options->write_limit_bytes) ? "--write-limit" :
               options->wifi_url ? "--wifi-url" :
               options->wifi_peer ? "--wifi-peer" :
               !isnan(options->wifi_limit_bytes) ? "--wifi-limit" :
               options->allow_disconnect ? "--allow-disconnect" :
               options->force_discharge ? "--force-discharge" : NULL;
}

static int check_together(const struct log *log, struct options *options)
{
        if (options->device && of_this_machine(options)) {
                log_error(log, "%s is about this machine; it does not go together with --device",
                          of_this_machine(options));
                return -EINVAL;
        }
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
        if (isnan(options->write_limit_bytes))
                options->write_limit_bytes = WRITE_LIMIT_BYTES;
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
                .write_limit_bytes = NAN,
                .wifi_limit_bytes = NAN,
        };
        struct option list[ARRAY_SIZE(rows) + 3];
        int option, before;

        list_options(list);
        optind = 1;
        while ((before = optind, option = getopt_long(argc, argv, "+:h", list, NULL)) != -1) {
                int err;

                if (option == '?' || option == ':')
                        return unknown(log, option, argv);
                if (option == OPTION_HELP || option == OPTION_VERSION) {
                        fputs(option == OPTION_VERSION ? "joulecast-calibrate " JOULECAST_VERSION "\n" : help,
                              stdout);
                        return 1;
                }
                err = parse_row(&rows[option - OPTION_ROWS], before, log, &options);
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
