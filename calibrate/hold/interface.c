/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interface.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "util/util.h"

static bool reaches_far(const struct sockaddr *address)
{
        if (!address)
                return false;
        if (address->sa_family == AF_INET)
                return (ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 16) != 0xa9fe;
        return address->sa_family == AF_INET6 &&
               !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

bool interface_has_address(const char *interface)
{
        struct ifaddrs *list = NULL;
        bool found = false;

        if (getifaddrs(&list) < 0)
                return false;
        for (const struct ifaddrs *one = list; one && !found; one = one->ifa_next)
                found = !strcmp(one->ifa_name, interface) && reaches_far(one->ifa_addr);
        freeifaddrs(list);
        return found;
}

static bool has(int root_fd, const char *interface, const char *file)
{
        char path[128];

        snprintf(path, sizeof(path), "sys/class/net/%s/%s", interface, file);
        return faccessat(root_fd, path, F_OK, 0) == 0;
}

/* Point to point or TAP, without hardware (linux/if_arp.h). */
static bool is_tunnel(int root_fd, const char *interface)
{
        char path[128], text[16];
        uint64_t type;

        snprintf(path, sizeof(path), "sys/class/net/%s/type", interface);
        if (has(root_fd, interface, "device") || util_read_at(root_fd, path, text, sizeof(text)) < 0 ||
            util_parse_u64(text, &type) < 0)
                return false;
        return (type != ARPHRD_ETHER && type != ARPHRD_LOOPBACK) || has(root_fd, interface, "tun_flags");
}

#define LAYERS_MAX 4

/* Links named lower_... lead to the interfaces below. */
static bool is_made_of(int root_fd, const char *upper, const char *interface, unsigned layers)
{
        _cleanup_closedir_ DIR *dir = NULL;
        struct dirent *entry;
        bool found = false;
        char path[128];

        snprintf(path, sizeof(path), "sys/class/net/%s", upper);
        dir = util_opendir_at(root_fd, path);
        if (!dir)
                return false;
        while (!found && (entry = readdir(dir))) {
                const char *lower = entry->d_name + 6;

                found = strncmp(entry->d_name, "lower_", 6) == 0 &&
                        (strcmp(lower, interface) == 0 || is_tunnel(root_fd, lower) ||
                         (layers > 1 && is_made_of(root_fd, lower, interface, layers - 1)));
        }
        return found;
}

bool interface_carries(int root_fd, const char *upper, const char *interface)
{
        return strcmp(upper, interface) == 0 || is_tunnel(root_fd, upper) ||
               is_made_of(root_fd, upper, interface, LAYERS_MAX);
}

/* Reads the flags. A socket to change them with, or a negative errno. */
static int read_flags(const char *interface, struct ifreq *request)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        *request = (struct ifreq){ 0 };
        if (fd < 0 || strlen(interface) >= sizeof(request->ifr_name))
                return fd < 0 ? -errno : -ENODEV;
        strcpy(request->ifr_name, interface);
        if (ioctl(fd, SIOCGIFFLAGS, request) < 0)
                return -errno;
        return take_fd(&fd);
}

bool interface_is_set_up(const char *interface)
{
        struct ifreq request;
        _cleanup_close_ int fd = read_flags(interface, &request);

        return fd >= 0 && request.ifr_flags & IFF_UP;
}

int interface_bring_up(const char *interface)
{
        struct ifreq request;
        _cleanup_close_ int fd = read_flags(interface, &request);

        if (fd < 0 || request.ifr_flags & IFF_UP)
                return MIN(fd, 0);
        request.ifr_flags |= IFF_UP;
        return ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

static int read_count(int root_fd, const char *interface, const char *file, uint64_t *ret)
{
        char path[128], text[32];
        ssize_t n;

        snprintf(path, sizeof(path), "sys/class/net/%s/%s", interface, file);
        n = util_read_at(root_fd, path, text, sizeof(text));
        return n < 0 ? (int)n : util_parse_u64(text, ret);
}

int interface_bytes(int root_fd, const char *interface, uint64_t *ret)
{
        uint64_t rx, tx;
        int err = read_count(root_fd, interface, "statistics/rx_bytes", &rx);

        if (!err)
                err = read_count(root_fd, interface, "statistics/tx_bytes", &tx);
        if (!err)
                *ret = rx + tx;
        return err;
}

int interface_carrier_changes(int root_fd, const char *interface, uint64_t *ret)
{
        return read_count(root_fd, interface, "carrier_changes", ret);
}
