/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "shared/scan.h"
#include "forget.h"
#include "intake.h"
#include "util/util.h"

int intake_open(struct intake *intake)
{
        intake->sample = malloc(sizeof(*intake->sample));
        return intake->sample ? 0 : -ENOMEM;
}

void intake_close(struct intake *intake)
{
        upload_header_clear(&intake->current);
        free(intake->sample);
}

void intake_begin(struct intake *intake)
{
        upload_header_clear(&intake->current);
        intake->client = NULL;
        intake->line = 0;
        intake->told = false;
}

static void bad_line(struct intake *intake, const char *why)
{
        intake->counts.bad++;
        intake->bad(intake->data, intake->line, why);
}

/* Rows in the buffer may belong to this client, so they are written first. */
static int forget(struct intake *intake)
{
        int err = intake_flush(intake);

        if (!err)
                err = writer_refresh(intake->writer);
        if (err < 0)
                return err;
        writer_forget(intake->writer, false);
        err = forget_client(intake->writer->database, intake->current.client, NULL);
        return err < 0 ? err : 0;
}

static int take_header(struct intake *intake, const char *line, size_t length)
{
        const char *why;
        int err;

        upload_header_clear(&intake->current);
        intake->client = NULL;
        intake->told = true;
        err = upload_read_header(line, length, &intake->current, &why);
        if (err == -EINVAL) {
                bad_line(intake, why);
                return 0;
        }
        if (!err && intake->header)
                err = intake->header(intake->data, &intake->current);
        if (err < 0)
                return err;
        intake->seq = intake->current.first;
        if (!intake->current.forget)
                return writer_client(intake->writer, &intake->current, &intake->client);
        intake->counts.forgotten++;
        return forget(intake);
}

static int take_sample(struct intake *intake, const char *line, size_t length)
{
        const char *why;
        int64_t seq = intake->seq++;
        int err = upload_read_sample(line, length, &intake->current, intake->sample, &why);

        if (err == -EINVAL) {
                bad_line(intake, why);
                return 0;
        }
        if (!err)
                intake->counts.uses += intake->sample->n_apps;
        return err ? err : writer_add(intake->writer, intake->client, seq, &intake->current, intake->sample);
}

int intake_line(struct intake *intake, const char *line, size_t length)
{
        intake->line++;
        if (length == SIZE_MAX) {
                bad_line(intake, "it is longer than 2 MB, or has a NUL in it");
                intake->seq++;
                return 0;
        }
        if (scan_done(&(struct scan){ .at = line, .end = line + length }))
                return 0;
        if (upload_is_header(line, length))
                return take_header(intake, line, length);
        if (intake->client)
                return take_sample(intake, line, length);
        if (intake->told)
                intake->counts.bad++;
        else
                bad_line(intake, "lines are left out until there is a header: a line with \"v\" and \"client\"");
        intake->told = true;
        return 0;
}

int intake_flush(struct intake *intake)
{
        return writer_flush(intake->writer, &intake->counts.added, &intake->counts.known);
}
