/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "util/util.h"
#include "util/words.h"

int script_file_read(const char *path, const struct log *log, struct script *ret)
{
        _cleanup_free_ char *text = malloc(SCRIPT_BYTES_MAX);
        struct script_fault fault;
        char name[256];
        ssize_t length;
        int err;

        if (!text)
                return -ENOMEM;
        util_printable(path, name, sizeof(name));
        length = util_read_at(AT_FDCWD, path, text, SCRIPT_BYTES_MAX);
        if (length < 0) {
                log_error(log, "%s cannot be read: %s", name, util_reason((int)length));
                return (int)length;
        }
        err = script_parse(text, (size_t)length, ret, &fault);
        if (err == -EINVAL)
                log_error(log, "%s:%u: %s is needed here", name, fault.line, _(fault.wants));
        return err;
}
