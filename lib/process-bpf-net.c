/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "process.skel.h"
#include "util.h"

/* As in bpf/net.bpf.h. */
enum interface_kind {
        KIND_LOOPBACK,
        KIND_WIFI,
        KIND_OTHER,
};

#define IFF_LOOPBACK_FLAG 8
#define POLLS_PER_LOOK 64 /* interfaces come and go rarely, and only sockets without a route need the list */

static uint32_t kind_of(int class_fd, const char *name, const char *wifi_for_test)
{
        char path[IFNAMSIZ + 32], text[64];
        struct stat status;

        if (wifi_for_test && strcmp(name, wifi_for_test) == 0)
                return KIND_WIFI;
        snprintf(path, sizeof(path), "%s/phy80211", name);
        if (fstatat(class_fd, path, &status, 0) == 0)
                return KIND_WIFI;
        snprintf(path, sizeof(path), "%s/flags", name);
        if (util_read_at(class_fd, path, text, sizeof(text)) > 0 &&
            strtoul(text, NULL, 16) & IFF_LOOPBACK_FLAG)
                return KIND_LOOPBACK;
        return KIND_OTHER;
}

/*
 * The interface of the first IPv4 default route,
 * which is the one with the lowest metric in all usual set-ups.
 */
static bool find_default_route(int root_fd, char *name)
{
        char text[4096], *state = NULL;

        if (util_read_at(root_fd, "proc/net/route", text, sizeof(text)) < 0)
                return false;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                unsigned long destination;

                if (sscanf(line, "%15s %lx", name, &destination) == 2 && destination == 0)
                        return true;
        }
        return false;
}

void process_bpf_find_interfaces(struct process_collector *collector)
{
        char route[IFNAMSIZ] = "";
        struct process_bpf *bpf = collector->bpf;
        _cleanup_closedir_ DIR *dir = util_opendir_at(collector->root_fd, "sys/class/net");
        struct dirent *entry;

        if (!dir)
                return;
        bpf->bss->default_kind = find_default_route(collector->root_fd, route) ?
                                         kind_of(dirfd(dir), route, collector->wifi_for_test) : KIND_OTHER;
        while ((entry = readdir(dir))) {
                char path[IFNAMSIZ + 32], text[64];
                uint64_t index;
                uint32_t kind;

                if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IFNAMSIZ)
                        continue;
                snprintf(path, sizeof(path), "%.15s/ifindex", entry->d_name);
                if (util_read_at(dirfd(dir), path, text, sizeof(text)) < 0 ||
                    util_parse_u64(text, &index) < 0)
                        continue;
                kind = kind_of(dirfd(dir), entry->d_name, collector->wifi_for_test);
                (void)bpf_map__update_elem(bpf->maps.interfaces, &(int){ (int)index }, sizeof(int), &kind,
                                           sizeof(kind), BPF_ANY);
        }
}

void process_bpf_read_net(struct process_collector *collector, struct sample *sample)
{
        if (++collector->polls % POLLS_PER_LOOK == 0)
                process_bpf_find_interfaces(collector);
        sample->wifi_wakes = collector->bpf->bss->net_machine.wifi_wakes;
        sample->have |= SAMPLE_WIFI_WAKES;
}
