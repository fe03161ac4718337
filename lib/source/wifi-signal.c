/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wifi-signal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>

#include "util/util.h"

#define ANSWER_MAX 32768

/* Attribute @type among others, which may be anything; NULL: it is not there. */
static const void *find(const void *attributes, size_t length, unsigned type, size_t least)
{
        const char *at = attributes;

        while (length >= sizeof(struct nlattr)) {
                struct nlattr head;
                size_t step;

                memcpy(&head, at, sizeof(head));
                if (head.nla_len < sizeof(head) || head.nla_len > length)
                        return NULL;
                if ((head.nla_type & NLA_TYPE_MASK) == type)
                        return head.nla_len >= NLA_HDRLEN + least ? at + NLA_HDRLEN : NULL;
                step = MIN((size_t)NLA_ALIGN(head.nla_len), length);
                at += step;
                length -= step;
        }
        return NULL;
}

static size_t length_of(const void *found)
{
        struct nlattr head;

        memcpy(&head, (const char *)found - NLA_HDRLEN, sizeof(head));
        return head.nla_len - NLA_HDRLEN;
}

bool wifi_signal_parse(const void *attributes, size_t length, int32_t *ret_dbm)
{
        const void *info = find(attributes, length, NL80211_ATTR_STA_INFO, 0);
        const int8_t *dbm = NULL;

        if (info)
                dbm = find(info, length_of(info), NL80211_STA_INFO_SIGNAL_AVG, 1);
        if (info && !dbm)
                dbm = find(info, length_of(info), NL80211_STA_INFO_SIGNAL, 1);
        if (!dbm || *dbm >= 0) /* nobody is that close: a driver that does not know */
                return false;
        *ret_dbm = *dbm;
        return true;
}

/* "wlan0: 0000   54.  -56.  -256 ...": status, quality, level, noise; the level is in dBm if it is negative. */
bool wifi_signal_parse_line(const char *line, const char *interface, int32_t *ret_dbm)
{
        size_t length = strlen(interface);
        int level;

        line += strspn(line, " ");
        if (strncmp(line, interface, length) != 0 || line[length] != ':' ||
            sscanf(line + length + 1, " %*4x %*4d%*[. ] %4d", &level) != 1 || level >= 0 || level < INT8_MIN)
                return false;
        *ret_dbm = level;
        return true;
}

/* The attributes that are looked for in an answer. */
struct question {
        uint8_t command;
        uint16_t flags;
        struct {
                struct nlattr head;
                union {
                        uint32_t interface;
                        char name[8];
                };
        } attribute;
        bool (*take)(const void *attributes, size_t length, void *ret); /* false: not in this message */
        void *ret;
};

