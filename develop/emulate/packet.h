/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* IPv4 packets as a TUN device gives them, and the addresses in an emulated app's network. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAX 65536
#define PACKET_MTU 1500

/* Addresses in host order, from the range reserved for network benchmarks (RFC 2544). */
#define PACKET_APP UINT32_C(0xc6120001)       /* 198.18.0.1, the app's interface */
#define PACKET_APP_LOCAL UINT32_C(0xc6120002) /* 198.18.0.2 stands for the app's 127.0.0.1 outside of its namespace */
#define PACKET_HOST_LOCAL UINT32_C(0xc6130000) /* 198.19.y.z stands for the host's 127.0.y.z there */
#define PACKET_LOCALHOST UINT32_C(0x7f000001)

/* Both ends; ports are 0 where there are none. */
struct packet_flow {
        uint32_t from, to;
        uint16_t from_port, to_port;
        uint8_t protocol;
};

struct packet {
        struct packet_flow flow;
        bool first;  /* not a later fragment, so it has the ports */
        bool whole;  /* not a fragment */
        uint16_t id; /* all fragments of a packet have the same */
        bool opens;  /* TCP: SYN without ACK */
        bool accepts; /* TCP: SYN with ACK */
};

/* Reads the headers of a packet. False: it is no complete IPv4 packet. */
bool packet_read(const uint8_t *bytes, size_t length, struct packet *ret);
/* Changes both addresses, and the checksums with them. @bytes: as packet_read() accepts it. */
void packet_readdress(uint8_t *bytes, size_t length, uint32_t from, uint32_t to);

#define PACKET_DATAGRAM_HEAD 28 /* headers of IP and UDP */
/* Finds the payload of a UDP datagram, by its offset in the packet. False: it is no UDP datagram, or a fragment. */
bool packet_datagram(const uint8_t *bytes, size_t length, size_t *ret_start, size_t *ret_length);
/*
 * Writes the headers of a UDP datagram with @length bytes of payload, with its headers at most PACKET_MTU. It has no
 * UDP checksum, which the protocol allows.
 */
void packet_datagram_head(const struct packet_flow *flow, size_t length, uint8_t ret[PACKET_DATAGRAM_HEAD]);

/* The peer's address as the app sees it: on the link, PACKET_HOST_LOCAL stands for the host's loopback. */
static inline uint32_t packet_peer(uint32_t address)
{
        return address >> 16 == PACKET_HOST_LOCAL >> 16 ?
                       (PACKET_LOCALHOST & 0xff000000) | (address & 0xffff) :
                       address;
}

static inline bool packet_is_loopback(uint32_t address)
{
        return address >> 24 == 127;
}
