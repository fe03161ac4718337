/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disk-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>

#include "util/util.h"

#define FREE_SHARE 0.9 /* largest part of the free space that is used; the rest is for others */

int disk_file_name(const struct storage *storage, struct disk_file *ret, char *path, size_t size)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        struct disk_file file = { .storage = storage, .fd = -1 };
        unsigned char random[6];
        size_t at = strlen(DISK_FILE_PREFIX);
        int n;

        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return -EIO;
        strcpy(file.name, DISK_FILE_PREFIX);
        for (size_t i = 0; i < sizeof(random); i++)
                file.name[at + i] = letters[random[i] % (sizeof(letters) - 1)];
        n = snprintf(path, size, "%s/%s", strcmp(storage->folder, "/") ? storage->folder : "", file.name);
        if (n < 0 || (size_t)n >= size)
                return -ENAMETOOLONG;
        *ret = file;
        return 0;
}

/* Some file systems (tmpfs) create the file and only then report that they lack O_DIRECT. */
static int create(struct disk_file *file)
{
        int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT | O_CLOEXEC;

        file->fd = openat(file->storage->folder_fd, file->name, flags, 0600);
        if (file->fd >= 0)
                return 0;
        if (errno != EINVAL)
                return -errno;
        unlinkat(file->storage->folder_fd, file->name, 0);
        return -ENOTSUP;
}

static int check_space(const struct disk_file *file, uint64_t bytes)
{
        struct statvfs space;

        if (fstatvfs(file->storage->folder_fd, &space) < 0)
                return -errno;
        return (double)bytes <= FREE_SHARE * (double)space.f_bavail * (double)space.f_frsize ? 0 : -ENOSPC;
}

static int write_all(int fd, const void *buffer, size_t length, uint64_t offset)
{
        ssize_t n;

        do
                n = pwrite(fd, buffer, length, (off_t)offset);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == EINVAL ? -ENOTSUP : -errno;
        return (size_t)n == length ? 0 : -ENOSPC; /* a short write means that the disk is full */
}

int disk_file_make(struct disk_file *file, uint64_t bytes, const void *buffer, size_t length,
                   bool (*go_on)(void *data, uint64_t next_bytes), void *data)
{
        int err;

        bytes -= bytes % file->storage->align;
        err = check_space(file, bytes);
        if (!err)
                err = create(file);
        if (err)
                return err;
        /* Contiguous if the file system can. */
        if (fallocate(file->fd, 0, 0, (off_t)bytes) < 0 && errno == ENOSPC)
                return -ENOSPC;
        while (file->bytes < bytes) {
                size_t piece = (size_t)MIN(length, bytes - file->bytes);

                if (!go_on(data, piece))
                        return -EINTR;
                err = write_all(file->fd, buffer, piece, file->bytes);
                if (err)
                        return err;
                file->bytes += piece;
        }
        return fdatasync(file->fd) < 0 ? -errno : 0;
}

void disk_file_remove(struct disk_file *file)
{
        if (file->fd < 0)
                return;
        unlinkat(file->storage->folder_fd, file->name, 0);
        closep(&file->fd);
        file->fd = -1;
        file->bytes = 0;
}
