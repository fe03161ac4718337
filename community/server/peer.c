/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

/* An address as IPv6; IPv4 is mapped into it. */
static bool as_six(const struct sockaddr *address, struct in6_addr *ret)
{
        if (address && address->sa_family == AF_INET6) {
                *ret = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
                return true;
        }
        if (!address || address->sa_family != AF_INET)
                return false;
        *ret = (struct in6_addr){ .s6_addr = { [10] = 0xFF, [11] = 0xFF } };
        memcpy(&ret->s6_addr[12], &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return true;
}

static bool parse(const char *text, struct in6_addr *ret)
{
        char word[INET6_ADDRSTRLEN];
        struct in_addr four;
        size_t length;

        text += strspn(text, " [");
        length = strcspn(text, " ]%");
        if (length >= sizeof(word))
                return false;
        memcpy(word, text, length);
        word[length] = '\0';
        if (inet_pton(AF_INET, word, &four) == 1) {
                *ret = (struct in6_addr){ .s6_addr = { [10] = 0xFF, [11] = 0xFF } };
                memcpy(&ret->s6_addr[12], &four, 4);
                return true;
        }
        return inet_pton(AF_INET6, word, ret) == 1;
}

static bool is_local(const struct in6_addr *address)
{
        return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

void peer_find(const struct sockaddr *address, const char *forwarded, struct peer *ret)
{
        struct in6_addr six, other;

        *ret = (struct peer){ .address = "unknown", .network = "unknown" };
        if (!as_six(address, &six))
                return;
        ret->local = is_local(&six) && !forwarded;
        if (forwarded && is_local(&six)) {
                const char *comma = strrchr(forwarded, ',');

                if (parse(comma ? comma + 1 : forwarded, &other))
                        six = other;
        }
        inet_ntop(AF_INET6, &six, ret->address, sizeof(ret->address));
        if (IN6_IS_ADDR_V4MAPPED(&six))
                snprintf(ret->network, sizeof(ret->network), "%u.%u.%u", six.s6_addr[12], six.s6_addr[13],
                         six.s6_addr[14]);
        else
                snprintf(ret->network, sizeof(ret->network), "%02x%02x:%02x%02x:%02x%02x", six.s6_addr[0],
                         six.s6_addr[1], six.s6_addr[2], six.s6_addr[3], six.s6_addr[4], six.s6_addr[5]);
}
