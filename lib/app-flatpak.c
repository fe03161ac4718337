/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

/*
 * The root of a process belongs to its owner, who may have put a file system of their own there (FUSE), and
 * a read of it would then hang the service for ever; or something of the kernel's, to which an open or a
 * read is a request. So mountinfo, which is the kernel's, is asked first: flatpak's bwrap mounts
 * /.flatpak-info from a tmpfs.
 */
static bool mounted_safely(const char *mounts)
{
        bool root = true, info = false;

        for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                char point[64], type[32] = "";
                const char *dash;
                int skip = 0;

                if (sscanf(line, "%*d %*d %*s %*s %63s%n", point, &skip) != 1 || !skip)
                        continue;
                dash = strstr(line + skip, " - ");
                if (!dash || dash > line + strcspn(line, "\n") || sscanf(dash + 3, "%31s", type) != 1)
                        continue;
                if (strcmp(point, "/") == 0)
                        root = strncmp(type, "fuse", 4) != 0;
                else if (strcmp(point, "/.flatpak-info") == 0)
                        info = strcmp(type, "tmpfs") == 0;
        }
        return root && info;
}

/* Most processes live in our own mount namespace, and then this is one readlink. */
static bool other_mounts(int root_fd, pid_t pid)
{
        char path[64], own[64], theirs[64];
        ssize_t n = readlinkat(root_fd, "proc/self/ns/mnt", own, sizeof(own)), m;

        snprintf(path, sizeof(path), "proc/%d/ns/mnt", (int)pid);
        m = readlinkat(root_fd, path, theirs, sizeof(theirs));
        return m > 0 && (n != m || memcmp(own, theirs, (size_t)n) != 0);
}

/*
 * No device is opened, which may act on it (a watchdog),
 * and no link followed, which leads to our own files.
 */
static ssize_t read_info(int root_fd, pid_t pid, char *text, size_t size)
{
        _cleanup_close_ int fd = -1;
        struct stat info;
        char path[64];

        snprintf(path, sizeof(path), "proc/%d/root/.flatpak-info", (int)pid);
        fd = openat(root_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
                return -ENODATA;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return util_read_at(AT_FDCWD, path, text, size);
}

int process_read_flatpak(int root_fd, pid_t pid, char *id, size_t size)
{
        _cleanup_free_ char *text = NULL;
        bool inside = false;

        if (!other_mounts(root_fd, pid))
                return -ENODATA;
        text = malloc(65536);
        if (!text)
                return -ENOMEM;
        if (process_read_words(root_fd, pid, "mountinfo", text, 65536) <= 0 || !mounted_safely(text))
                return -ENODATA;
        if (read_info(root_fd, pid, text, 65536) <= 0)
                return -ENODATA;
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                if (*line == '[')
                        inside = strncmp(line, "[Application]", 13) == 0 ||
                                 strncmp(line, "[Runtime]", 9) == 0;
                if (inside && strncmp(line, "name=", 5) == 0 && strcspn(line, "\n") > 5) {
                        char raw[APP_ID_MAX];

                        snprintf(raw, sizeof(raw), "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
                        util_printable(raw, id, size);
                        return 0;
                }
        }
        return -ENODATA;
}
