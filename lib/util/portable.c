/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "portable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/fs.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

int portable_scandir(int fd, struct dirent ***ret, int (*filter)(const struct dirent *entry),
                     int (*compare)(const struct dirent **a, const struct dirent **b))
{
#ifdef __GLIBC__
        return scandirat(fd, ".", ret, filter, compare);
#else
        char path[32];

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return scandir(path, ret, filter, compare);
#endif
}

int portable_rename_new(const char *from, const char *to)
{
        return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

void portable_map_large(void)
{
#ifdef __GLIBC__
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void portable_trim(void)
{
#ifdef __GLIBC__
        malloc_trim(0);
#endif
}
