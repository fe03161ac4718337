/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tunnels (VPNs): interfaces whose packets leave the machine inside packets of another interface. There is no
 * uniform way to ask the kernel for that interface. It is assumed to be the hardware with the best route to
 * the Internet, ignoring routes into tunnels.
 */

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "net-tunnel.h"
#include "util/util.h"

/*
 * Kinds as in `ip link add type KIND`. Ethernet-like tunnels (tap, vxlan) are left out, as they mostly belong
 * to virtual machines.
 */
static const char *const kinds[] = { "tun", "wireguard", "ipip", "ip6tnl", "sit", "gre", "ip6gre", "vti", "vti6",
                                     "xfrm" };

static bool is_tunnel(const struct ifinfomsg *link, const char *kind)
{
        if (link->ifi_type == ARPHRD_ETHER)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(kinds[i], kind) == 0)
                        return true;
        return false;
}

/* Keeps the interface if its route is the best so far. */
static void see_hardware(struct net_tunnels *tunnels, int index)
{
        uint32_t metric;

        if (net_route_find(index, &metric) != index || metric >= tunnels->metric)
                return;
        tunnels->metric = metric;
        tunnels->uplink = index;
}

static void see_link(struct net_tunnels *tunnels, int hardware, const struct nlmsghdr *head)
{
        const struct ifinfomsg *link = NLMSG_DATA(head);
        size_t left = IFLA_PAYLOAD(head);
        char kind[32] = "";

        for (const struct rtattr *at = IFLA_RTA(link); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
                size_t inner = RTA_PAYLOAD(at);

                if (at->rta_type != IFLA_LINKINFO)
                        continue;
                for (const struct rtattr *in = RTA_DATA(at); RTA_OK(in, inner); in = RTA_NEXT(in, inner))
                        if (in->rta_type == IFLA_INFO_KIND)
                                snprintf(kind, sizeof(kind), "%.*s", (int)RTA_PAYLOAD(in), (const char *)RTA_DATA(in));
        }
        if (!(link->ifi_flags & IFF_UP) || link->ifi_flags & IFF_LOOPBACK)
                return;
        if (!kind[0] || link->ifi_index == hardware)
                see_hardware(tunnels, link->ifi_index);
        else if (is_tunnel(link, kind) && tunnels->n < NET_TUNNELS_MAX)
                tunnels->list[tunnels->n++] = (struct net_tunnel){ link->ifi_index, strcmp(kind, "tun") == 0 };
}

int net_tunnels_find(int hardware, struct net_tunnels *ret)
{
        const struct timeval patience = { .tv_sec = 1 };
        struct {
                struct nlmsghdr head;
                struct ifinfomsg link;
        } question = { { .nlmsg_len = sizeof(question), .nlmsg_type = RTM_GETLINK,
                         .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP }, { .ifi_family = AF_UNSPEC } };
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        _cleanup_free_ char *answer = malloc(32768); /* the kernel sends at most this much at once */
        struct net_tunnels tunnels = { .metric = UINT32_MAX };

        if (!answer || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
            send(fd, &question, sizeof(question), 0) < 0)
                return -EIO;
        for (;;) {
                ssize_t length = recv(fd, answer, 32768, 0);
                const struct nlmsghdr *head = (const void *)answer;

                if (length <= 0)
                        return -EIO;
                for (; length > 0 && NLMSG_OK(head, (size_t)length); head = NLMSG_NEXT(head, length)) {
                        if (head->nlmsg_type == NLMSG_DONE) {
                                *ret = tunnels;
                                return 0;
                        }
                        if (head->nlmsg_type == RTM_NEWLINK &&
                            head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg)))
                                see_link(&tunnels, hardware, head);
                }
        }
}

const struct net_tunnel *net_tunnels_get(const struct net_tunnels *tunnels, int index)
{
        for (size_t i = 0; i < tunnels->n; i++)
                if (tunnels->list[i].index == index)
                        return &tunnels->list[i];
        return NULL;
}
