/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drop-root.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

#define NOBODY 65534

static int become(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        if (geteuid() != 0)
                return 0;
        if (setgroups(n, groups) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
                return -errno;
        return 0;
}

int drop_root(const gid_t *groups, size_t n)
{
        return become(NOBODY, NOBODY, groups, n);
}

int drop_root_to(uid_t uid, gid_t gid)
{
        return become(uid, gid, NULL, 0);
}

int drop_root_to_owner(const char *path)
{
        _cleanup_free_ char *folder = strdup(path);
        char *slash = folder ? strrchr(folder, '/') : NULL;
        struct stat info;

        if (!folder)
                return -ENOMEM;
        if (geteuid() != 0)
                return 0;
        if (slash)
                slash[slash == folder] = '\0';
        if (stat(slash ? folder : ".", &info) < 0 || (info.st_uid == 0 && lstat(path, &info) < 0))
                return -errno;
        return info.st_uid == 0 ? 0 : drop_root_to(info.st_uid, info.st_gid);
}
