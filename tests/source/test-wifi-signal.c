/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* WiFi's signal strength: the kernel's reply, put into a socket before the request; and /proc/net/wireless. */

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include "check.h"
#include "source/wifi-signal.h"
#include "util/util.h"

#define FAMILY 0x20
#define INTERFACE 3

/* A message that is being made. */
struct message {
        _Alignas(struct nlmsghdr) char bytes[512];
        size_t n;
};

static void put(struct message *message, const void *data, size_t length)
{
        memcpy(message->bytes + message->n, data, length);
        message->n += NLMSG_ALIGN(length);
}

static void put_attribute(struct message *message, uint16_t type, const void *data, size_t length)
{
        put(message, &(struct nlattr){ (uint16_t)(NLA_HDRLEN + length), type }, NLA_HDRLEN);
        put(message, data, length);
}

static struct message begin(uint16_t type, uint32_t sequence)
{
        struct message message = { .n = 0 };

        put(&message, &(struct nlmsghdr){ .nlmsg_type = type, .nlmsg_seq = sequence }, NLMSG_HDRLEN);
        if (type >= NLMSG_MIN_TYPE)
                put(&message, &(struct genlmsghdr){ .version = 1 }, GENL_HDRLEN);
        return message;
}

static void say(int fd, struct message message)
{
        ((struct nlmsghdr *)(void *)message.bytes)->nlmsg_len = (uint32_t)message.n;
        check_int(send(fd, message.bytes, message.n, 0), (int)message.n);
}

static void say_error(int fd, uint32_t sequence, int error)
{
        struct message message = begin(NLMSG_ERROR, sequence);

        put(&message, &(struct nlmsgerr){ .error = error }, sizeof(struct nlmsgerr));
        say(fd, message);
}

static void say_type(int fd, uint32_t sequence, uint32_t type)
{
        struct message message = begin(FAMILY, sequence);

        put_attribute(&message, NL80211_ATTR_IFINDEX, &(uint32_t){ INTERFACE }, sizeof(uint32_t));
        put_attribute(&message, NL80211_ATTR_IFTYPE, &type, sizeof(type));
        say(fd, message);
        say_error(fd, sequence, 0);
}

/* 0: unknown. */
static void say_station(int fd, uint32_t sequence, int8_t dbm, int8_t average_dbm)
{
        struct message message = begin(FAMILY, sequence), info = { .n = 0 };

        put_attribute(&info, NL80211_STA_INFO_INACTIVE_TIME, &(uint32_t){ 40 }, sizeof(uint32_t));
        if (dbm)
                put_attribute(&info, NL80211_STA_INFO_SIGNAL, &dbm, 1);
        if (average_dbm)
                put_attribute(&info, NL80211_STA_INFO_SIGNAL_AVG, &average_dbm, 1);
        put_attribute(&message, NL80211_ATTR_IFINDEX, &(uint32_t){ INTERFACE }, sizeof(uint32_t));
        put_attribute(&message, NL80211_ATTR_STA_INFO | NLA_F_NESTED, info.bytes, info.n);
        say(fd, message);
}

static void say_done(int fd, uint32_t sequence)
{
        struct message message = begin(NLMSG_DONE, sequence);

        put(&message, &(uint32_t){ 0 }, sizeof(uint32_t));
        say(fd, message);
}

static void hear(struct wifi_signal *signal, int *fd)
{
        int fds[2];

        check_int(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        *signal = (struct wifi_signal){ .fd = fds[0], .family = FAMILY };
        *fd = fds[1];
}

static void what_the_kernel_answers(void)
{
        struct wifi_signal signal;
        struct nlmsghdr asked;
        int32_t dbm = 7;
        int fd;

        hear(&signal, &fd);
        say_type(fd, 1, NL80211_IFTYPE_STATION);
        say_station(fd, 2, -48, 0);
        say_done(fd, 2);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), 0);
        check_int(dbm, -48);
        check_int(recv(fd, &asked, sizeof(asked), 0), sizeof(asked));
        check_int(asked.nlmsg_type, FAMILY);
        check_int(asked.nlmsg_len, NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + sizeof(uint32_t));

        say_station(fd, 2, -20, 0); /* late: of the question before */
        say_type(fd, 3, NL80211_IFTYPE_STATION);
        say_station(fd, 4, -48, -61); /* the mean is better than the last packet */
        say_done(fd, 4);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), 0);
        check_int(dbm, -61);

        say_type(fd, 5, NL80211_IFTYPE_AP);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -ENODATA);
        say_type(fd, 6, NL80211_IFTYPE_STATION);
        say_done(fd, 7); /* with no access point */
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -ENODATA);
        say_type(fd, 8, NL80211_IFTYPE_STATION);
        say_station(fd, 9, 0, 0); /* the driver does not know */
        say_done(fd, 9);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -ENODATA);
        check_int(dbm, -61);
        check(signal.fd >= 0);

        say_error(fd, 10, -ENODEV);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -ENODEV);
        check_int(signal.fd, -1); /* nothing stays in it for the next question */
        close(fd);
}

static void no_answer(void)
{
        struct wifi_signal signal;
        int32_t dbm;
        int fd;

        hear(&signal, &fd);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -EAGAIN);
        close(fd);
        hear(&signal, &fd);
        check_int(send(fd, "short", 5, 0), 5);
        check_int(send(fd, &(struct nlmsghdr){ .nlmsg_len = 1000, .nlmsg_seq = 1 }, NLMSG_HDRLEN, 0), NLMSG_HDRLEN);
        check_int(wifi_signal_ask(&signal, INTERFACE, &dbm), -EBADMSG);
        close(fd);
}

/* No interface has this number: the kernel's own answer is an error, whether it knows WiFi or not. */
static void the_real_kernel(void)
{
        struct wifi_signal signal = { .fd = -1 };
        int32_t dbm = 7;

        check(wifi_signal_ask(&signal, INT32_MAX, &dbm) < 0);
        check_int(dbm, 7);
        wifi_signal_close(&signal);
        wifi_signal_close(&signal);
}

static void lines_of_wireless(void)
{
        static const struct {
                const char *line;
                int dbm; /* 0: none */
        } cases[] = {
                { "Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE", 0 },
                { " face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22", 0 },
                { " wlan0: 0000   54.  -56.  -256        0      0      0      0      0        0", -56 },
                { "wlan0: 0000   70  -40  -256        0      0      0      0      0        0", -40 },
                { " wlan0: 0000   54.  56.  0        0      0      0      0      0        0", 0 }, /* not in dBm */
                { " wlan0: 0000   54.  -256.  -256   0      0      0      0      0        0", 0 },
                { " wlan01: 0000   54.  -56.  -256        0      0      0      0      0        0", 0 },
                { " wlan0: 0000", 0 },
                { "", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int32_t dbm = 0;

                check_int(wifi_signal_parse_line(cases[i].line, "wlan0", &dbm), cases[i].dbm != 0);
                check_int(dbm, cases[i].dbm);
        }
}

int main(void)
{
        what_the_kernel_answers();
        no_answer();
        the_real_kernel();
        lines_of_wireless();
        return check_result();
}
