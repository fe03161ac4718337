/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inet-diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "util/util.h"

/*
 * The kernel's states (net/tcp_states.h). Sockets in TIME_WAIT, and those not yet ESTABLISHED, have no
 * totals.
 */
enum { ESTABLISHED = 1, FIN_WAIT1 = 4, FIN_WAIT2 = 5, CLOSE_WAIT = 8, LAST_ACK = 9, CLOSING = 11 };
#define STATES                                                                                               \
        (1u << ESTABLISHED | 1u << FIN_WAIT1 | 1u << FIN_WAIT2 | 1u << CLOSE_WAIT | 1u << LAST_ACK | 1u << CLOSING)

int inet_diag_open(void)
{
        /* the kernel replies at once, unless something is wrong */
        const struct timeval patience = { .tv_sec = 1 };
        int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

        if (fd < 0)
                return -errno;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0) {
                int err = -errno;

                close(fd);
                return err;
        }
        return fd;
}

bool inet_is_loopback(const uint8_t *address)
{
        static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, loopback[16] = { [15] = 1 };

        if (memcmp(address, mapped, sizeof(mapped)) == 0)
                return address[12] == 127;
        return memcmp(address, loopback, sizeof(loopback)) == 0;
}

static void copy_address(uint8_t family, const __be32 *from, uint8_t *to)
{
        memset(to, 0, 16);
        if (family == AF_INET6) {
                memcpy(to, from, 16);
                return;
        }
        to[10] = to[11] = 0xff;
        memcpy(to + 12, from, 4);
}

/*
 * Payload is bytes sent less bytes retransmitted (Linux 4.19). Older kernels only have acknowledged bytes,
 * which may include the connection's SYN as a byte; received bytes include its FIN.
 */
static void read_totals(const struct tcp_info *info, size_t length, uint8_t state, struct inet_socket *socket)
{
        bool ended = state == CLOSE_WAIT || state == LAST_ACK || state == CLOSING;

        if (length >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info->tcpi_bytes_retrans))
                socket->sent = info->tcpi_bytes_sent - MIN(info->tcpi_bytes_retrans, info->tcpi_bytes_sent);
        else
                socket->sent = info->tcpi_bytes_acked;
        socket->received = info->tcpi_bytes_received - (ended && info->tcpi_bytes_received > 0);
}

/* Returns false if there are no totals, as in kernels before 4.1. */
static bool parse(const struct nlmsghdr *head, struct inet_socket *ret)
{
        const struct inet_diag_msg *message = NLMSG_DATA(head);
        int left = (int)head->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*message));
        struct tcp_info info = { 0 };

        if (left < 0)
                return false;
        *ret = (struct inet_socket){
                .cookie = (uint64_t)message->id.idiag_cookie[1] << 32 | message->id.idiag_cookie[0],
                .inode = message->idiag_inode,
                .uid = message->idiag_uid,
                .interface = message->id.idiag_if,
        };
        copy_address(message->idiag_family, message->id.idiag_src, ret->here);
        copy_address(message->idiag_family, message->id.idiag_dst, ret->there);
        for (const struct rtattr *at = (const void *)(message + 1); RTA_OK(at, left);
             at = RTA_NEXT(at, left)) {
                size_t length = RTA_PAYLOAD(at);

                if (at->rta_type != INET_DIAG_INFO ||
                    length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received))
                        continue;
                memcpy(&info, RTA_DATA(at), MIN(length, sizeof(info)));
                read_totals(&info, length, message->idiag_state, ret);
                return true;
        }
        return false;
}

static int request(int fd, uint8_t family)
{
        struct {
                struct nlmsghdr head;
                struct inet_diag_req_v2 what;
        } request = {
                .head = { .nlmsg_len = sizeof(request), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                .what = { .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = STATES,
                          .idiag_ext = 1 << (INET_DIAG_INFO - 1) },
        };

        return send(fd, &request, sizeof(request), 0) < 0 ? -errno : 0;
}

static int list(int fd, uint8_t family, int (*each)(void *data, const struct inet_socket *socket), void *data)
{
        _Alignas(struct nlmsghdr) char answer[32768];
        int stop = 0, err = request(fd, family);

        while (!err) {
                ssize_t length = recv(fd, answer, sizeof(answer), 0);
                size_t left = (size_t)length, step;

                if (length < 0)
                        return -errno;
                for (const char *at = answer; left >= sizeof(struct nlmsghdr); at += step, left -= step) {
                        const struct nlmsghdr *head = (const void *)at;
                        struct inet_socket socket;

                        if (head->nlmsg_len < sizeof(*head) || head->nlmsg_len > left)
                                return -EBADMSG;
                        step = MIN((size_t)NLMSG_ALIGN(head->nlmsg_len), left);
                        if (head->nlmsg_type == NLMSG_DONE)
                                return stop;
                        if (head->nlmsg_type == NLMSG_ERROR)
                                return left >= NLMSG_LENGTH(sizeof(struct nlmsgerr)) ?
                                               ((const struct nlmsgerr *)NLMSG_DATA(head))->error : -EBADMSG;
                        if (!stop && head->nlmsg_type == SOCK_DIAG_BY_FAMILY && parse(head, &socket))
                                stop = each(data, &socket); /* the rest must be read before the next request */
                }
        }
        return err;
}

int inet_diag_list(int fd, int (*each)(void *data, const struct inet_socket *socket), void *data)
{
        int stop = list(fd, AF_INET, each, data), err;

        if (stop)
                return stop;
        err = list(fd, AF_INET6, each, data);
        return err == -ENOENT || err == -EAFNOSUPPORT ? 0 : err; /* a kernel without IPv6 */
}
