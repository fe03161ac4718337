/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The interface of the default route, as the kernel answers (rtnetlink(7)): it knows all tables and rules, those of
 * a VPN among them, and costs the same however many routes there are.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "process-bpf.h"
#include "util/util.h"

/*
 * Internet addresses without a route of their own: the first of the upper half of IPv4 (some VPNs route the two
 * halves instead of the whole), and the first of IPv6. Nothing is sent to them.
 */
#define FAR_4 "128.0.0.0"
#define FAR_6 "2000::"

struct question {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr attribute;
        uint8_t address[16];
};

static int ask(int fd, uint8_t family, const char *address)
{
        size_t size = family == AF_INET ? 4 : 16;
        struct question question = {
                .head = { .nlmsg_len = (uint32_t)(offsetof(struct question, address) + size),
                          .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = family, .rtm_dst_len = (uint8_t)(8 * size) },
                .attribute = { .rta_type = RTA_DST, .rta_len = (uint16_t)RTA_LENGTH(size) },
        };

        inet_pton(family, address, question.address);
        return send(fd, &question, question.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* 0: there is no such route, or it leads nowhere. */
static int find_interface(const struct nlmsghdr *head, size_t length)
{
        const struct rtmsg *route = NLMSG_DATA(head);
        int interface = 0;
        size_t left;

        if (!NLMSG_OK(head, length) || head->nlmsg_type != RTM_NEWROUTE ||
            head->nlmsg_len < NLMSG_LENGTH(sizeof(*route)) || route->rtm_type != RTN_UNICAST)
                return 0;
        left = RTM_PAYLOAD(head);
        for (const struct rtattr *at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left))
                if (at->rta_type == RTA_OIF && RTA_PAYLOAD(at) >= sizeof(interface))
                        memcpy(&interface, RTA_DATA(at), sizeof(interface));
        return interface;
}

static int find(int fd, uint8_t family, const char *address)
{
        _Alignas(struct nlmsghdr) char answer[4096];
        ssize_t length = ask(fd, family, address) == 0 ? recv(fd, answer, sizeof(answer), 0) : -1;

        return length > 0 ? find_interface((const void *)answer, (size_t)length) : 0;
}

int process_bpf_find_route(void)
{
        const struct timeval patience = { .tv_sec = 1 }; /* the kernel answers at once, unless something is wrong */
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        int interface;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return 0;
        interface = find(fd, AF_INET, FAR_4);
        return interface ? interface : find(fd, AF_INET6, FAR_6);
}
