/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/nl80211.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "hold/nl80211.h"
#include "util/util.h"

/*
 * Replies of nl80211: any attributes in messages that libnl takes for the reply, then its end. A second socket of this
 * process plays the kernel: the functions below make libnl connect to it. The first byte selects the request.
 */

#define FAMILY 0x20

static const uint8_t *answer;
static size_t left;
static int kernel = -1;

static uint32_t port_of(int fd)
{
        struct sockaddr_nl address = { 0 };
        socklen_t length = sizeof(address);

        fuzz_assert(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
        return address.nl_pid;
}

int genl_connect(struct nl_sock *socket)
{
        nl_socket_set_peer_port(socket, port_of(kernel));
        return nl_connect(socket, NETLINK_USERSOCK);
}

int genl_ctrl_resolve(struct nl_sock *socket, const char *name)
{
        return FAMILY;
}

unsigned if_nametoindex(const char *name)
{
        return 1;
}

/* A message: two bytes of its length, its type, its flags, and its payload. */
static bool say(const struct sockaddr_nl *to, const struct nlmsghdr *request)
{
        union {
                struct nlmsghdr header;
                char bytes[4096];
        } message = { .header = { .nlmsg_seq = request->nlmsg_seq, .nlmsg_pid = request->nlmsg_pid } };
        static const uint16_t types[] = { FAMILY, FAMILY, FAMILY, NLMSG_ERROR, NLMSG_DONE, NLMSG_NOOP, NLMSG_OVERRUN };
        size_t length;

        if (left < 4)
                return false;
        length = MIN((size_t)answer[0] | (size_t)(answer[1] & 7) << 8, left - 4);
        message.header.nlmsg_type = types[answer[2] % ARRAY_SIZE(types)];
        message.header.nlmsg_flags = answer[3];
        message.header.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + length);
        memcpy(message.bytes + NLMSG_HDRLEN, answer + 4, length);
        answer += 4 + length;
        left -= 4 + length;
        return sendto(kernel, &message, message.header.nlmsg_len, 0, (const struct sockaddr *)to, sizeof(*to)) > 0;
}

/* The kernel answers in the sender's own system call. */
int nl_send_auto(struct nl_sock *socket, struct nl_msg *message)
{
        struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = port_of(nl_socket_get_fd(socket)) };
        struct nlmsghdr *request = nlmsg_hdr(message);
        struct {
                struct nlmsghdr header;
                struct nlmsgerr error;
        } over = { .header = { .nlmsg_len = sizeof(over), .nlmsg_type = NLMSG_ERROR } };

        nl_complete_msg(socket, message);
        for (unsigned n = 0; n < 16 && say(&to, request); n++)
                continue;
        over.header.nlmsg_seq = request->nlmsg_seq;
        over.header.nlmsg_pid = request->nlmsg_pid;
        (void)!sendto(kernel, &over, sizeof(over), 0, (const struct sockaddr *)&to, sizeof(to));
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct nl80211_station station = { .signal_dbm = 1000 };
        struct nl80211 *nl = NULL;
        bool on;

        if (size == 0)
                return 0;
        if (kernel < 0) {
                struct sockaddr_nl address = { .nl_family = AF_NETLINK };

                kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
                fuzz_assert(kernel >= 0 && bind(kernel, (const struct sockaddr *)&address, sizeof(address)) == 0);
        }
        fuzz_assert(nl80211_open(&nl) == 0);
        answer = data + 1;
        left = size - 1;
        if (data[0] % 4 == 0)
                nl80211_is_client(nl, "wlan0");
        else if (data[0] % 4 == 1)
                nl80211_power_save(nl, "wlan0", &on);
        else if (data[0] % 4 == 2)
                nl80211_set_power_save(nl, "wlan0", true);
        else if (nl80211_station(nl, "wlan0", &station) == 0)
                fuzz_assert(station.signal_dbm >= -128 && station.signal_dbm <= 127);
        nl80211_close(nl);
        return 0;
}