static int send_question(struct wifi_signal *signal, uint16_t family, const struct question *question)
{
        struct {
                struct nlmsghdr head;
                struct genlmsghdr generic;
                char attribute[sizeof(question->attribute)];
        } request = {
                .head = { .nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) +
                                                  NLA_ALIGN(question->attribute.head.nla_len)),
                          .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | question->flags,
                          .nlmsg_seq = ++signal->sequence },
                .generic = { .cmd = question->command, .version = 1 },
        };

        memcpy(request.attribute, &question->attribute, sizeof(question->attribute));
        return send(signal->fd, &request, request.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* 1: there is more to come; 0 or a negative errno: that was the end of the answer. */
static int take_message(const struct nlmsghdr *head, const struct question *question, bool *found)
{
        size_t length = head->nlmsg_len - NLMSG_HDRLEN;
        const char *body = NLMSG_DATA(head);
        const struct nlmsgerr *error = NLMSG_DATA(head);

        if (head->nlmsg_type == NLMSG_DONE)
                return 0;
        if (head->nlmsg_type == NLMSG_ERROR) /* 0: an acknowledgement */
                return length >= sizeof(*error) ? error->error : -EBADMSG;
        if (head->nlmsg_type >= NLMSG_MIN_TYPE && length >= GENL_HDRLEN && !*found)
                *found = question->take(body + GENL_HDRLEN, length - GENL_HDRLEN, question->ret);
        return 1;
}

/* 0; -ENODATA: the answer does not have it. */
static int ask(struct wifi_signal *signal, uint16_t family, const struct question *question)
{
        _Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
        int more = send_question(signal, family, question);
        bool found = false;

        for (more = more ? more : 1; more == 1;) {
                ssize_t length = recv(signal->fd, answer, sizeof(answer), 0);
                size_t left = (size_t)length, step;

                if (length < 0)
                        return -errno;
                for (const char *at = answer; more == 1 && left >= sizeof(struct nlmsghdr); at += step, left -= step) {
                        const struct nlmsghdr *head = (const void *)at;

                        if (head->nlmsg_len < sizeof(*head) || head->nlmsg_len > left)
                                return -EBADMSG;
                        step = MIN((size_t)NLMSG_ALIGN(head->nlmsg_len), left);
                        if (head->nlmsg_seq == signal->sequence)
                                more = take_message(head, question, &found);
                }
        }
        return more ? more : found ? 0 : -ENODATA;
}

static bool take_family(const void *attributes, size_t length, void *ret)
{
        const void *family = find(attributes, length, CTRL_ATTR_FAMILY_ID, sizeof(uint16_t));

        if (family)
                memcpy(ret, family, sizeof(uint16_t));
        return family;
}

static bool take_type(const void *attributes, size_t length, void *ret)
{
        const void *type = find(attributes, length, NL80211_ATTR_IFTYPE, sizeof(uint32_t));

        if (type)
                memcpy(ret, type, sizeof(uint32_t));
        return type;
}

static bool take_signal(const void *attributes, size_t length, void *ret)
{
        return wifi_signal_parse(attributes, length, ret);
}

static int open_socket(struct wifi_signal *signal)
{
        const struct timeval patience = { .tv_sec = 1 }; /* the kernel answers at once, or something is wrong */
        const struct question question = {
                CTRL_CMD_GETFAMILY, NLM_F_ACK,
                { { NLA_HDRLEN + sizeof(NL80211_GENL_NAME), CTRL_ATTR_FAMILY_NAME }, { .name = NL80211_GENL_NAME } },
                take_family, &signal->family,
        };

        signal->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
        if (signal->fd < 0 || setsockopt(signal->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
                return -errno;
        return ask(signal, GENL_ID_CTRL, &question);
}

static int ask_interface(struct wifi_signal *signal, uint32_t interface, int32_t *ret_dbm)
{
        uint32_t type = NL80211_IFTYPE_UNSPECIFIED;
        struct question question = {
                NL80211_CMD_GET_INTERFACE, NLM_F_ACK,
                { { NLA_HDRLEN + sizeof(interface), NL80211_ATTR_IFINDEX }, { .interface = interface } },
                take_type, &type,
        };
        int err = ask(signal, signal->family, &question);

        if (!err && type != NL80211_IFTYPE_STATION && type != NL80211_IFTYPE_P2P_CLIENT)
                err = -ENODATA; /* an access point hears its clients */
        if (err)
                return err;
        question.command = NL80211_CMD_GET_STATION;
        question.flags = NLM_F_DUMP;
        question.take = take_signal;
        question.ret = ret_dbm;
        return ask(signal, signal->family, &question);
}

int wifi_signal_ask(struct wifi_signal *signal, uint32_t interface, int32_t *ret_dbm)
{
        int err = signal->fd < 0 ? open_socket(signal) : 0;

        if (!err)
                err = ask_interface(signal, interface, ret_dbm);
        if (err && err != -ENODATA)
                wifi_signal_close(signal);
        return err;
}

void wifi_signal_close(struct wifi_signal *signal)
{
        closep(&signal->fd);
        signal->fd = -1;
}
