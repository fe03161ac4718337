/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The journal as a file: in a folder that only its owner can write, replaced as a whole. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "journal.h"
#include "util/util.h"

#define JOURNAL_MAX (2 << 20)

static int open_folder(const char *path)
{
        _cleanup_free_ char *folder = strdup(path);
        char *slash = folder ? strrchr(folder, '/') : NULL;
        int fd;

        if (!folder)
                return -ENOMEM;
        if (slash)
                slash[slash == folder] = '\0';
        fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* The journal decides what root writes: nobody else may have written or replaced it. */
static int check_owner(int fd)
{
        struct stat info;

        if (fstat(fd, &info) < 0)
                return -errno;
        return info.st_uid == geteuid() && !(info.st_mode & 022) ? 0 : -EPERM;
}

static int cannot(const struct log *log, const char *path, const char *what, int err)
{
        if (err == -EPERM)
                log_error(log,
                          "%s: not trusted, because it or its folder belongs to or can be written by "
                          "another user; remove it if it is not yours",
                          path);
        else
                log_error(log, "%s: the restore journal cannot be %s: %s", path, what, util_reason(err));
        return err;
}

static int sync_folder(const char *path)
{
        _cleanup_close_ int fd = open_folder(path);

        if (fd < 0)
                return fd;
        return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

static int make_folder(const char *path)
{
        int err = util_make_parent(path, 0700);
        _cleanup_close_ int fd = err ? err : open_folder(path);

        if (fd < 0)
                return fd;
        err = check_owner(fd);
        return !err && fchmod(fd, 0700) < 0 ? -errno : err;
}

int journal_save(const struct journal *journal, bool all_pending, const char *path, const struct log *log)
{
        size_t length;
        _cleanup_free_ char *text = journal_print(journal, all_pending, &length);
        int err = text ? make_folder(path) : -ENOMEM;

        if (!err)
                err = util_write_file(path, text, length, 0600);
        return err ? cannot(log, path, "written", err) : 0;
}

int journal_load(const char *path, const struct log *log, struct journal *ret)
{
        _cleanup_close_ int folder = open_folder(path), fd = -1;
        _cleanup_free_ char *text = malloc(JOURNAL_MAX + 1);
        const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        ssize_t n;
        int err;

        if (!text || folder < 0)
                return text ? (folder == -ENOENT ? folder : cannot(log, path, "read", folder)) : -ENOMEM;
        fd = openat(folder, base, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return errno == ENOENT ? -ENOENT : cannot(log, path, "read", -errno);
        err = check_owner(folder);
        if (!err)
                err = check_owner(fd);
        if (err)
                return cannot(log, path, "read", err);
        n = pread(fd, text, JOURNAL_MAX + 1, 0); /* a regular file: one call */
        if (n < 0 || n > JOURNAL_MAX)
                return cannot(log, path, "read", n < 0 ? -errno : -EFBIG);
        return journal_parse(text, (size_t)n, path, log, ret);
}

int journal_remove(const char *path, const struct log *log)
{
        int err = unlink(path) < 0 && errno != ENOENT ? -errno : sync_folder(path);

        return err ? cannot(log, path, "removed", err) : 0;
}

void journal_boot_id(int root_fd, char boot_id[JOURNAL_BOOT_MAX])
{
        char text[JOURNAL_BOOT_MAX];
        size_t length;

        if (util_read_at(root_fd, "proc/sys/kernel/random/boot_id", text, sizeof(text)) < 0)
                text[0] = '\0';
        length = strspn(text, BOOT_ID);
        memcpy(boot_id, text, length);
        boot_id[length] = '\0';
}
