/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Finds the interface of the default route by asking the kernel (rtnetlink(7)). The kernel considers all
 * tables and rules, also those of a VPN, and takes the same time with any number of routes.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "net-tunnel.h"
#include "util/util.h"

/*
 * Internet addresses without a special route: the first address of the upper half of IPv4 (some VPNs route
 * the two halves instead of the default route), and the first one of IPv6. Nothing is sent to them.
 */
#define FAR_4 "128.0.0.0"
#define FAR_6 "2000::"

struct question {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr over;    /* RTA_OIF; the kernel takes 0 for any interface */
        int interface;
        struct rtattr to;
        uint8_t address[16];
};

static int ask(int fd, uint8_t family, const char *address, int interface)
{
        size_t size = family == AF_INET ? 4 : 16;
        struct question question = {
                .head = { .nlmsg_len = (uint32_t)(offsetof(struct question, address) + size),
                          .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = family, .rtm_dst_len = (uint8_t)(8 * size),
                           /* without this flag the kernel would assume that the address is on the link */
                           .rtm_flags = interface ? RTM_F_FIB_MATCH : 0 },
                .over = { .rta_type = RTA_OIF, .rta_len = (uint16_t)RTA_LENGTH(sizeof(interface)) },
                .interface = interface,
                .to = { .rta_type = RTA_DST, .rta_len = (uint16_t)RTA_LENGTH(size) },
        };

        inet_pton(family, address, question.address);
        return send(fd, &question, question.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Returns 0 if there is no such route, or it leads nowhere. */
static int find_interface(const struct nlmsghdr *head, size_t length, uint32_t *metric)
{
        const struct rtmsg *route = NLMSG_DATA(head);
        int interface = 0;
        size_t left;

        *metric = 0;
        if (!NLMSG_OK(head, length) || head->nlmsg_type != RTM_NEWROUTE ||
            head->nlmsg_len < NLMSG_LENGTH(sizeof(*route)) || route->rtm_type != RTN_UNICAST)
                return 0;
        left = RTM_PAYLOAD(head);
        for (const struct rtattr *at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
                if (at->rta_type == RTA_OIF && RTA_PAYLOAD(at) >= sizeof(interface))
                        memcpy(&interface, RTA_DATA(at), sizeof(interface));
                if (at->rta_type == RTA_PRIORITY && RTA_PAYLOAD(at) >= sizeof(*metric))
                        memcpy(metric, RTA_DATA(at), sizeof(*metric));
        }
        return interface;
}

static int find(int fd, uint8_t family, const char *address, int interface, uint32_t *metric)
{
        _Alignas(struct nlmsghdr) char answer[4096];
        ssize_t length = ask(fd, family, address, interface) == 0 ? recv(fd, answer, sizeof(answer), 0) : -1;

        return length > 0 ? find_interface((const void *)answer, (size_t)length, metric) : 0;
}

int net_route_find(int interface, uint32_t *metric)
{
        /* the kernel replies at once, unless something is wrong */
        const struct timeval patience = { .tv_sec = 1 };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        int found;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return 0;
        found = find(fd, AF_INET, FAR_4, interface, metric);
        return found ? found : find(fd, AF_INET6, FAR_6, interface, metric);
}
