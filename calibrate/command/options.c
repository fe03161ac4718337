/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/component.h"
#include "util/util.h"

#define WRITE_LIMIT_BYTES 16e9 /* as the help says */

static int take_disk(const char *text, void *data)
{
        struct options *options = data;

        if (options->n_disks == OPTIONS_DISKS_MAX)
                return -E2BIG;
        options->disks[options->n_disks++] = text;
        return 0;
}

/* "16G", "500M", "4000000": decimal prefixes, as storages and mobile data are sold. */
static int take_size(const char *text, void *data)
{
        static const struct {
                char letter;
                double factor;
        } prefixes[] = { { 'k', 1e3 }, { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 }, { 'T', 1e12 } };
        double factor = 1, value = 0;
        char copy[64];
        size_t length = strlen(text);

        if (length >= sizeof(copy))
                return -EINVAL;
        memcpy(copy, text, length + 1);
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
                if (copy[length - 1] != prefixes[i].letter)
                        continue;
                factor = prefixes[i].factor;
                copy[length - 1] = '\0';
                break;
        }
        if (util_parse_double(copy, &value) < 0)
                return -EINVAL;
        if (value < 0 || value * factor > 1e15)
                return -ERANGE;
        *(double *)data = value * factor;
        return 0;
}

#define SIZE(at)                                                                                             \
        .parse = take_size, .data = (at), .wants = N_("a size like 500M or 16G"), .range = N_("from 0 to 1000T")

/* As joulecast-traffic takes it, which starts hours later. */
static int take_url(const char *text, void *data)
{
        bool known = strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;

        for (const char *at = text; *at; at++)
                known = known && (unsigned char)*at > ' ' && *at != 0x7f;
        if (!known)
                return -EINVAL;
        *(const char **)data = text;
        return 0;
}

static int take_only(const char *text, void *data)
{
        unsigned *only = data, components = 0;

        if (*only)
                return -E2BIG;
        for (const char *at = text;; at++) {
                size_t length = strcspn(at, ",");
                int component = component_find(at, length);

                if (component < 0 || (component > COMPONENT_CELLULAR && component != COMPONENT_BASE) ||
                    components & 1u << component)
                        return -EINVAL;
                components |= 1u << component;
                at += length;
                if (!*at)
                        break;
        }
        *only = components;
        return 0;
}

static int take_schedule(const char *text, void *data)
{
        const char **schedule = data;
        unsigned hour, minute;
        char end;

        if (*schedule)
                return -E2BIG;
        if (strcmp(text, "off") &&
            (sscanf(text, "%2u:%2u%c", &hour, &minute, &end) != 2 || hour > 23 || minute > 59))
                return -EINVAL;
        *schedule = text;
        return 0;
}

/* A scheduled run is unattended, so it refuses options that need an attendant or make no sense later. */
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

/* The first option given that concerns this machine alone; NULL: none was given. */
static const char *of_this_machine(const struct options *options)
{
        return options->n_disks ? "--disk" :
               !isnan(options->write_limit_bytes) ? "--write-limit" :
               options->wifi_url ? "--wifi-url" :
               options->wifi_peer ? "--wifi-peer" :
               !isnan(options->wifi_limit_bytes) ? "--wifi-limit" :
               options->cellular_peer ? "--cellular-peer" :
               options->allow_disconnect ? "--allow-disconnect" :
               options->force_discharge ? "--force-discharge" : NULL;
}

