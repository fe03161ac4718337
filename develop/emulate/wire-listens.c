/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which ports does the app listen itself? As the kernel says by NETLINK_SOCK_DIAG. */

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "packet.h"
#include "wire.h"


static bool matches(const struct inet_diag_msg *message, uint16_t port)
{
        const uint32_t *words = message->id.idiag_src;
        bool six = message->idiag_family == AF_INET6;
        uint32_t address = ntohl(words[six ? 3 : 0]);

        if (!port)
                return true;
        if (ntohs(message->id.idiag_sport) != port)
                return false;
        /* One of IPv6 also takes IPv4, if it listens at any address, or at one that is mapped. */
        if (six && (words[0] || words[1] || (words[2] ? words[2] != htonl(0xffff) : address != 0)))
                return false;
        return address == 0 || packet_is_loopback(address);
}

/* One answer of the kernel. 1: a socket matches; 0: go on; -1: it was the last. */
static int read_answer(int fd, uint16_t port)
{
        _Alignas(8) char buffer[8192];
        ssize_t length = recv(fd, buffer, sizeof(buffer), 0);
        int found = length <= 0 ? -1 : 0;

        for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; length > 0 && NLMSG_OK(header, (unsigned)length);
             header = NLMSG_NEXT(header, length)) {
                if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                        return found == 1 ? 2 : -1;
                if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                    header->nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)) &&
                    matches(NLMSG_DATA(header), port))
                        found = 1;
        }
        return found;
}

/* Is a socket in one of those states (bits), on a port, or on any (0)? */
static bool ask(int fd, uint8_t family, uint8_t protocol, uint32_t states, uint16_t port)
{
        struct {
                struct nlmsghdr header;
                struct inet_diag_req_v2 request;
        } question = {
                .header = { sizeof(question), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 },
                .request = { .sdiag_family = family, .sdiag_protocol = protocol,
                             .idiag_states = states,
                             .id.idiag_sport = htons(port) },
        };
        bool found = false;
        int answer;

        if (send(fd, &question, sizeof(question), 0) < 0)
                return false;
        do {
                answer = read_answer(fd, port);
                found |= answer > 0;
        } while (answer == 0 || answer == 1);
        return found;
}

bool wire_listens(int listening, uint8_t protocol, uint16_t port)
{
        uint32_t states = protocol == IPPROTO_TCP ? 1u << TCP_LISTEN : UINT32_MAX;

        return listening >= 0 && (ask(listening, AF_INET, protocol, states, port) ||
                                  ask(listening, AF_INET6, protocol, states, port));
}

bool wire_sends(int listening)
{
        const uint32_t closed = 1u << TCP_FIN_WAIT1 | 1u << TCP_LAST_ACK | 1u << TCP_CLOSING;

        return listening >= 0 && ask(listening, AF_INET, IPPROTO_TCP, closed, 0);
}
