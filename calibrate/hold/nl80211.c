/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nl80211.h"

#include <errno.h>
#include <linux/nl80211.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>


#define ANSWER_S 5 /* the kernel answers at once; only against one that does not */

struct nl80211 {
        struct nl_sock *socket;
        int family;
};

/* libnl's own errors, and the kernel's, as errno. */
static int errno_from_nl(int err)
{
        switch (abs(err)) {
        case NLE_SUCCESS:
                return 0;
        case NLE_NOMEM:
                return -ENOMEM;
        case NLE_OBJ_NOTFOUND:
        case NLE_NODEV:
        case NLE_AF_NOSUPPORT: /* a kernel without generic netlink has no nl80211 either */
        case NLE_PROTO_MISMATCH:
                return -ENODEV;
        case NLE_PERM:
        case NLE_NOACCESS:
                return -EPERM;
        case NLE_AGAIN:
                return -ETIMEDOUT;
        default:
                return -EIO;
        }
}

int nl80211_open(struct nl80211 **ret)
{
        const struct timeval patience = { .tv_sec = ANSWER_S };
        struct nl80211 *nl = calloc(1, sizeof(*nl));
        int err;

        if (!nl)
                return -ENOMEM;
        nl->socket = nl_socket_alloc();
        err = nl->socket ? errno_from_nl(genl_connect(nl->socket)) : -ENOMEM;
        if (!err) {
                setsockopt(nl_socket_get_fd(nl->socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
                           sizeof(patience));
                nl->family = genl_ctrl_resolve(nl->socket, NL80211_GENL_NAME);
                err = nl->family < 0 ? -ENODEV : 0;
        }
        if (err) {
                nl80211_close(nl);
                return err;
        }
        *ret = nl;
        return 0;
}

void nl80211_close(struct nl80211 *nl)
{
        if (!nl)
                return;
        nl_socket_free(nl->socket);
        free(nl);
}

/* ---- one question ---- */

struct answer {
        int (*take)(struct nlattr *const *attributes, void *data); /* called for each message */
        void *data;
        int err;
        bool over; /* the end was received, too: it must not be taken for the next answer */
};

static int on_valid(struct nl_msg *message, void *data)
{
        struct answer *answer = data;
        struct genlmsghdr *header = nlmsg_data(nlmsg_hdr(message));
        struct nlattr *attributes[NL80211_ATTR_MAX + 1];
        int err;

        if (nla_parse(attributes, NL80211_ATTR_MAX, genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
                      NULL) < 0)
                return NL_SKIP;
        err = answer->take ? answer->take(attributes, answer->data) : 0;
        if (!answer->err)
                answer->err = err;
        return NL_SKIP;
}

static int on_end(struct nl_msg *message, void *data)
{
        ((struct answer *)data)->over = true;
        return NL_STOP;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *data)
{
        struct answer *answer = data;

        answer->err = error->error < 0 ? error->error : -EIO;
        answer->over = true;
        return NL_STOP;
}

static int receive(struct nl80211 *nl, struct answer *answer)
{
        struct nl_cb *callbacks = nl_cb_alloc(NL_CB_DEFAULT);

        if (!callbacks)
                return -ENOMEM;
        nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, on_valid, answer);
        nl_cb_set(callbacks, NL_CB_FINISH, NL_CB_CUSTOM, on_end, answer);
        nl_cb_set(callbacks, NL_CB_ACK, NL_CB_CUSTOM, on_end, answer);
        nl_cb_err(callbacks, NL_CB_CUSTOM, on_error, answer);
        while (!answer->over) {
                int err = nl_recvmsgs(nl->socket, callbacks);

                if (err >= 0 || answer->over)
                        continue;
                answer->err = errno_from_nl(err);
                answer->over = true;
        }
        nl_cb_put(callbacks);
        return answer->err;
}

