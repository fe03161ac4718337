/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet.h"
#include "util/util.h"

#define TABLE_LOOPBACK 100
#define QUEUE_LENGTH 5000 /* packets between the kernel and us: so many that only our own queue drops any */

#define PAIR_BUFFER (16 << 20) /* receive buffer of our end of a veth pair, in bytes */

static const uint8_t pair_address[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 1 }; /* MAC of the veth device whose peer we hold */

struct request {
        struct nlmsghdr header;
        union {
                struct ifaddrmsg address;
                struct ifinfomsg device;
                struct rtmsg route;
                struct fib_rule_hdr rule;
        };
        uint8_t attributes[128];
};

int link_up(const char *name)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq ifreq = { .ifr_ifru.ifru_ivalue = QUEUE_LENGTH };

        snprintf(ifreq.ifr_name, sizeof(ifreq.ifr_name), "%s", name);
        if (fd < 0)
                return -errno;
        (void)ioctl(fd, SIOCSIFTXQLEN, &ifreq); /* if this fails, the queue is only shorter */
        ifreq.ifr_flags = 0;
        if (ioctl(fd, SIOCGIFFLAGS, &ifreq) < 0)
                return -errno;
        ifreq.ifr_flags = (short)(ifreq.ifr_flags | IFF_UP);
        return ioctl(fd, SIOCSIFFLAGS, &ifreq) < 0 ? -errno : 0;
}

int link_set(const char *path, const char *value)
{
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

static void begin(struct request *request, uint16_t type, uint16_t flags, size_t body)
{
        *request = (struct request){ .header = { .nlmsg_type = type,
                                                 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
                                                 .nlmsg_len = (uint32_t)NLMSG_LENGTH(body) } };
}

/* The requests here have at most eight attributes of up to 16 bytes, for which there is room. */
static void add(struct request *request, uint16_t type, const void *value, size_t length)
{
        struct rtattr *attribute = (struct rtattr *)((uint8_t *)request + NLMSG_ALIGN(request->header.nlmsg_len));

        attribute->rta_type = type;
        attribute->rta_len = (uint16_t)RTA_LENGTH(length);
        memcpy(RTA_DATA(attribute), value, length);
        request->header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len));
}

/* Makes the attribute at @began longer by those that were added since. */
static void end(struct request *request, size_t began)
{
        ((struct rtattr *)((uint8_t *)request + began))->rta_len =
                (uint16_t)(NLMSG_ALIGN(request->header.nlmsg_len) - began);
}

static void add_address(struct request *request, uint16_t type, uint32_t address)
{
        uint32_t wire = htonl(address);

        add(request, type, &wire, sizeof(wire));
}

/* Sends it, and waits for the kernel's answer. */
static int ask(const struct request *request)
{
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        struct {
                struct nlmsghdr header;
                struct nlmsgerr error;
                uint8_t rest[512];
        } answer;

        if (fd < 0)
                return -errno;
        if (send(fd, request, request->header.nlmsg_len, 0) < 0)
                return -errno;
        if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(sizeof(answer.error)))
                return -EIO;
        return answer.header.nlmsg_type == NLMSG_ERROR ? answer.error.error : -EPROTO;
}

static int open_tun(const char *name)
{
        struct ifreq ifreq = { .ifr_flags = IFF_TUN | IFF_NO_PI };
        _cleanup_close_ int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

        if (fd < 0)
                return -errno;
        snprintf(ifreq.ifr_name, sizeof(ifreq.ifr_name), "%s", name);
        if (ioctl(fd, TUNSETIFF, &ifreq) < 0)
                return -errno;
        return take_fd(&fd);
}

static int add_pair(const char *name, const char *other)
{
        const struct ifinfomsg none = { 0 };
        struct request request;
        size_t info, data, peer;

        begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(request.device));
        request.device = none;
        add(&request, IFLA_IFNAME, name, strlen(name) + 1);
        add(&request, IFLA_ADDRESS, pair_address, sizeof(pair_address));
        info = NLMSG_ALIGN(request.header.nlmsg_len);
        add(&request, IFLA_LINKINFO, "", 0);
        add(&request, IFLA_INFO_KIND, "veth", sizeof("veth"));
        data = NLMSG_ALIGN(request.header.nlmsg_len);
        add(&request, IFLA_INFO_DATA, "", 0);
        peer = NLMSG_ALIGN(request.header.nlmsg_len);
        add(&request, VETH_INFO_PEER, &none, sizeof(none));
        add(&request, IFLA_IFNAME, other, strlen(other) + 1);
        end(&request, peer);
        end(&request, data);
        end(&request, info);
        return ask(&request);
}

/*
 * Whole packets with their checksums leave by it. Nobody is asked for an address there: what is sent to its
 * own one is not for the other end's IP, and we read all.
 */
