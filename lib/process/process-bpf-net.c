/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "net-tunnel.h"
#include "process-bpf.h"
#include "source/net.h"
#include "util/util.h"
#include "process.skel.h"

static void add_interface(struct interface *list, size_t *n, uint32_t index, uint32_t kind)
{
        if (*n < INTERFACES_MAX)
                list[(*n)++] = (struct interface){ index, kind };
}

/* Finds interfaces whose packets use a radio. */
static void find_radios(int root_fd, DIR *class_dir, struct interface *list, size_t *n)
{
        struct dirent *entry;

        while ((entry = readdir(class_dir))) {
                enum net_kind kind;
                uint32_t index;

                if (entry->d_name[0] == '.')
                        continue;
                kind = net_kind_of_packets(root_fd, entry->d_name);
                if (kind != NET_WIFI && kind != NET_CELLULAR)
                        continue;
                index = if_nametoindex(entry->d_name); /* 0: /sys shows another namespace */
                if (index)
                        add_interface(list, n, index, kind == NET_WIFI ? KIND_WIFI : KIND_CELLULAR);
        }
}

static uint32_t kind_in(const struct interface *list, int index)
{
        for (size_t i = 0; index && i < INTERFACES_MAX; i++)
                if (list[i].index == (uint32_t)index)
                        return list[i].kind;
        return KIND_OTHER;
}

/*
 * Finds the processes that carry tunnels, by a walk through all open files at about 0.1 us each. Done only
 * when interfaces change and such a tunnel exists.
 */
static void find_carriers(const struct process_collector *collector)
{
        _cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(collector->carriers_iterator));
        struct process_bpf *bpf = collector->bpf;
        char nothing[64];

        bpf->bss->n_carriers_found = 0;
        memset(bpf->bss->carriers_found, 0, sizeof(bpf->bss->carriers_found));
        while (fd >= 0 && read(fd, nothing, sizeof(nothing)) > 0)
                ;
        memcpy(bpf->bss->carriers, bpf->bss->carriers_found, sizeof(bpf->bss->carriers));
}

/* Packets through a tunnel use the hardware below it. */
static void add_tunnels(const struct process_collector *collector, const struct net_tunnels *found,
                        struct interface *list, size_t *n)
{
        struct process_bpf *bpf = collector->bpf;
        uint32_t kind = kind_in(list, found->uplink);
        bool carried = false;

        for (size_t i = 0; i < found->n; i++) {
                add_interface(list, n, (uint32_t)found->list[i].index,
                              kind | (found->list[i].carried ? KIND_CARRIED : 0));
                carried = carried || found->list[i].carried;
        }
        if (carried)
                find_carriers(collector);
        else
                memset(bpf->bss->carriers, 0, sizeof(bpf->bss->carriers));
}

/* Overwrites the old list in place; a program may be reading its first entries meanwhile. */
static void find_interfaces(struct process_collector *collector)
{
        struct process_bpf *bpf = collector->bpf;
        _cleanup_closedir_ DIR *dir = util_opendir_at(collector->root_fd, "sys/class/net");
        struct interface list[INTERFACES_MAX] = { 0 };
        struct net_tunnels tunnels = { 0 };
        struct stat own;
        uint32_t metric;
        size_t n = 0;

        if (!dir)
                return;
        if (bpf->bss->for_test.index)
                list[n++] = bpf->bss->for_test;
        find_radios(collector->root_fd, dir, list, &n);
        bpf->bss->has_radio = n > 0;
        bpf->bss->own_namespace = stat("/proc/self/ns/net", &own) == 0 ? (uint32_t)own.st_ino : 0;
        if (net_tunnels_find((int)bpf->bss->for_test.index, &tunnels) == 0)
                add_tunnels(collector, &tunnels, list, &n);
        memcpy(bpf->bss->interfaces, list, sizeof(list));
        bpf->bss->default_kind = kind_in(list, net_route_find(0, &metric));
}

#define GROUP(number) (1U << ((number) - 1))

/*
 * Opens a socket that reports changes of interfaces, routes and rules. Each poll checks whether there were
 * any.
 */
static int listen_to_interfaces(void)
{
        const struct sockaddr_nl address = {
                .nl_family = AF_NETLINK,
                .nl_groups = GROUP(RTNLGRP_LINK) | GROUP(RTNLGRP_IPV4_ROUTE) | GROUP(RTNLGRP_IPV6_ROUTE) |
                             GROUP(RTNLGRP_IPV4_RULE) | GROUP(RTNLGRP_IPV6_RULE),
        };
        const int room = 4096; /* room for one message is enough, as an overflow is reported, too */
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) < 0 ||
            bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        return take_fd(&fd);
}

/* Were there changes since the last call? An overflow means changes, too. */
static bool interfaces_changed(int fd)
{
        bool changed = false;
        char message[64]; /* only their presence matters */

        for (;;) {
                ssize_t n = recv(fd, message, sizeof(message), 0);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno != ENOBUFS)
                        return changed;
                changed = true;
        }
}

int process_bpf_watch_interfaces(struct process_collector *collector, const char *for_test, enum interface_kind kind)
{
        if (for_test)
                collector->bpf->bss->for_test = (struct interface){ if_nametoindex(for_test), kind };
        collector->interfaces_fd = listen_to_interfaces();
        if (collector->interfaces_fd < 0)
                return collector->interfaces_fd;
        find_interfaces(collector);
        return 0;
}

void process_bpf_read_net(struct process_collector *collector, struct sample *sample)
{
        if (interfaces_changed(collector->interfaces_fd))
                find_interfaces(collector);
        sample->wifi_wakes = collector->bpf->bss->net_machine.wifi_wakes;
        sample->have |= USAGE_WIFI_WAKES;
}
