/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "util/util.h"
#include "process.skel.h"

static bool is_wifi(int class_fd, const char *name)
{
        char path[IFNAMSIZ + 32];
        struct stat status;

        snprintf(path, sizeof(path), "%s/phy80211", name);
        return fstatat(class_fd, path, &status, 0) == 0;
}

/* Written over the old list, whose first entries a program may be reading just now. */
static void find_wifi(struct process_bpf *bpf, DIR *class_dir)
{
        struct dirent *entry;
        size_t n = 0;

        while (n < WIFI_INTERFACES_MAX && (entry = readdir(class_dir))) {
                char path[IFNAMSIZ + 32], text[64];
                uint64_t index;

                if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IFNAMSIZ ||
                    !is_wifi(dirfd(class_dir), entry->d_name))
                        continue;
                snprintf(path, sizeof(path), "%.15s/ifindex", entry->d_name);
                if (util_read_at(dirfd(class_dir), path, text, sizeof(text)) > 0 &&
                    util_parse_u64(text, &index) == 0 && index <= INT_MAX)
                        bpf->bss->wifi_indexes[n++] = (int)index;
        }
        while (n < WIFI_INTERFACES_MAX)
                bpf->bss->wifi_indexes[n++] = 0;
}

static uint32_t kind_of_hardware(const struct process_bpf *bpf, int index)
{
        if (index && index == bpf->bss->wifi_for_test)
                return KIND_WIFI;
        for (size_t i = 0; index && i < WIFI_INTERFACES_MAX; i++)
                if (bpf->bss->wifi_indexes[i] == index)
                        return KIND_WIFI;
        return KIND_OTHER;
}

/* Walks through the files of all processes, some 0.1 us each: only when interfaces change and there is such a tunnel. */
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

static void set_tunnels(const struct process_collector *collector, const struct net_tunnels *found)
{
        struct process_bpf *bpf = collector->bpf;
        uint32_t kind = kind_of_hardware(bpf, found->uplink);
        struct tunnel tunnels[TUNNELS_MAX] = { 0 };
        bool carried = false;
        struct stat own;

        for (size_t i = 0; i < MIN(found->n, (size_t)TUNNELS_MAX); i++) {
                tunnels[i] = (struct tunnel){ (uint32_t)found->list[i].index,
                                              kind | (found->list[i].carried ? KIND_CARRIED : 0) };
                carried = carried || found->list[i].carried;
        }
        bpf->bss->own_namespace = stat("/proc/self/ns/net", &own) == 0 ? (uint32_t)own.st_ino : 0;
        if (carried)
                find_carriers(collector);
        else
                memset(bpf->bss->carriers, 0, sizeof(bpf->bss->carriers));
        memcpy(bpf->bss->tunnels, tunnels, sizeof(tunnels));
}

static uint32_t kind_of_default(const struct process_bpf *bpf, const struct net_tunnels *tunnels)
{
        uint32_t metric;
        int index = net_route_find(0, &metric);
        const struct net_tunnel *tunnel = net_tunnels_get(tunnels, index);

        if (!tunnel)
                return kind_of_hardware(bpf, index);
        return kind_of_hardware(bpf, tunnels->uplink) | (tunnel->carried ? KIND_CARRIED : 0);
}

static void find_interfaces(struct process_collector *collector)
{
        struct process_bpf *bpf = collector->bpf;
        _cleanup_closedir_ DIR *dir = util_opendir_at(collector->root_fd, "sys/class/net");
        struct net_tunnels tunnels = { 0 };

        if (!dir)
                return;
        find_wifi(bpf, dir);
        if (net_tunnels_find(bpf->bss->wifi_for_test, &tunnels) == 0)
                set_tunnels(collector, &tunnels);
        bpf->bss->default_kind = kind_of_default(bpf, &tunnels);
}

#define GROUP(number) (1U << ((number) - 1))

/* A socket that reports changes of interfaces, routes and rules; each poll asks whether there were any. */
static int listen_to_interfaces(void)
{
        const struct sockaddr_nl address = {
                .nl_family = AF_NETLINK,
                .nl_groups = GROUP(RTNLGRP_LINK) | GROUP(RTNLGRP_IPV4_ROUTE) | GROUP(RTNLGRP_IPV6_ROUTE) |
                             GROUP(RTNLGRP_IPV4_RULE) | GROUP(RTNLGRP_IPV6_RULE),
        };
        const int room = 4096; /* one message is enough; an overflow is reported, too */
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) < 0 ||
            bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        return take_fd(&fd);
}

/* Since the last call. An overflow means changes, too. */
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

int process_bpf_watch_interfaces(struct process_collector *collector, const char *wifi_for_test)
{
        if (wifi_for_test)
                collector->bpf->bss->wifi_for_test = (int)if_nametoindex(wifi_for_test);
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
