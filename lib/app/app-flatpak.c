/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "source/proc.h"
#include "util/util.h"

#define MOUNTS_MAX 65536

/*
 * A user controls the root directory of their processes. It may be a FUSE file system, where a look-up can block the
 * service for ever, or hold special files of the kernel, where open() or read() has effects. So first check in
 * mountinfo that the root and /.flatpak-info are tmpfs, as flatpak's bwrap makes them. As the user can change the
 * mounts after that check, check the opened descriptors again, by the number of their mount.
 */
static bool is_tmpfs(const char *line)
{
        size_t length = strcspn(line, "\n");
        const char *dash = memmem(line, length, " - ", 3);

        return dash && strncmp(dash + 3, "tmpfs ", 6) == 0;
}

/* Where several are mounted at one place, the last line is the visible one. */
bool app_flatpak_mounted_safely(const char *mounts)
{
        bool root = false, info = false;

        for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                char point[64];

                if (sscanf(line, "%*d %*d %*s %*s %63s", point) != 1)
                        continue;
                if (strcmp(point, "/") == 0)
                        root = is_tmpfs(line);
                else if (strcmp(point, "/.flatpak-info") == 0)
                        info = is_tmpfs(line);
        }
        return root && info;
}

/* The number of a descriptor's mount, which is not reused while the descriptor is open; -1: unknown. */
static int mount_of(int fd)
{
        char path[64], text[512];
        const char *line;
        int number;

        snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        if (util_read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
                return -1;
        line = strstr(text, "mnt_id:");
        return line && sscanf(line, "mnt_id: %d", &number) == 1 ? number : -1;
}

static bool holds_tmpfs(const char *mounts, int fd)
{
        int number = mount_of(fd), one;

        for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n')
                if (sscanf(line, "%d", &one) == 1 && one == number)
                        return is_tmpfs(line);
        return false;
}

static int read_mounts(int root_fd, pid_t pid, char *text)
{
        char path[64];

        snprintf(path, sizeof(path), "proc/%d/mountinfo", (int)pid);
        return util_read_at(root_fd, path, text, MOUNTS_MAX) > 0 ? 0 : -ENODATA;
}

/* Most processes are in our own mount namespace, and need no more than this check. */
static bool other_mounts(int root_fd, pid_t pid)
{
        char path[64], own[64], theirs[64];
        ssize_t n = readlinkat(root_fd, "proc/self/ns/mnt", own, sizeof(own)), m;

        snprintf(path, sizeof(path), "proc/%d/ns/mnt", (int)pid);
        m = readlinkat(root_fd, path, theirs, sizeof(theirs));
        return m > 0 && (n != m || memcmp(own, theirs, (size_t)n) != 0);
}

/* In a machine tree the files are plain copies, on any file system. */
static bool is_live(int root_fd)
{
        _cleanup_close_ int proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return util_is_procfs(proc_fd);
}

/* O_PATH, since opening a device may have effects (a watchdog). Links would lead to our own files: do not follow. */
static int open_info(int root_fd, pid_t pid, char *mounts, int *ret)
{
        _cleanup_close_ int dir_fd = -1, fd = -1;
        bool live = is_live(root_fd);
        struct stat info;
        char path[64];

        snprintf(path, sizeof(path), "proc/%d/root", (int)pid);
        dir_fd = openat(root_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0 || read_mounts(root_fd, pid, mounts) < 0 || !app_flatpak_mounted_safely(mounts) ||
            (live && !holds_tmpfs(mounts, dir_fd)))
                return -ENODATA;
        fd = openat(dir_fd, ".flatpak-info", O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || (live && (read_mounts(root_fd, pid, mounts) < 0 || !holds_tmpfs(mounts, fd))) ||
            fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
                return -ENODATA;
        *ret = take_fd(&fd);
        return 0;
}

static ssize_t read_info(int root_fd, pid_t pid, char *text, size_t size)
{
        _cleanup_close_ int fd = -1;
        char path[64];
        int err = open_info(root_fd, pid, text, &fd);

        if (err)
                return err;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return util_read_at(AT_FDCWD, path, text, size);
}

int app_flatpak_read(int root_fd, pid_t pid, char *id, size_t size)
{
        _cleanup_free_ char *text = NULL;
        bool inside = false;

        if (!other_mounts(root_fd, pid))
                return -ENODATA;
        text = malloc(MOUNTS_MAX);
        if (!text)
                return -ENOMEM;
        if (read_info(root_fd, pid, text, MOUNTS_MAX) <= 0)
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
