/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "remote-login.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "util/util.h"

#define ANSWER_S 2

/* ---- addresses ---- */

static size_t size_of(const struct address *address)
{
        return address->family == AF_INET ? 4 : 16;
}

void route_address_unmap(struct address *address)
{
        static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

        if (address->family != AF_INET6 || memcmp(address->bytes, mapped, sizeof(mapped)) != 0)
                return;
        address->family = AF_INET;
        memmove(address->bytes, address->bytes + 12, 4);
        memset(address->bytes + 4, 0, 12);
}

int route_address_parse(const char *text, struct address *ret)
{
        struct address address = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };
        const char *scope = strchr(text, '%');
        char copy[INET6_ADDRSTRLEN];
        size_t length = scope ? (size_t)(scope - text) : strlen(text);

        if (length >= sizeof(copy))
                return -EINVAL;
        memcpy(copy, text, length);
        copy[length] = '\0';
        if (inet_pton(address.family, copy, address.bytes) != 1)
                return -EINVAL;
        address.scope = scope ? if_nametoindex(scope + 1) : 0;
        route_address_unmap(&address);
        *ret = address;
        return 0;
}

bool route_address_is_loopback(const struct address *address)
{
        static const unsigned char loopback6[16] = { [15] = 1 };

        return address->family == AF_INET ? address->bytes[0] == 127
                                          : memcmp(address->bytes, loopback6, sizeof(loopback6)) == 0;
}

bool route_address_is_link_local(const struct address *address)
{
        return address->family == AF_INET6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

/* ---- one route ---- */

struct question {
        struct nlmsghdr header;
        struct rtmsg route;
        char attributes[3 * RTA_SPACE(16)];
};

static void put(struct question *question, unsigned short type, const void *payload, size_t size)
{
        struct rtattr *attribute = (struct rtattr *)((char *)question +
                                                     NLMSG_ALIGN(question->header.nlmsg_len));

        attribute->rta_type = type;
        attribute->rta_len = (unsigned short)RTA_LENGTH(size);
        memcpy(RTA_DATA(attribute), payload, size);
        question->header.nlmsg_len = NLMSG_ALIGN(question->header.nlmsg_len) + (uint32_t)RTA_SPACE(size);
}

static void ask(const struct address *to, const struct address *from, struct question *ret)
{
        *ret = (struct question){
                .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)), .nlmsg_type = RTM_GETROUTE,
                            .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = (unsigned char)to->family,
                           .rtm_dst_len = (unsigned char)(8 * size_of(to)) },
        };
        put(ret, RTA_DST, to->bytes, size_of(to));
        if (to->scope)
                put(ret, RTA_OIF, &to->scope, sizeof(to->scope));
        if (!from || from->family != to->family)
                return;
        ret->route.rtm_src_len = ret->route.rtm_dst_len;
        put(ret, RTA_SRC, from->bytes, size_of(from));
}

int route_parse(const void *answer, size_t length, unsigned *interface)
{
        const char *bytes = answer;
        struct nlmsghdr header;
        size_t at = NLMSG_LENGTH(sizeof(struct rtmsg));

        if (length < sizeof(header))
                return -EBADMSG;
        memcpy(&header, bytes, sizeof(header));
        if (header.nlmsg_type == NLMSG_ERROR && length >= NLMSG_LENGTH(sizeof(int))) {
                int err;

                memcpy(&err, bytes + NLMSG_HDRLEN, sizeof(err));
                return err < 0 ? err : -EBADMSG;
        }
        if (header.nlmsg_type != RTM_NEWROUTE || header.nlmsg_len > length)
                return -EBADMSG;
        while (at + sizeof(struct rtattr) <= header.nlmsg_len) {
                struct rtattr attribute;

                memcpy(&attribute, bytes + at, sizeof(attribute));
                if (attribute.rta_len < sizeof(attribute) || at + attribute.rta_len > header.nlmsg_len)
                        break;
                if (attribute.rta_type == RTA_OIF && attribute.rta_len >= RTA_LENGTH(sizeof(*interface))) {
                        memcpy(interface, bytes + at + RTA_LENGTH(0), sizeof(*interface));
                        return 0;
                }
                at += RTA_ALIGN(attribute.rta_len);
        }
        return -ENETUNREACH;
}

static int look_up(const struct address *to, const struct address *from, unsigned *interface)
{
        const struct timeval patience = { .tv_sec = ANSWER_S };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        struct question question;
        char answer[4096];
        ssize_t n;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return -errno;
        ask(to, from, &question);
        if (send(fd, &question, question.header.nlmsg_len, 0) < 0)
                return -errno;
        n = recv(fd, answer, sizeof(answer), 0);
        return n < 0 ? -errno : route_parse(answer, (size_t)n, interface);
}

/* If the local address is gone, look up without it. */
int route_lookup(const struct address *to, const struct address *from, unsigned *interface)
{
        int err = look_up(to, from, interface);

        return err && from ? look_up(to, NULL, interface) : err;
}

/* ---- default routes ---- */

/* Iface Destination Gateway Flags RefCnt Use Metric Mask */
bool route_is_default_in(const char *line, const char *interface)
{
        unsigned destination, flags, mask;
        char name[32];

        return sscanf(line, "%31s %8x %*x %4x %*u %*u %*u %8x", name, &destination, &flags, &mask) == 4 &&
               !destination && !mask && flags & 1 && strcmp(name, interface) == 0;
}

/*
 * Destination, its prefix's length, source, its, next hop,
 * metric, references, use, flags, interface; all hex.
 */
bool route_is_default_in6(const char *line, const char *interface)
{
        unsigned length, flags;
        char name[32];

        if (sscanf(line, "%*32s %2x %*32s %*2x %*32s %*8x %*8x %*8x %8x %31s", &length, &flags, name) != 3)
                return false;
        return !length && flags & 1 && strcmp(name, interface) == 0;
}

/* A router's table may have a million lines. 1: has one; 0: has none; -errno: it cannot be read. */
static int find_default(int root_fd, const char *path, const char *interface,
                        bool (*is_default)(const char *line, const char *interface))
{
        int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
        _cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
        int err = file ? 0 : -errno;
        char line[256];

        if (!file)
                closep(&fd);
        while (file && fgets(line, sizeof(line), file))
                if (is_default(line, interface))
                        return 1;
        return file && ferror(file) ? -EIO : err;
}

bool route_is_default(int root_fd, const char *interface)
{
        int four = find_default(root_fd, "proc/net/route", interface, route_is_default_in);
        int six = find_default(root_fd, "proc/net/ipv6_route", interface, route_is_default_in6);

        return four || (six && six != -ENOENT); /* -ENOENT: a kernel without IPv6 */
}