/* Its network may cost money, so nothing is usual. */
static int check_cellular(const struct log *log, const struct options *options)
{
        bool limited = !isnan(options->cellular_limit_bytes), only = options->only & 1u << COMPONENT_CELLULAR;
        const char *why = NULL;

        if (options->cellular_peer && !limited)
                why = "--cellular-peer needs --cellular-limit SIZE, the most that may go over the modem";
        else if (limited && !options->cellular_peer && !options->device)
                why = "--cellular-limit needs --cellular-peer HOST, the other end of the traffic";
        else if (limited && (options->sapp || options->restore))
                why = options->sapp ? "--cellular-limit does not go together with --plan sapp, which knows no modem"
                                    : "--cellular-limit does not go together with --restore";
        else if (limited && options->only && !only)
                why = "--only leaves the modem out; name cellular there, or leave --cellular-limit out";
        else if (only && !limited)
                why = "--only cellular needs --cellular-limit SIZE, the most that may go over the modem";
        if (why)
                log_error(log, "%s", why);
        return why ? -EINVAL : 0;
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
        if (check_cellular(log, options) < 0)
                return -EINVAL;
        if (options->only && (options->sapp || options->restore)) {
                log_error(log, "--only does not go together with %s", options->sapp ? "--plan sapp" : "--restore");
                return -EINVAL;
        }
        if (!isnan(options->start_percent) && !options->device) {
                log_error(log,
                          "--start-percent is for virtual devices; this machine starts at the charge it has");
                return -EINVAL;
        }
        if (options->machine && (!options->dry_run || options->device)) {
                log_error(log, "--machine is a folder and cannot be calibrated; use it only with --dry-run");
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

static enum method_choice choice_of(const char *method)
{
        return !method || strcmp(method, "auto") == 0 ? CHOICE_AUTO :
               strcmp(method, "percent") == 0 ? CHOICE_PERCENT :
               strcmp(method, "gauge") == 0 ? CHOICE_GAUGE : CHOICE_TICKS;
}

int options_parse(int argc, char **argv, const struct log *log, struct options *ret)
{
        struct options options = {
                .stop_percent = 3,
                .battery_limit_percent = INFINITY,
                .time_limit_h = INFINITY,
                .start_percent = NAN,
                .seed = 1,
                .write_limit_bytes = NAN,
                .wifi_limit_bytes = NAN,
                .cellular_limit_bytes = NAN,
        };
        const char *method = NULL, *plan = NULL;
        uint64_t passes = 0;
        const struct option_row rows[] = {
                { .help = N_("What is measured") },
                { "method", "METHOD",
                  N_("percent: by each step of the battery's percentage; gauge: by its current "
                     "sensor, in half an hour; ticks: by steps of its charge finer than one percent; auto: the best "
                     "that this battery offers; --dry-run says what each takes here"),
                  .usual = "auto", .text = &method, .words = "auto percent gauge ticks" },
                { "plan", "sapp", N_("measure by the procedure of the SApp paper, to compare with it"), .text = &plan,
                  .words = "sapp" },
                { "only", "COMPONENT[,COMPONENT]...",
                  N_("measure only these again (cpu, display, disk, wifi, gpu, cellular, base), and keep "
                     "the rest of the profile"),
                  .parse = take_only, .data = &options.only,
                  .wants = N_("a list like display,wifi of cpu, display, disk, wifi, gpu, cellular and base, "
                              "each once"),
                  .range = N_("one list") },
                { "passes", "N", N_("gauge: how often every state is measured"),
                  .usual = N_("2; 4 with a radio's packets, or with three kinds of cores"),
                  .count = &passes, .low = 1, .high = 1000 },
                { "stop", "PERCENT",
                  /* xgettext:no-c-format */
                  N_("percent and ticks: stop when the 95 % confidence interval of the energy of a "
                     "mixture of apps has this half-width"),
                  .usual = "3", .number = &options.stop_percent, .low = 0.1, .high = 50, .unit = "%" },
                { "seed", "N", N_("another number gives another order of the states, and other noise of a virtual "
                                  "device"),
                  .usual = "1", .count = &options.seed },

                { .help = N_("How much it may take") },
                { "battery-limit", "N%", N_("use at most this much charge; the run always ends at 20 %"),
                  .number = &options.battery_limit_percent, .low = 0.1, .high = 100, .unit = "%" },
                { "time-limit", "HOURS", N_("run at most this long"), .number = &options.time_limit_h,
                  .low = 0.01, .high = 1000, .unit = "h" },
                { "cellular-limit", "SIZE",
                  N_("measure the modem, too, with at most this much data, for which the network may charge; needs "
                     "--cellular-peer, or with --device a virtual device that has a modem"),
                  SIZE(&options.cellular_limit_bytes) },
                { "dry-run",
                  .help = N_("change nothing; only list the states, the hours, the charge that it takes, and what "
                             "would be changed"),
                  .flag = &options.dry_run },
                { "yes", .help = N_("do not ask"), .flag = &options.yes },

                { .help = N_("On this machine, not with --device") },
                { "disk", "FOLDER", N_("measure the storage that holds this folder; may be repeated"),
                  .usual = N_("that of /var/tmp"), .parse = take_disk, .data = &options,
                  .range = N_("at most 8 storages") },
                { "write-limit", "SIZE", N_("write at most this much to all of these storages together"),
                  .usual = "16G", SIZE(&options.write_limit_bytes) },
                { "wifi-url", "URL", N_("receive this file over WiFi; without it, receiving is measured by "
                                        "--wifi-peer"),
                  .parse = take_url, .data = &options.wifi_url,
                  .wants = N_("an address that begins with http:// or https://") },
                { "wifi-peer", "HOST[:PORT]", N_("a host that runs iperf3 -s, to receive from it and send to it "
                                                 "over WiFi"),
                  .text = &options.wifi_peer },
                { "wifi-limit", "SIZE", N_("transfer at most this much over WiFi"),
                  .usual = N_("4G; gauge and ticks 500M"), SIZE(&options.wifi_limit_bytes) },
                { "cellular-peer", "HOST[:PORT]",
                  N_("a host that runs iperf3 -s, to reach over the modem; needs --cellular-limit"),
                  .text = &options.cellular_peer },
                { "allow-disconnect", .help = N_("let the radio be switched off although this login goes over it"),
                  .flag = &options.allow_disconnect },
                { "force-discharge", .help = N_("take the power from the battery although the charger is plugged "
                                                "in, if the firmware can"),
                  .flag = &options.force_discharge },
                { "schedule", "HH:MM", N_("start at that time; \"off\" cancels it"),
                  .place = &options.schedule_place, .parse = take_schedule, .data = &options.schedule,
                  .wants = N_("a time of the day like 01:30, or off"), .range = N_("one start") },
                { "restore", .help = N_("put back the settings that an interrupted calibration left changed"),
                  .flag = &options.restore },

                { .help = N_("Where") },
                OPTION_DEVICE(&options.device),
                { "start-percent", "N", N_("a virtual device's charge at the start"), .usual = "95",
                  .number = &options.start_percent, .low = 1, .high = 100, .unit = "%" },
                { "profile", "FILE", N_("the profile to write"), .text = &options.profile },
                { "observations", "FILE", N_("keep every measurement in this file, to fit it again or to go on later"),
                  .text = &options.observations },
                { "resume", .help = N_("go on with the last run in --observations, or add to it if it was finished"),
                  .flag = &options.resume },
                { "machine", "DIR", N_("with --dry-run: a machine whose sys and proc are in DIR"),
                  .text = &options.machine },
                { "database", "FILE", N_("recorded usage; what is used most is measured most precisely"),
                  .text = &options.database },
                { "json", .help = N_("print progress and result as JSON lines"), .flag = &options.json },
        };
        const struct option_table table = {
                .program = "joulecast-calibrate",
                .called = "joulecast calibrate",
                .usage = "joulecast calibrate [OPTION]...",
                .about = N_("Learns this device's power model: holds it in one state after another, watches its "
                            "battery, and writes a profile. Run it overnight, unplugged, with nothing else running."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .exits = N_("0 a profile was written, also when a limit came first; 1 nothing could be\n"
                         "fitted; 2 wrong usage"),
        };
        int code = options_read(&table, argc, argv, log);

        if (options.json)
                words_stop();
        if (code >= 0)
                return code;
        options.method = choice_of(method);
        options.sapp = plan;
        options.passes = (uint32_t)passes;
        if (check_together(log, &options) < 0)
                return CODE_USAGE;
        *ret = options;
        return -1;
}
