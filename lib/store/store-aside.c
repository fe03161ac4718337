/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A database that cannot be used any more makes room for a new one; nothing of it is deleted. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "store.h"
#include "util/portable.h"
#include "util/util.h"

static int move(const char *path, const char *suffix, const char *new_path)
{
        _cleanup_free_ char *from = NULL, *to = NULL;
        _cleanup_close_ int fd = -1;

        if (asprintf(&from, "%s%s", path, suffix) < 0)
                from = NULL;
        if (asprintf(&to, "%s%s", new_path, suffix) < 0)
                to = NULL;
        if (!from || !to)
                return -ENOMEM;
        fd = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fsync(fd) < 0)
                return -errno;
        return portable_rename_new(from, to);
}

int store_put_aside(const char *path, enum store_aside why, const struct log *log)
{
        static const char *const words[] = { [STORE_DAMAGED] = "damaged", [STORE_OLDER] = "older" };
        _cleanup_free_ char *aside = NULL, *shared = NULL;
        time_t now = time(NULL);
        struct tm utc = { 0 };
        char when[32];
        int err;

        gmtime_r(&now, &utc);
        strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
        if (asprintf(&aside, "%s.%s-%s", path, words[why], when) < 0)
                aside = NULL;
        if (asprintf(&shared, "%s-shm", path) < 0)
                shared = NULL;
        if (!aside || !shared)
                return -ENOMEM;
        err = move(path, "-wal", aside);
        if (!err || err == -ENOENT)
                err = move(path, "", aside);
        if (err) {
                log_error(log, "cannot put the %s %s aside: %s; move it away by hand", words[why], path,
                          strerror(-err));
                return err;
        }
        unlink(shared); /* an index of the -wal, made anew */
        if (why == STORE_DAMAGED)
                log_warning(log, "the damaged database is kept as %s, and a new one begins; sqlite3's "
                            ".recover may still read it", aside);
        else
                log_warning(log, "the database of an older version of joulecast is kept as %s, and a new one "
                                 "begins", aside);
        return 0;
}
