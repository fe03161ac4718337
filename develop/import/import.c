/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "convert.h"
#include "model/profile.h"
#include "util/ini-text.h"
#include "util/util.h"
#include "util/words.h"

#define DEVICE_MAX 64

/* Names the device after the file that the profile is written to, without .ini. */
static void name_device(const char *output, char *ret)
{
        const char *base = output ? util_base_name(output) : "imported";

        snprintf(ret, DEVICE_MAX, "%.*s", (int)MIN(strcspn(base, "."), (size_t)DEVICE_MAX - 1), base);
        for (char *at = ret; *at; at++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *at))
                        *at = '-';
        if (!*ret)
                strcpy(ret, "imported");
}

static int write_out(const char *text, const char *output)
{
        int err;

        if (!output) {
                fputs(text, stdout);
                return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
        }
        err = util_write_file(output, text, strlen(text), 0644);
        if (err < 0)
                log_error(&program_log, "%.200s cannot be written: %s", output, util_reason(err));
        return err < 0 ? CODE_FAILED : CODE_OK;
}

/* Reads "4", or "4+4" for clusters. False: it is neither. */
static bool read_cpus(const char *text, struct convert_plan *plan)
{
        char *end;

        for (plan->n_cores = 0; text && plan->n_cores < CONVERT_CLUSTERS_MAX; text = end + 1) {
                unsigned long cores = *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : 0;

                if (cores < 1 || cores > 64)
                        return false;
                plan->cores[plan->n_cores++] = (unsigned)cores;
                if (*end != '+')
                        return *end == '\0';
        }
        return !text;
}

/* @battery_mwh: in place of the file's, or NaN; @cpus: likewise, or NULL. */
static int import_file(const char *path, const char *output, double battery_mwh, const char *cpus)
{
        _cleanup_(power_profile_clear) struct power_profile from = { 0 };
        _cleanup_(profile_freep) struct profile *made = NULL;
        _cleanup_free_ char *text = NULL, *converted = NULL;
        char device[DEVICE_MAX], name[256];
        size_t length;
        int err = ini_text_read(path, POWER_PROFILE_BYTES_MAX, &program_log, &text, &length);
        struct convert_plan plan = { device,      util_printable(path, name, sizeof(name)),
                                     battery_mwh, &program_log,
                                     { 0 },       0 };

        if (!read_cpus(cpus, &plan)) {
                log_error(&program_log, "--cpus needs the number of cores, or one for each cluster, as in 4+4");
                return CODE_USAGE;
        }
        name_device(output, device);
        if (!err)
                err = power_profile_parse(text, length, name, &program_log, &from);
        if (!err)
                err = convert_power_profile(&from, &plan, &converted);
        /* A profile that is written can be read. */
        if (!err)
                err = profile_parse(converted, strlen(converted), name, &program_log, &made);
        return err ? CODE_FAILED : write_out(converted, output);
}

int import_main(int argc, char **argv)
{
        const char *path = NULL, *output = NULL, *cpus = NULL;
        double battery_mwh = NAN;
        const struct option_row rows[] = {
                { "output", "FILE",
                  N_("the profile to write, whose name is the device's; without it standard output"),
                  .letter = 'o', .text = &output },
                { "battery", "MWH", N_("energy of the full battery, in place of the file's capacity"),
                  .number = &battery_mwh, .low = 1, .high = 1e7, .unit = "mWh" },
                { "cpus", "N",
                  N_("how many cores there are, in place of what the file says; of clusters, the slower first, as "
                     "4+4"),
                  .text = &cpus },
        };
        const struct option_table command = {
                .called = "joulecast profile",
                .usage = "joulecast profile import FILE.xml [-o FILE.ini]",
                .about = N_("Make a profile of Android's power_profile.xml, for joulecast emulate."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = &path, .max_words = 1,
        };
        struct options options = { 0 };
        int code = options_parse(&command, 0, argc, argv, &options);

        if (code >= 0)
                return code;
        if (!path) {
                log_error(&program_log, "profile import needs a power_profile.xml; see joulecast profile --help");
                return CODE_USAGE;
        }
        return import_file(path, output, battery_mwh, cpus);
}
