/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "taskstats.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "util/units.h"
#include "util/util.h"

#define VERSION_WITH_TGID 12 /* since then there is ac_tgid, and the last thread of a process has AGROUP */
#define CPUS_TEXT 1024             /* a list of CPUs with gaps, as on a machine with many sockets */
/* for about 3,000 threads between two polls; memory is used only as messages come */
#define BUFFER_BYTES (4 * 1024 * 1024)

struct taskstats_listener {
        int fd;
        uint16_t family;
        char cpus[CPUS_TEXT];
};

static int send_request(int fd, uint16_t type, uint8_t command, uint16_t attribute, const char *text)
{
        struct {
                struct nlmsghdr head;
                struct genlmsghdr generic;
                struct nlattr attribute;
                char text[CPUS_TEXT];
        } request = {
                .head = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
                .generic = { .cmd = command, .version = 1 },
                .attribute = { .nla_len = (uint16_t)(NLA_HDRLEN + strlen(text) + 1), .nla_type = attribute },
        };

        snprintf(request.text, sizeof(request.text), "%s", text);
        request.head.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(request.attribute.nla_len));
        return send(fd, &request, request.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Finds the attribute of @type in [at, end), or NULL. */
static const struct nlattr *find_attribute(const char *at, const char *end, uint16_t type)
{
        while (end - at >= (ptrdiff_t)NLA_HDRLEN) {
                const struct nlattr *attribute = (const void *)at;

                if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > end - at)
                        return NULL;
                if ((attribute->nla_type & NLA_TYPE_MASK) == type)
                        return attribute;
                at += NLA_ALIGN(attribute->nla_len);
        }
        return NULL;
}

static const char *data_of(const struct nlattr *attribute)
{
        return (const char *)attribute + NLA_HDRLEN;
}

/* Reads the acknowledgement of the last request, and before it the family's number if that was requested. */
static int receive_answer(int fd, uint16_t *family)
{
        _Alignas(8) char buf[8192];

        for (;;) {
                ssize_t length = recv(fd, buf, sizeof(buf), 0);
                const struct nlmsghdr *head = (const void *)buf;
                const struct nlattr *id;

                if (length < 0)
                        return -errno;
                if (!NLMSG_OK(head, (size_t)length))
                        return -EBADMSG;
                if (head->nlmsg_type == NLMSG_ERROR)
                        return ((const struct nlmsgerr *)NLMSG_DATA(head))->error;
                id = find_attribute((const char *)NLMSG_DATA(head) + GENL_HDRLEN, buf + length,
                                    CTRL_ATTR_FAMILY_ID);
                if (family && head->nlmsg_type == GENL_ID_CTRL && id && id->nla_len >= NLA_HDRLEN + 2)
                        memcpy(family, data_of(id), sizeof(*family));
        }
}

static int listen_for_ends(struct taskstats_listener *listener)
{
        struct sockaddr_nl address = { .nl_family = AF_NETLINK };
        int err, bytes = BUFFER_BYTES;

        if (bind(listener->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -errno;
        if (setsockopt(listener->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
                return -errno;
        err = send_request(listener->fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                           TASKSTATS_GENL_NAME);
        if (!err)
                err = receive_answer(listener->fd, &listener->family);
        if (!err)
                err = send_request(listener->fd, listener->family, TASKSTATS_CMD_GET,
                                   TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, listener->cpus);
        return err ? err : receive_answer(listener->fd, NULL);
}

int taskstats_open(int root_fd, struct taskstats_listener **ret)
{
        struct taskstats_listener *listener = calloc(1, sizeof(*listener));
        int err;

        if (!listener)
                return -ENOMEM;
        listener->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
        err = listener->fd < 0 ? -errno : 0;
        if (!err && util_read_at(root_fd, "sys/devices/system/cpu/possible", listener->cpus,
                                 sizeof(listener->cpus)) <= 0)
                err = -ENODEV;
        if (!err) {
                listener->cpus[strcspn(listener->cpus, "\n")] = '\0';
                err = listen_for_ends(listener);
        }
        if (err) {
                taskstats_free(listener);
                return err;
        }
        *ret = listener;
        return 0;
}

void taskstats_free(struct taskstats_listener *listener)
{
        if (!listener)
                return;
        closep(&listener->fd);
        free(listener);
}

/*
 * The kernel reports the start in whole seconds: the end's second less the whole seconds between
 * (bacct_add_tsk()).
 */
static void read_thread(const struct taskstats *stats, struct ended_thread *ret)
{
        *ret = (struct ended_thread){
                .pid = (pid_t)stats->ac_pid,
                .tgid = (pid_t)stats->ac_tgid,
                .parent = (pid_t)stats->ac_ppid,
                .uid = stats->ac_uid,
                .last = stats->ac_flag & AGROUP,
                .lived_ns = stats->ac_etime * NS_PER_US,
                .ended_s = (stats->ac_btime64 ? stats->ac_btime64 : stats->ac_btime) + stats->ac_etime * NS_PER_US /
                           NS_PER_S,
                .cpu_ns = stats->cpu_run_virtual_total,
                .read_bytes = stats->read_bytes,
                .write_bytes = stats->write_bytes - MIN(stats->cancelled_write_bytes, stats->write_bytes),
        };
        snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)sizeof(stats->ac_comm), stats->ac_comm);
}

bool taskstats_parse(const void *message, size_t length, uint16_t family, struct ended_thread *ret)
{
        const struct nlmsghdr *head = message;
        const struct nlattr *group, *stats;
        struct taskstats copy;

        if (!NLMSG_OK(head, length) || head->nlmsg_type != family ||
            head->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
                return false;
        group = find_attribute((const char *)NLMSG_DATA(head) + GENL_HDRLEN,
                               (const char *)message + head->nlmsg_len, TASKSTATS_TYPE_AGGR_PID);
        if (!group)
                return false;
        stats = find_attribute(data_of(group), (const char *)group + group->nla_len, TASKSTATS_TYPE_STATS);
        if (!stats || (size_t)(stats->nla_len - NLA_HDRLEN) < offsetof(struct taskstats, ac_tgid) +
            sizeof(copy.ac_tgid))
                return false;
        memset(&copy, 0, sizeof(copy));
        memcpy(&copy, data_of(stats), MIN(sizeof(copy), (size_t)(stats->nla_len - NLA_HDRLEN)));
        if (copy.version < VERSION_WITH_TGID)
                return false;
        read_thread(&copy, ret);
        return true;
}

int taskstats_read(struct taskstats_listener *listener,
                   int (*ended)(void *data, const struct ended_thread *thread), void *data)
{
        _Alignas(8) char buf[8192];
        ssize_t length;
        bool lost = false;

        while ((length = recv(listener->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0 ||
               (length < 0 && errno == ENOBUFS)) {
                struct ended_thread thread;
                int err;

                if (length < 0) {
                        lost = true;
                        continue;
                }
                if (!taskstats_parse(buf, (size_t)length, listener->family, &thread))
                        continue;
                err = ended(data, &thread);
                if (err)
                        return err;
        }
        return lost ? -ENOBUFS : 0;
}
