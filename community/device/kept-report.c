/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kept-report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reply.h"
#include "util/ini-text.h"
#include "util/util.h"

#define NAME "community-report.json"

static int path_of(const char *state, char **ret)
{
        const char *name = util_base_name(state);

        return asprintf(ret, "%.*s" NAME, (int)(name - state), state) < 0 ? -ENOMEM : 0;
}

void kept_report_write(const char *state, const char *text, const struct log *log)
{
        _cleanup_free_ char *path = NULL;
        int err = path_of(state, &path);

        if (!err)
                err = util_write_file(path, text, strlen(text), 0600);
        if (!err)
                return;
        log_warning(log, "the report cannot be kept for later: %s", util_reason(err));
        kept_report_drop(state);
}

int kept_report_read(const char *state, char **ret)
{
        _cleanup_free_ char *path = NULL;
        size_t length;
        int err = path_of(state, &path);

        return err ? err : ini_text_read(path, REPLY_MAX, NULL, ret, &length);
}

void kept_report_drop(const char *state)
{
        _cleanup_free_ char *path = NULL;

        if (path_of(state, &path) == 0)
                unlink(path);
}
