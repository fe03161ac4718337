/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util/util.h"

#define PATIENCE_MS 10000 /* a machine under load keeps QEMU's main loop waiting for seconds */

static int make(const char *path, struct sockaddr_un *address)
{
        int fd;

        *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
        if (strlen(path) >= sizeof(address->sun_path))
                return -ENAMETOOLONG;
        memcpy(address->sun_path, path, strlen(path) + 1);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return fd < 0 ? -errno : fd;
}

int socket_connect(const char *path)
{
        struct sockaddr_un address;
        _cleanup_close_ int fd = make(path, &address);

        if (fd < 0)
                return fd;
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        return take_fd(&fd);
}

/* Any process that sees the path can connect. */
int socket_listen(const char *path)
{
        struct sockaddr_un address;
        char new_path[sizeof(address.sun_path) + 1];
        _cleanup_close_ int fd = -1;

        snprintf(new_path, sizeof(new_path), "%s~", path);
        fd = make(new_path, &address);
        if (fd < 0)
                return fd;
        unlink(new_path);
        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0 ||
            rename(new_path, path) < 0)
                return -errno;
        return take_fd(&fd);
}

int socket_send(int fd, const char *text, size_t length)
{
        while (length > 0) {
                ssize_t n = send(fd, text, length, MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == ECONNRESET ? -EPIPE : -errno;
                text += n;
                length -= (size_t)n;
        }
        return 0;
}

ssize_t socket_receive(int fd, char *buf, size_t size)
{
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        ssize_t n;
        int err;

        do
                err = poll(&ready, 1, PATIENCE_MS);
        while (err < 0 && errno == EINTR);
        if (err <= 0)
                return err == 0 ? -ETIMEDOUT : -errno;
        n = recv(fd, buf, size, 0);
        if (n < 0)
                return errno == ECONNRESET ? -EPIPE : -errno;
        return n == 0 ? -EPIPE : n;
}
