/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "focus/uevent.h"
#include "fuzz.h"
#include "util/util.h"

/* Uevents of the kernel and of udev, read from a socket: several if lines "--" separate them. */

static const char between[] = "--\n";

/* Is the property anywhere? Then a message may be about a screen; without it none is. */
static bool names_screen(const uint8_t *data, size_t size)
{
        static const char *const wanted[] = { "SUBSYSTEM=backlight", "SUBSYSTEM=drm", "SUBSYSTEM=graphics" };

        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                if (memmem(data, size, wanted[i], strlen(wanted[i])))
                        return true;
        return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fds[2];
        bool named = names_screen(data, size), one = false;

        if (!fds[1])
                fuzz_assert(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
        for (unsigned n = 0; size > 0 && n < 8; n++) {
                const uint8_t *end = memmem(data, size, between, strlen(between));
                size_t length = MIN(end ? (size_t)(end - data) : size, (size_t)8192);
                _cleanup_free_ char *copy = malloc(length + 1);

                fuzz_assert(copy && (length == 0 || send(fds[1], data, length, 0) == (ssize_t)length));
                memcpy(copy, data, length);
                one |= length > 0 && uevent_is_screen(copy, length);
                length = MIN(length + (end ? strlen(between) : 0), size);
                data += length;
                size -= length;
        }
        fuzz_assert(uevent_read_screen(fds[0]) == one && (named || !one));
        return 0;
}
