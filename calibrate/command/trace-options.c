/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/csv-field.h"
#include "util/util.h"

#define MICROVOLTS_MOST 10000000

static int bad_line(const char *path, unsigned line, const char *what, const struct log *log)
{
        log_error(log, "%s:%u: %s", path, line, what);
        return -EINVAL;
}

static int read_line(const char *path, unsigned line, struct csv_reader *reader, uint64_t *before,
                     struct voltages *ret, const struct log *log)
{
        char khz_text[CSV_FIELD_MAX], uv_text[CSV_FIELD_MAX];
        const char *why = "a line is kHz,uV";
        int more = csv_field(reader, khz_text, &why);
        uint64_t khz, uv;

        if (more > 0)
                more = csv_field(reader, uv_text, &why);
        else
                more = -EINVAL;
        if (more)
                return bad_line(path, line, why, log);
        if (util_parse_u64(khz_text, &khz) < 0 || khz <= *before || khz >= UINT32_MAX)
                return bad_line(path, line, "not a frequency in kHz above that of the line before", log);
        if (util_parse_u64(uv_text, &uv) < 0 || uv == 0 || uv > MICROVOLTS_MOST)
                return bad_line(path, line, "not a voltage of 1 to 10,000,000 uV", log);
        *before = khz;
        ret->list[ret->n++] = (struct voltage){ (uint32_t)khz, (double)uv * 1e-6 };
        return 0;
}

void trace_voltages_clear(struct voltages *voltages)
{
        free(voltages->list);
        *voltages = (struct voltages){ 0 };
}

int trace_voltages_read(const char *path, const struct log *log, struct voltages *ret)
{
        _cleanup_(trace_voltages_clear) struct voltages voltages = { 0 };
        _cleanup_free_ char *text = NULL;
        struct csv_reader reader;
        uint64_t before = 0;
        size_t length;
        int err = csv_load(path, "file of voltages", log, &text, &length);

        if (!err && length == 0)
                err = bad_line(path, 1, "there is no voltage", log);
        reader = (struct csv_reader){ .at = text, .end = text + (err ? 0 : length), .trims = true };
        voltages.list = calloc(length + 1, sizeof(*voltages.list)); /* more than it has lines */
        if (!err && !voltages.list)
                err = -ENOMEM;
        for (unsigned line = 1; !err && reader.at < reader.end; line++)
                err = read_line(path, line, &reader, &before, &voltages, log);
        if (err)
                return err;
        *ret = voltages;
        voltages = (struct voltages){ 0 };
        return 0;
}

void trace_show(struct measured_trace *trace, const struct profile *profile, const struct log *log)
{
        struct measured_colours colours;

        if (!trace->colours)
                return;
        if (measured_colours_of(profile, &colours))
                measured_show(trace, &colours);
        else
                log_warning(log, "the screen's colours have no effect: the profile has no x-red of [display]; fit "
                                 "--trace learns it");
}

const char *trace_device_name(const char *path, char name[PROFILE_NAME_MAX])
{
        const char *slash = strrchr(path, '/');
        char *dot;

        snprintf(name, PROFILE_NAME_MAX, "%.*s", PROFILE_NAME_MAX - 1, slash ? slash + 1 : path);
        dot = strrchr(name, '.');
        if (dot && dot > name)
                *dot = '\0';
        return name;
}
