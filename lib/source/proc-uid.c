/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "util/util.h"

bool proc_hides(int root_fd)
{
        _cleanup_close_ int proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return proc_fd >= 0 && util_is_procfs(proc_fd) && faccessat(proc_fd, "1/stat", R_OK, 0) < 0;
}

/*
 * The uid is among the first lines, whose lengths are bounded (a newline in the name is escaped). The line of
 * groups after it is not: users of a company's domain are in hundreds.
 */
int proc_read_uid(int proc_fd, pid_t pid, uid_t *ret)
{
        _cleanup_close_ int fd = -1;
        char path[32], text[1024];
        const char *line;
        unsigned uid;
        ssize_t n;

        snprintf(path, sizeof(path), "%d/status", (int)pid);
        fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        n = read(fd, text, sizeof(text) - 1);
        if (n < 0)
                return -errno;
        text[n] = '\0';
        line = strstr(text, "\nUid:");
        if (!line || sscanf(line, "\nUid: %u", &uid) != 1)
                return -EBADMSG;
        *ret = uid;
        return 0;
}
