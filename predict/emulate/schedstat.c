/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

int schedstat_read(pid_t tid, int64_t *ret_ran_ns, int64_t *ret_waited_ns)
{
        char path[64], text[128];
        long long ran, waited;

        snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || sscanf(text, "%lld %lld", &ran, &waited) != 2)
                return -ESRCH;
        *ret_ran_ns = ran;
        *ret_waited_ns = waited;
        return 0;
}

bool schedstat_waits(pid_t tid)
{
        char path[64], text[256];
        const char *at;

        snprintf(path, sizeof(path), "/proc/%d/stat", tid);
        return util_read_at(AT_FDCWD, path, text, sizeof(text)) > 0 && (at = strrchr(text, ')')) && strncmp(at, ") R", 3) == 0;
}
