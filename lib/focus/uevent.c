/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/util.h"

/* Multicast group of NETLINK_KOBJECT_UEVENT with the kernel's messages; udevd's are in group 2. */
#define GROUP_KERNEL 1

int uevent_open(void)
{
        struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                        NETLINK_KOBJECT_UEVENT);

        if (fd < 0)
                return -errno;
        if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        return take_fd(&fd);
}

/* udev's messages begin with a header: "libudev", magic, header size, offset and length (udev-monitor). */
static size_t properties_offset(const char *message, size_t length)
{
        uint32_t offset;

        if (length >= 40 && memcmp(message, "libudev", 8) == 0) {
                memcpy(&offset, message + 16, sizeof(offset));
                return offset;
        }
        return strnlen(message, length) + 1; /* "change@/devices/..." */
}

bool uevent_is_of(const char *message, size_t length, const char *subsystem)
{
        static const char key[] = "SUBSYSTEM=";
        size_t key_length = sizeof(key) - 1, wanted = strlen(subsystem);

        for (size_t at = properties_offset(message, length); at < length;) {
                size_t n = strnlen(message + at, length - at);

                if (n == key_length + wanted && memcmp(message + at, key, key_length) == 0 &&
                    memcmp(message + at + key_length, subsystem, wanted) == 0)
                        return true;
                at += n + 1;
        }
        return false;
}

bool uevent_is_screen(const char *message, size_t length)
{
        return uevent_is_of(message, length, "backlight") || uevent_is_of(message, length, "drm") ||
               uevent_is_of(message, length, "graphics");
}

bool uevent_read_screen(int fd)
{
        char message[8192];
        bool screen = false;

        for (;;) {
                ssize_t n = recv(fd, message, sizeof(message), MSG_DONTWAIT);

                if (n < 0 && errno == ENOBUFS) {
                        screen = true; /* messages were lost, so the screen may have changed */
                        continue;
                }
                if (n <= 0)
                        return screen;
                screen = uevent_is_screen(message, (size_t)n) || screen;
        }
}
