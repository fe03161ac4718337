/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>

#define VLANS_MAX 2
#define IPV6_HEADER 40
#define IPV4_HEADER 20

static struct in6_addr of_ipv4(const uint8_t *bytes)
{
        struct in6_addr address = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

        memcpy(address.s6_addr + 12, bytes, 4);
        return address;
}

int capture_take_address(const char *text, void *data)
{
        struct capture_addresses *addresses = data;
        struct in6_addr address;
        struct in_addr ipv4;

        if (inet_pton(AF_INET, text, &ipv4) == 1)
                address = of_ipv4((const uint8_t *)&ipv4);
        else if (inet_pton(AF_INET6, text, &address) != 1)
                return -EINVAL;
        if (addresses->n == CAPTURE_ADDRESSES_MAX)
                return -E2BIG;
        addresses->list[addresses->n++] = address;
        return 0;
}

static uint16_t get16(const uint8_t *bytes)
{
        return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static bool is_own(const struct capture_addresses *own, const struct in6_addr *address)
{
        for (size_t i = 0; i < own->n; i++)
                if (IN6_ARE_ADDR_EQUAL(&own->list[i], address))
                        return true;
        return false;
}

/* A device that has no address yet sends from 0.0.0.0 or ::. */
static bool is_none(const struct in6_addr *address)
{
        static const uint8_t none[4];
        struct in6_addr ipv4 = of_ipv4(none);

        return IN6_IS_ADDR_UNSPECIFIED(address) || IN6_ARE_ADDR_EQUAL(&ipv4, address);
}

/* Is it for many or all devices? The highest four bits of such IPv4 addresses are 1110, or all bits are 1. */
static bool is_group(const struct in6_addr *address)
{
        static const uint8_t all[4] = { 255, 255, 255, 255 };
        struct in6_addr ipv4 = of_ipv4(all);

        return IN6_IS_ADDR_MULTICAST(address) || IN6_ARE_ADDR_EQUAL(&ipv4, address) ||
               (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] >> 4 == 14);
}

/* Is it ::1, or of 127.0.0.0/8? Such packets stay in the device, also if loopback was captured beside the radio. */
static bool is_loopback(const struct in6_addr *address)
{
        return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

/* Classifies a packet by its IP addresses. @group: the link's header tells that it is for many. */
static enum capture_kind read_ip(const uint8_t *bytes, size_t kept, bool group, const struct capture_addresses *own,
                                 struct capture_headers *ret)
{
        int version = kept ? bytes[0] >> 4 : 0;
        bool sent, received;

        if (kept && version != 4 && version != 6)
                return CAPTURE_NOT_IP;
        if (kept < (version == 4 ? IPV4_HEADER : IPV6_HEADER))
                return CAPTURE_CUT;
        if (version == 4) {
                ret->from = of_ipv4(bytes + 12);
                ret->to = of_ipv4(bytes + 16);
        } else {
                memcpy(&ret->from, bytes + 8, sizeof(ret->from));
                memcpy(&ret->to, bytes + 24, sizeof(ret->to));
        }
        sent = is_own(own, &ret->from) || is_none(&ret->from);
        received = is_own(own, &ret->to);
        ret->own = received || is_own(own, &ret->from);
        if ((sent && received) || (is_loopback(&ret->from) && is_loopback(&ret->to)))
                return CAPTURE_ELSEWHERE;
        if (!sent && !received && !group && !is_group(&ret->to))
                return CAPTURE_STRANGE;
        ret->direction = sent ? RADIO_TX : RADIO_RX;
        return CAPTURE_RADIO;
}

static enum capture_kind read_ethernet(const uint8_t *bytes, size_t kept, const struct capture_addresses *own,
                                       size_t *header, struct capture_headers *ret)
{
        uint16_t type;

        *header = ETH_HLEN;
        if (kept < ETH_HLEN)
                return CAPTURE_CUT;
        type = get16(bytes + 2 * ETH_ALEN);
        for (int i = 0; i < VLANS_MAX && (type == ETH_P_8021Q || type == ETH_P_8021AD || type == ETH_P_QINQ1); i++) {
                *header += 4;
                if (kept < *header)
                        return CAPTURE_CUT;
                type = get16(bytes + *header - 2);
        }
        if (type != ETH_P_IP && type != ETH_P_IPV6)
                return CAPTURE_NOT_IP;
        return read_ip(bytes + *header, kept - *header, bytes[0] & 1, own, ret);
}

/* @type: a number of linux/if_packet.h; @device: one of linux/if_arp.h. */
static enum capture_kind read_cooked(unsigned type, unsigned device, struct capture_headers *ret)
{
        if (device == ARPHRD_LOOPBACK || type == PACKET_OTHERHOST || type > PACKET_OUTGOING)
                return CAPTURE_ELSEWHERE;
        ret->direction = type == PACKET_OUTGOING ? RADIO_TX : RADIO_RX;
        return CAPTURE_RADIO;
}

enum capture_kind capture_read_headers(enum capture_link link, const uint8_t *bytes, size_t kept, uint32_t length,
                                       const struct capture_addresses *own, struct capture_headers *ret)
{
        static const size_t headers[] = { [CAPTURE_COOKED] = 16, [CAPTURE_COOKED_2] = 20, [CAPTURE_LOOPBACK] = 4 };
        size_t header = link == CAPTURE_ETHERNET ? ETH_HLEN : headers[link];
        enum capture_kind kind;

        if (kept < header)
                return CAPTURE_CUT;
        switch (link) {
        case CAPTURE_ETHERNET:
                kind = read_ethernet(bytes, kept, own, &header, ret);
                break;
        case CAPTURE_COOKED:
                kind = read_cooked(get16(bytes), get16(bytes + 2), ret);
                break;
        case CAPTURE_COOKED_2:
                kind = read_cooked(bytes[10], get16(bytes + 8), ret);
                break;
        default:
                kind = read_ip(bytes + header, kept - header, false, own, ret);
        }
        ret->bytes = length - (uint32_t)header;
        return kind;
}
