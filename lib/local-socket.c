/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "local-socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "util.h"

static int open_socket(int type)
{
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        return fd < 0 ? -errno : fd;
}

/* The living may be too busy to be reached (EAGAIN); only the dead refuse. */
static int remove_dead(const struct sockaddr_un *address, int type)
{
        _cleanup_close_ int fd = open_socket(type);
        struct stat info;

        if (lstat(address->sun_path, &info) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISSOCK(info.st_mode))
                return -EEXIST;
        if (fd < 0)
                return fd;
        if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno != ECONNREFUSED)
                return -EADDRINUSE;
        return unlink(address->sun_path) < 0 ? -errno : 0;
}

int local_socket_listen(const char *path, int type, int backlog)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -1;
        mode_t mask;
        int err;

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        strcpy(address.sun_path, path);
        mask = umask(022); /* a folder that users can look into */
        err = util_make_parent(path, 0755);
        umask(mask);
        if (err == 0)
                err = remove_dead(&address, type);
        if (err < 0)
                return err;
        fd = open_socket(type);
        if (fd < 0)
                return fd;
        if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        if (chmod(path, 0666) < 0 || listen(fd, backlog) < 0) {
                err = -errno;
                unlink(path);
                return err;
        }
        return take_fd(&fd);
}
