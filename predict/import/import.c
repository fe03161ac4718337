/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "convert.h"
#include "model/profile.h"
#include "options.h"
#include "util/ini-text.h"
#include "util/util.h"

#define DEVICE_MAX 64

/* After the file that it goes to, without .ini. */
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

int import_power_profile(const char *path, const char *output, double battery_mwh)
{
        _cleanup_(power_profile_clear) struct power_profile from = { 0 };
        _cleanup_(profile_freep) struct profile *made = NULL;
        _cleanup_free_ char *text = NULL, *converted = NULL;
        char device[DEVICE_MAX], name[256];
        size_t length;
        int err = ini_text_read(path, POWER_PROFILE_BYTES_MAX, &program_log, &text, &length);
        struct convert_plan plan = { device, util_printable(path, name, sizeof(name)), battery_mwh, &program_log };

        name_device(output, device);
        if (!err)
                err = power_profile_parse(text, length, name, &program_log, &from);
        if (!err)
                err = convert_power_profile(&from, &plan, &converted);
        /* What is written can be read. */
        if (!err)
                err = profile_parse(converted, strlen(converted), name, &program_log, &made);
        return err ? CODE_FAILED : write_out(converted, output);
}
