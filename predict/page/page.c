/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "page.h"

#include <stdio.h>
#include <string.h>

#include "../options.h"
#include "util/util.h"

int page_write(const char *path, const char *text)
{
        char printable[256];
        int err;

        if (!path || strcmp(path, "-") == 0) {
                fputs(text, stdout);
                return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
        }
        err = util_write_file(path, text, strlen(text), 0644);
        if (err < 0)
                log_error(&program_log, "%s: the page cannot be written: %s", util_printable(path, printable, sizeof(printable)),
                          util_reason(err));
        return err < 0 ? CODE_FAILED : CODE_OK;
}
