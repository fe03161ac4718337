/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Requests to nl80211 and its replies. A second socket of this process plays the kernel: the linker's --wrap makes
 * libnl connect to it. Each request has to read its reply to the end, which is an acknowledgement or the end of a
 * list, and must not leave that to the next request.
 */

#include <errno.h>
#include <linux/nl80211.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "check.h"
#include "hold/nl80211.h"
#include "util/util.h"

#define FAMILY 0x20
#define SIGNAL_DBM (-52)

int __wrap_genl_connect(struct nl_sock *socket);
int __wrap_genl_ctrl_resolve(struct nl_sock *socket, const char *name);
unsigned __wrap_if_nametoindex(const char *name);
int __real_nl_send_auto(struct nl_sock *socket, struct nl_msg *message);
int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message);

/* By its number, which is the place here. */
static const struct {
        const char *name;
        int type; /* -1: the kernel does not report it; -2: it refuses */
} interfaces[] = {
        { "", 0 },
        { "ap0", NL80211_IFTYPE_AP },
        { "mon0", NL80211_IFTYPE_MONITOR },
        { "odd0", -1 },
        { "gone0", -2 },
        { "wlan0", NL80211_IFTYPE_STATION },
};

static int kernel = -1;

static uint32_t kernel_port(void)
{
        struct sockaddr_nl address = { 0 };
        socklen_t length = sizeof(address);

        check_int(getsockname(kernel, (struct sockaddr *)&address, &length), 0);
        return address.nl_pid;
}

int __wrap_genl_connect(struct nl_sock *socket)
{
        nl_socket_set_peer_port(socket, kernel_port());
        return nl_connect(socket, NETLINK_USERSOCK);
}

int __wrap_genl_ctrl_resolve(struct nl_sock *socket, const char *name)
{
        return FAMILY;
}

unsigned __wrap_if_nametoindex(const char *name)
{
        for (unsigned i = 1; i < ARRAY_SIZE(interfaces); i++)
                if (strcmp(interfaces[i].name, name) == 0)
                        return i;
        return 0;
}

static void say(const struct sockaddr_nl *to, struct nl_msg *message)
{
        struct nlmsghdr *header = nlmsg_hdr(message);

        check_int(sendto(kernel, header, header->nlmsg_len, 0, (const struct sockaddr *)to, sizeof(*to)),
                  header->nlmsg_len);
        nlmsg_free(message);
}

static struct nl_msg *reply(const struct nlmsghdr *request, uint8_t command, int flags)
{
        struct nl_msg *message = nlmsg_alloc();

        check(genlmsg_put(message, request->nlmsg_pid, request->nlmsg_seq, FAMILY, 0, flags, command, 0) != NULL);
        return message;
}

/* 0: an acknowledgement. */
static void say_error(const struct sockaddr_nl *to, const struct nlmsghdr *request, int error)
{
        const struct nlmsgerr body = { .error = error, .msg = *request };
        struct nl_msg *message = nlmsg_alloc();

        nlmsg_put(message, request->nlmsg_pid, request->nlmsg_seq, NLMSG_ERROR, 0, 0);
        nlmsg_append(message, (void *)&body, sizeof(body), 0);
        say(to, message);
}

static void say_type(const struct sockaddr_nl *to, const struct nlmsghdr *request, int type)
{
        struct nl_msg *message;

        if (type == -2) {
                say_error(to, request, -ENODEV);
                return;
        }
        message = reply(request, NL80211_CMD_NEW_INTERFACE, 0);
        if (type >= 0)
                nla_put_u32(message, NL80211_ATTR_IFTYPE, (uint32_t)type);
        say(to, message);
        say_error(to, request, 0);
}

static void say_stations(const struct sockaddr_nl *to, const struct nlmsghdr *request, bool tells)
{
        struct nl_msg *message = reply(request, NL80211_CMD_NEW_STATION, NLM_F_MULTI);
        struct nlattr *info = nla_nest_start(message, NL80211_ATTR_STA_INFO);

        nla_put_u8(message, NL80211_STA_INFO_SIGNAL, (uint8_t)SIGNAL_DBM);
        if (tells)
                nla_nest_end(message, info);
        else
                nla_nest_cancel(message, info);
        say(to, message);
        message = nlmsg_alloc();
        nlmsg_put(message, request->nlmsg_pid, request->nlmsg_seq, NLMSG_DONE, sizeof(int), NLM_F_MULTI);
        say(to, message);
}

/* The kernel answers in the sender's own system call. */
int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message)
{
        union {
                struct nlmsghdr header;
                char bytes[4096];
        } request;
        struct sockaddr_nl from = { 0 };
        socklen_t length = sizeof(from);
        int err = __real_nl_send_auto(socket, message);
        const struct nlattr *index;

        check(err >= 0);
        check(recvfrom(kernel, &request, sizeof(request), 0, (struct sockaddr *)&from, &length) > 0);
        index = nlmsg_find_attr(&request.header, GENL_HDRLEN, NL80211_ATTR_IFINDEX);
        check(index != NULL);
        if (((struct genlmsghdr *)nlmsg_data(&request.header))->cmd == NL80211_CMD_GET_INTERFACE)
                say_type(&from, &request.header, interfaces[nla_get_u32(index)].type);
        else
                say_stations(&from, &request.header, strcmp(interfaces[nla_get_u32(index)].name, "odd0"));
        return err;
}

static void each_answer_is_its_own(void)
{
        static const struct {
                const char *interface;
                int err;
        } cases[] = {
                { "wlan0", 0 },     { "ap0", -EOPNOTSUPP }, { "mon0", -EOPNOTSUPP }, { "wlan0", 0 },
                { "odd0", -EBADMSG }, { "mon0", -EOPNOTSUPP }, { "gone0", -ENODEV }, { "ap0", -EOPNOTSUPP },
                { "nowhere0", -ENODEV }, { "wlan0", 0 },
        };
        struct nl80211_station station = { 0 };
        struct nl80211 *nl = NULL;

        check_int(nl80211_open(&nl), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_int(nl80211_is_client(nl, cases[i].interface), cases[i].err);
        check_int(nl80211_is_client(nl, "ap0"), -EOPNOTSUPP);
        check_int(nl80211_station(nl, "wlan0", &station), 0);
        check(station.associated);
        check_int(station.signal_dbm, SIGNAL_DBM);
        check_int(nl80211_station(nl, "odd0", &station), -EBADMSG); /* an empty reply is no station */
        nl80211_close(nl);
}

int main(void)
{
        const struct sockaddr_nl any = { .nl_family = AF_NETLINK };

        kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
        if (kernel < 0 || bind(kernel, (const struct sockaddr *)&any, sizeof(any)) < 0) {
                printf("no netlink between programs here: %s\n", strerror(errno));
                return 77;
        }
        each_answer_is_its_own();
        close(kernel);
        return check_result();
}