/* @value: of NL80211_ATTR_PS_STATE; negative: none */
static int ask(struct nl80211 *nl, const char *interface, uint8_t command, int flags, int value,
               int (*take)(struct nlattr *const *attributes, void *data), void *data)
{
        struct answer answer = { .take = take, .data = data };
        unsigned index = if_nametoindex(interface);
        struct nl_msg *message = index ? nlmsg_alloc() : NULL;
        int err;

        if (!message)
                return index ? -ENOMEM : -ENODEV;
        if (!genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, flags, command, 0) ||
            nla_put_u32(message, NL80211_ATTR_IFINDEX, index) < 0 ||
            (value >= 0 && nla_put_u32(message, NL80211_ATTR_PS_STATE, (uint32_t)value) < 0))
                err = -ENOMEM;
        else
                err = nl_send_auto(nl->socket, message);
        nlmsg_free(message);
        return err < 0 ? errno_from_nl(err) : receive(nl, &answer);
}

/* ---- queries ---- */

static int take_type(struct nlattr *const *attributes, void *data)
{
        const struct nlattr *type = attributes[NL80211_ATTR_IFTYPE];

        if (!type || nla_len(type) < (int)sizeof(uint32_t))
                return -EBADMSG;
        return nla_get_u32(type) == NL80211_IFTYPE_STATION ? 0 : -EOPNOTSUPP;
}

int nl80211_is_client(struct nl80211 *nl, const char *interface)
{
        return ask(nl, interface, NL80211_CMD_GET_INTERFACE, 0, -1, take_type, NULL);
}

/* Answers are untrusted: lengths are checked before anything is read. */
int nl80211_parse_station(const void *attributes, size_t length, struct nl80211_station *ret)
{
        struct nlattr *info[NL80211_STA_INFO_MAX + 1];
        struct nl80211_station station = { .associated = true }; /* older kernels list no flags */
        const struct nlattr *signal, *flags;

        if (length > INT16_MAX ||
            nla_parse(info, NL80211_STA_INFO_MAX, (struct nlattr *)attributes, (int)length, NULL) < 0)
                return -EBADMSG;
        signal = info[NL80211_STA_INFO_SIGNAL];
        flags = info[NL80211_STA_INFO_STA_FLAGS];
        if (signal && nla_len(signal) >= 1)
                station.signal_dbm = *(const int8_t *)nla_data(signal);
        if (flags && nla_len(flags) >= (int)sizeof(struct nl80211_sta_flag_update)) {
                const struct nl80211_sta_flag_update *update = nla_data(flags);
                const uint32_t wanted = 1u << NL80211_STA_FLAG_ASSOCIATED | 1u << NL80211_STA_FLAG_AUTHORIZED;

                station.associated = (update->set & wanted) == (update->mask & wanted);
        }
        *ret = station;
        return 0;
}

static int take_station(struct nlattr *const *attributes, void *data)
{
        const struct nlattr *info = attributes[NL80211_ATTR_STA_INFO];

        return info ? nl80211_parse_station(nla_data(info), (size_t)nla_len(info), data) : -EBADMSG;
}

int nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret)
{
        struct nl80211_station station = { 0 };
        int err = ask(nl, interface, NL80211_CMD_GET_STATION, NLM_F_DUMP, -1, take_station, &station);

        if (err && err != -ENETDOWN)
                return err;
        *ret = station;
        return 0;
}

static int take_power_save(struct nlattr *const *attributes, void *data)
{
        const struct nlattr *state = attributes[NL80211_ATTR_PS_STATE];

        if (!state || nla_len(state) < (int)sizeof(uint32_t))
                return -EBADMSG;
        *(bool *)data = nla_get_u32(state) == NL80211_PS_ENABLED;
        return 0;
}

int nl80211_power_save(struct nl80211 *nl, const char *interface, bool *ret)
{
        return ask(nl, interface, NL80211_CMD_GET_POWER_SAVE, 0, -1, take_power_save, ret);
}

int nl80211_set_power_save(struct nl80211 *nl, const char *interface, bool on)
{
        return ask(nl, interface, NL80211_CMD_SET_POWER_SAVE, NLM_F_ACK,
                   on ? NL80211_PS_ENABLED : NL80211_PS_DISABLED, NULL, NULL);
}
