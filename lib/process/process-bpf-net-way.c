/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which of the programs of bpf/net.bpf.h are loaded,
 * and where those are put that libbpf does not put by itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <linux/bpf.h>

#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

/* In the order of struct net_way; the last alone is of use beside the tracepoints. */
static const char *const hooked_functions[] = { "inet_sendmsg",  "inet_recvmsg",  "inet6_sendmsg",
                                                "inet6_recvmsg", "inet_sendpage", "tcp_splice_read" };
enum { INET_SENDMSG, INET_RECVMSG, TCP_SPLICE_READ = 5 };

/* Whether a program at the exit of @function loads and attaches: only trying tells. */
static bool can_hook(const struct btf *kernel, const char *function)
{
        const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
                                            { .code = BPF_JMP | BPF_EXIT } };
        struct bpf_prog_load_opts options = { .sz = sizeof(options),
                                              .expected_attach_type = BPF_TRACE_FEXIT };
        __s32 id = btf__find_by_name_kind(kernel, function, BTF_KIND_FUNC);
        _cleanup_close_ int program = -1, link = -1;

        if (id <= 0)
                return false;
        options.attach_btf_id = (__u32)id;
        program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "try_exit", "Dual BSD/GPL", nothing,
                                ARRAY_SIZE(nothing), &options);
        if (program < 0)
                return false;
        link = bpf_raw_tracepoint_open(NULL, program);
        return link >= 0;
}

struct net_way net_way_look(void)
{
        struct net_way way = { 0 };
        struct btf *kernel = btf__load_vmlinux_btf();

        if (!kernel)
                return way;
        for (size_t i = 0; i < ARRAY_SIZE(hooked_functions); i++)
                way.functions[i] = can_hook(kernel, hooked_functions[i]);
        btf__free(kernel);
        way.can_functions = way.functions[INET_SENDMSG] && way.functions[INET_RECVMSG];
        return way;
}

void net_way_choose(struct process_bpf *bpf, const struct net_way *way)
{
        struct bpf_program *const of_functions[] = { bpf->progs.inet_sent,      bpf->progs.inet_received,
                                                     bpf->progs.inet6_sent,     bpf->progs.inet6_received,
                                                     bpf->progs.inet_sent_page, bpf->progs.tcp_spliced };
        struct bpf_program *const of_calls[] = { bpf->progs.count_send, bpf->progs.count_receive };
        struct bpf_program *const of_packets[] = { bpf->progs.own_new_socket, bpf->progs.leave_socket,
                                                   bpf->progs.own_read_socket, bpf->progs.packet_sent,
                                                   bpf->progs.packet_received };

        for (size_t i = 0; i < ARRAY_SIZE(of_calls); i++)
                bpf_program__set_autoload(of_calls[i], way->by == NET_BY_CALLS);
        for (size_t i = 0; i < ARRAY_SIZE(of_functions); i++)
                bpf_program__set_autoload(of_functions[i],
                                          way->functions[i] &&
                                                  (way->by == NET_BY_FUNCTIONS ||
                                                   (way->by == NET_BY_CALLS && i == TCP_SPLICE_READ)));
        for (size_t i = 0; i < ARRAY_SIZE(of_packets); i++)
                bpf_program__set_autoload(of_packets[i], way->by == NET_BY_PACKETS);
        bpf_map__set_autocreate(bpf->maps.sockets, way->by == NET_BY_PACKETS);
        bpf_map__set_autocreate(bpf->maps.owners, way->by == NET_BY_PACKETS);
        bpf_map__set_autocreate(bpf->maps.net_places, way->by != NET_BY_BEST);
        bpf_map__set_autocreate(bpf->maps.net_elsewhere, way->by != NET_BY_BEST);
}

/* The root of the version 2 hierarchy, wherever it is mounted. */
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

int net_way_attach(struct process_bpf *bpf, const struct net_way *way, int root_fd)
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
        _cleanup_close_ int fd = -1;

        if (way->by != NET_BY_PACKETS)
                return 0;
        fd = open_control_group(root_fd);
        if (fd < 0)
                return fd;
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                *places[i].link = bpf_program__attach_cgroup(places[i].program, fd);
                if (!*places[i].link)
                        return -errno;
        }
        return 0;
}
