/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that are replaced as a whole. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "safe-folder.h"
#include "util.h"

/*
 * The new file "FILE.tmp-01234567", beside FILE, will replace it. Its writer holds a lock on it: a file without a lock
 * was left by a killed writer.
 */
#define TEMPORARY ".tmp-"
#define RANDOM_DIGITS 8
#define TRIES 16

int util_make_parent(const char *path, unsigned mode)
{
        struct safe_folder folder = { .fd = -1 };
        int err = safe_folder_open(path, mode, &folder);

        safe_folder_close(&folder);
        return err;
}

static int write_all(int fd, const char *text, size_t length)
{
        while (length > 0) {
                ssize_t n = write(fd, text, length);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                text += n;
                length -= (size_t)n;
        }
        return 0;
}

/* EINVAL: not on a disk. */
static int sync_file(int fd)
{
        return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* A folder that we may not list cannot be synced. */
static int sync_folder(const struct safe_folder *folder)
{
        _cleanup_close_ int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? 0 : sync_file(fd);
}

/* "/dev/stdout", "/dev/fd/3", "/proc/self/fd/3": the number, or -ENOENT. */
static int descriptor(const struct safe_folder *folder)
{
        static const char self[] = "/proc/self/fd/";
        char own[32], target[64] = "";
        const char *number = target + sizeof(self) - 1;
        uint64_t fd;

        snprintf(own, sizeof(own), "/proc/%d/fd/", (int)getpid());
        if (strncmp(folder->path, own, strlen(own)) == 0)
                number = folder->name;
        else if (readlinkat(folder->fd, folder->name, target, sizeof(target) - 1) < 0 ||
                 strncmp(target, self, sizeof(self) - 1) != 0)
                return -ENOENT;
        return util_parse_u64(number, &fd) < 0 || fd > INT_MAX ? -ENOENT : (int)fd;
}

/* Between a look at it and this it may have become another thing, in a sticky folder also another's. */
static int open_in_place(const struct safe_folder *folder)
{
        int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;
        _cleanup_close_ int fd = openat(folder->fd, folder->name, flags);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0)
                return -errno;
        if (S_ISREG(status.st_mode) || (folder->shared && status.st_uid != geteuid()))
                return -ENOLINK;
        if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
                return -errno;
        return take_fd(&fd);
}

/* -ENOENT: there is a file, a link, or nothing, to be replaced. */
static int write_in_place(const struct safe_folder *folder, const char *text, size_t length)
{
        _cleanup_close_ int fd = -1;
        struct stat status;
        int number = descriptor(folder);

        if (number >= 0)
                return write_all(number, text, length);
        if (fstatat(folder->fd, folder->name, &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(status.st_mode) ||
            S_ISDIR(status.st_mode) || S_ISLNK(status.st_mode))
                return -ENOENT;
        fd = open_in_place(folder);
        return fd < 0 ? fd : write_all(fd, text, length);
}

static void sweep_one(const struct safe_folder *folder, const char *name)
{
        _cleanup_close_ int fd = openat(folder->fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat status;

        if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
                unlinkat(folder->fd, name, 0);
}

static void sweep(const struct safe_folder *folder)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(folder->fd, ".");
        size_t length = strlen(folder->name), mark = strlen(TEMPORARY);
        const struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
                const char *name = entry->d_name;

                if (strncmp(name, folder->name, length) == 0 && strncmp(name + length, TEMPORARY, mark) == 0 &&
                    strspn(name + length + mark, "0123456789abcdef") == RANDOM_DIGITS &&
                    !name[length + mark + RANDOM_DIGITS])
                        sweep_one(folder, name);
        }
}

/* A sweeper may have taken it before it was locked. */
static bool lock_temporary(int fd)
{
        struct stat status;

        if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
                return false;
        return fstat(fd, &status) == 0 && status.st_nlink > 0;
}

static int make_temporary(const struct safe_folder *folder, char name[NAME_MAX + 1])
{
        for (int i = 0; i < TRIES; i++) {
                _cleanup_close_ int fd = -1;
                uint32_t random;

                if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                        return -EIO;
                if (snprintf(name, NAME_MAX + 1, "%s" TEMPORARY "%0*x", folder->name, RANDOM_DIGITS, random) > NAME_MAX)
                        return -ENAMETOOLONG;
                fd = openat(folder->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (fd < 0 && errno != EEXIST)
                        return -errno;
                if (fd >= 0 && lock_temporary(fd))
                        return take_fd(&fd);
        }
        return -EEXIST;
}

static int replace_file(const struct safe_folder *folder, const char *text, size_t length, unsigned mode)
{
        char temporary[NAME_MAX + 1];
        _cleanup_close_ int fd = make_temporary(folder, temporary);
        int err;

        if (fd < 0)
                return fd;
        err = write_all(fd, text, length);
        if (!err && fchmod(fd, mode) < 0)
                err = -errno;
        if (!err)
                err = sync_file(fd);
        if (!err && renameat(folder->fd, temporary, folder->fd, folder->name) < 0)
                err = -errno;
        if (err)
                unlinkat(folder->fd, temporary, 0);
        return err ? err : sync_folder(folder);
}

int util_write_file(const char *path, const char *text, size_t length, unsigned mode)
{
        _cleanup_(safe_folder_close) struct safe_folder folder = { .fd = -1 };
        int err = safe_folder_open(path, 0, &folder);

        if (err)
                return err;
        err = write_in_place(&folder, text, length);
        if (err != -ENOENT)
                return err;
        sweep(&folder);
        return replace_file(&folder, text, length, mode);
}

int util_try_write_file(const char *path)
{
        _cleanup_(safe_folder_close) struct safe_folder folder = { .fd = -1 };
        _cleanup_close_ int fd = -1;
        char temporary[NAME_MAX + 1];
        struct stat status;
        int err = safe_folder_open(path, 0, &folder);

        if (err)
                return err;
        if (fstatat(folder.fd, folder.name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
                if (S_ISDIR(status.st_mode))
                        return -EISDIR;
                if (folder.shared && status.st_uid != geteuid())
                        return -EPERM;
        }
        fd = make_temporary(&folder, temporary);
        if (fd < 0)
                return fd;
        unlinkat(folder.fd, temporary, 0);
        return 0;
}
