/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util/util.h"

void notify_manager(const char *state)
{
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -1;
        size_t length = path ? strlen(path) : 0;

        if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
                return;
        memcpy(address.sun_path, path, length);
        if (path[0] == '@')
                address.sun_path[0] = '\0'; /* the abstract namespace */
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd >= 0)
                sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}
