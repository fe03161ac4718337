/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Chooses the programs of bpf/net.bpf.h to load, and attaches those of control groups, which libbpf does not
 * attach.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

void net_way_choose(struct process_bpf *bpf, enum net_by by, bool bursts)
{
        struct bpf_program *const of_calls[] = { bpf->progs.count_send, bpf->progs.count_receive };
        struct bpf_program *const of_packets[] = { bpf->progs.own_new_socket, bpf->progs.leave_socket,
                                                   bpf->progs.packet_sent, bpf->progs.packet_received };
        bool packets = by == NET_BY_PACKETS || bursts;

        for (size_t i = 0; i < ARRAY_SIZE(of_calls); i++)
                bpf_program__set_autoload(of_calls[i], by == NET_BY_CALLS);
        for (size_t i = 0; i < ARRAY_SIZE(of_packets); i++)
                bpf_program__set_autoload(of_packets[i], packets);
        /* by calls, the calls show who uses a socket */
        bpf_program__set_autoload(bpf->progs.own_read_socket, by == NET_BY_PACKETS);
        bpf_program__set_autoload(bpf->progs.count_group, bursts);
        bpf_program__set_autoload(bpf->progs.tell_bursts, bursts);
        bpf_map__set_autocreate(bpf->maps.open_bursts, bursts);
        if (bursts)
                bpf_map__set_max_entries(bpf->maps.exits, EXITS_SIZE + BURSTS_SIZE);
        bpf_map__set_autocreate(bpf->maps.sockets, packets);
        bpf_map__set_autocreate(bpf->maps.owners, packets);
        bpf_map__set_autocreate(bpf->maps.net_places, by != NET_BY_BEST);
        bpf_map__set_autocreate(bpf->maps.net_elsewhere, by != NET_BY_BEST);
}

/* Opens the root of the cgroup v2 hierarchy, wherever it is mounted. */
static int open_control_group(int root_fd)
{
        _cleanup_free_ char *text = malloc(65536);
        char *state = NULL;

        if (!text || util_read_at(root_fd, "proc/self/mountinfo", text, 65536) <= 0)
                return -ENODEV;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                char at[256];
                int fd;

                if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*u %*u %*u:%*u / /%255s", at) != 1)
                        continue;
                fd = openat(root_fd, at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (fd >= 0)
                        return fd;
        }
        return -ENODEV;
}

int net_way_attach_packets(struct process_bpf *bpf, int root_fd)
{
        const struct {
                struct bpf_program *program;
                struct bpf_link **link;
        } places[] = {
                { bpf->progs.own_new_socket, &bpf->links.own_new_socket },
                { bpf->progs.leave_socket, &bpf->links.leave_socket },
                { bpf->progs.packet_sent, &bpf->links.packet_sent },
                { bpf->progs.packet_received, &bpf->links.packet_received },
        };
        _cleanup_close_ int fd = open_control_group(root_fd);

        if (fd < 0)
                return fd;
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                *places[i].link = bpf_program__attach_cgroup(places[i].program, fd);
                if (!*places[i].link)
                        return -errno;
        }
        return 0;
}