static int make_plain(int fd, const char *name)
{
        struct ethtool_value off = { .cmd = ETHTOOL_STXCSUM };
        struct ifreq ifreq = { .ifr_data = (void *)&off };

        snprintf(ifreq.ifr_name, sizeof(ifreq.ifr_name), "%s", name);
        if (ioctl(fd, SIOCETHTOOL, &ifreq) < 0)
                return -errno;
        ifreq.ifr_flags = 0;
        if (ioctl(fd, SIOCGIFFLAGS, &ifreq) < 0)
                return -errno;
        ifreq.ifr_flags = (short)(ifreq.ifr_flags | IFF_NOARP);
        return ioctl(fd, SIOCSIFFLAGS, &ifreq) < 0 ? -errno : 0;
}

static int open_pair(const char *name)
{
        struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
        _cleanup_close_ int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        char other[IFNAMSIZ];
        int err;

        if (fd < 0)
                return -errno;
        snprintf(other, sizeof(other), "%.9s-wire", name);
        err = add_pair(name, other);
        err = err ? err : make_plain(fd, name);
        err = err ? err : make_plain(fd, other);
        err = err ? err : link_up(other);
        if (err)
                return err;
        at.sll_ifindex = (int)if_nametoindex(other);
        if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                return -errno;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ PAIR_BUFFER }, sizeof(int)) < 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ PAIR_BUFFER }, sizeof(int));
        return take_fd(&fd);
}

int link_open(const char *name)
{
        int tun = open_tun(name), pair = tun < 0 ? open_pair(name) : tun;

        return pair < 0 ? tun : pair;
}

ssize_t link_send(int device, const void *bytes, size_t length)
{
        struct sockaddr_ll to;
        socklen_t size = sizeof(to);

        if (getsockname(device, (struct sockaddr *)&to, &size) < 0) /* a TUN device is no socket */
                return write(device, bytes, length);
        to.sll_halen = sizeof(pair_address);
        memcpy(to.sll_addr, pair_address, sizeof(pair_address));
        return sendto(device, bytes, length, 0, (struct sockaddr *)&to, sizeof(to));
}

int link_address(const char *name, uint32_t address, unsigned prefix)
{
        struct request request;

        begin(&request, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(request.address));
        request.address = (struct ifaddrmsg){ AF_INET, (uint8_t)prefix, 0, RT_SCOPE_UNIVERSE, if_nametoindex(name) };
        add_address(&request, IFA_LOCAL, address);
        add_address(&request, IFA_ADDRESS, address);
        return ask(&request);
}

struct route {
        uint32_t to, source; /* source 0: the kernel chooses */
        uint8_t prefix, table, type, scope;
};

static int add_route(const char *name, const struct route *route)
{
        uint32_t index = if_nametoindex(name);
        struct request request;

        begin(&request, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, sizeof(request.route));
        request.route = (struct rtmsg){ .rtm_family = AF_INET,
                                        .rtm_dst_len = route->prefix,
                                        .rtm_table = route->table,
                                        .rtm_protocol = RTPROT_STATIC,
                                        .rtm_scope = route->scope,
                                        .rtm_type = route->type };
        if (route->prefix)
                add_address(&request, RTA_DST, route->to);
        if (route->source)
                add_address(&request, RTA_PREFSRC, route->source);
        add(&request, RTA_OIF, &index, sizeof(index));
        return ask(&request);
}

static int change_rule(uint16_t type, uint32_t priority, uint8_t table, const char *interface)
{
        struct request request;

        begin(&request, type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0, sizeof(request.rule));
        request.rule = (struct fib_rule_hdr){ .family = AF_INET, .table = table, .action = FR_ACT_TO_TBL };
        add(&request, FRA_PRIORITY, &priority, sizeof(priority));
        if (interface)
                add(&request, FRA_IIFNAME, interface, strlen(interface) + 1);
        return ask(&request);
}

int link_app_routes(const char *name, bool outside)
{
        const struct route all = { 0, PACKET_APP, 0, RT_TABLE_MAIN, RTN_UNICAST, RT_SCOPE_LINK };
        const struct route loopback = { UINT32_C(127) << 24, PACKET_LOCALHOST, 8,
                                        TABLE_LOOPBACK,      RTN_UNICAST,      RT_SCOPE_LINK };
        int err = outside ? add_route(name, &all) : 0;

        if (!err)
                err = add_route(name, &loopback);
        /*
         * Packets that sockets here send ("iif lo") look in TABLE_LOOPBACK first; packets that come in look in
         * the table of local addresses.
         */
        if (!err)
                err = change_rule(RTM_NEWRULE, 10, TABLE_LOOPBACK, "lo");
        if (!err)
                err = change_rule(RTM_NEWRULE, 20, RT_TABLE_LOCAL, NULL);
        if (!err)
                err = change_rule(RTM_DELRULE, 0, RT_TABLE_LOCAL, NULL);
        return err;
}

int link_middle_routes(const char *name)
{
        const struct route app = { PACKET_APP & ~UINT32_C(3), 0, 30, RT_TABLE_LOCAL, RTN_UNICAST, RT_SCOPE_LINK };
        const struct route all = { 0, 0, 0, RT_TABLE_LOCAL, RTN_LOCAL, RT_SCOPE_HOST };
        int err = add_route(name, &app);

        return err ? err : add_route("lo", &all);
}
