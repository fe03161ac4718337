/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util/util.h"

/* A poll may be late on a busy machine, but three in a row are not. */
#define INTERVALS_OF_PATIENCE 4

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

/* Sets a longer timeout than the unit's, which is better than an additional wake-up in each interval. */
void notify_ready(double interval_s)
{
        const char *text = getenv("WATCHDOG_USEC");
        uint64_t wanted_us = (uint64_t)(INTERVALS_OF_PATIENCE * interval_s * 1e6), watchdog_us;
        char state[64] = "READY=1";

        if (text && util_parse_u64(text, &watchdog_us) == 0 && wanted_us > watchdog_us)
                snprintf(state, sizeof(state), "READY=1\nWATCHDOG_USEC=%" PRIu64, wanted_us);
        notify_manager(state);
}
