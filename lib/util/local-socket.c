/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "local-socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "own-folder.h"
#include "util.h"

static int open_socket(int type)
{
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        return fd < 0 ? -errno : fd;
}

static int set_path(const char *path, struct sockaddr_un *ret)
{
        if (strlen(path) >= sizeof(ret->sun_path))
                return -ENAMETOOLONG;
        *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
        strcpy(ret->sun_path, path);
        return 0;
}

/* EAGAIN: a listener that is too busy. Only a socket without a listener refuses the connection. */
static int remove_dead(const struct sockaddr_un *address, int type)
{
        _cleanup_close_ int fd = open_socket(type | SOCK_NONBLOCK);
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
        struct sockaddr_un address;
        _cleanup_close_ int fd = -1;
        int err = set_path(path, &address);

        if (err < 0)
                return err;
        err = own_folder_make(path, 0755);
        if (err == 0)
                err = remove_dead(&address, type);
        if (err < 0)
                return err;
        fd = open_socket(type | SOCK_NONBLOCK);
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

int local_socket_connect(const char *path, int type, const struct timeval *patience)
{
        struct sockaddr_un address;
        _cleanup_close_ int fd = -1;
        int err = set_path(path, &address);

        if (err < 0)
                return err;
        fd = open_socket(patience ? type : type | SOCK_NONBLOCK);
        if (fd < 0)
                return fd;
        if (patience && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, patience, sizeof(*patience)) < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                return patience && errno == EAGAIN ? -ETIMEDOUT : -errno;
        return take_fd(&fd);
}
