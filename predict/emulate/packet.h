/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* IPv4 packets as a TUN device gives them, and the addresses that an emulated app's network uses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAX 65536
#define PACKET_MTU 1500

/* Addresses in host order, of the range for tests of networks (RFC 2544). */
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
        bool first;  /* it has the ports: no later fragment */
        bool whole;  /* no fragment */
        uint16_t id; /* all fragments of a packet have the same */
        bool opens;  /* TCP: SYN without ACK */
        bool accepts; /* TCP: SYN with ACK */
};

/* False: no whole IPv4 packet. */
bool packet_read(const uint8_t *bytes, size_t length, struct packet *ret);
/* Changes both addresses, and the checksums with them. @bytes: as packet_read() accepts it. */
void packet_readdress(uint8_t *bytes, size_t length, uint32_t from, uint32_t to);

#define PACKET_DATAGRAM_HEAD 28 /* headers of IP and UDP */
/* What a whole datagram of UDP carries, which begins @ret_start bytes in it. False: it is none, or a fragment. */
bool packet_datagram(const uint8_t *bytes, size_t length, size_t *ret_start, size_t *ret_length);
/* Writes the headers of one that carries @length bytes, with them at most PACKET_MTU; it has no checksum, as UDP allows. */
void packet_datagram_head(const struct packet_flow *flow, size_t length, uint8_t ret[PACKET_DATAGRAM_HEAD]);

/* The far address as the app has it: on the link those of the host's loopback are others. */
static inline uint32_t packet_peer(uint32_t address)
{
        return address >> 16 == PACKET_HOST_LOCAL >> 16 ? (PACKET_LOCALHOST & 0xff000000) | (address & 0xffff) : address;
}

static inline bool packet_is_loopback(uint32_t address)
{
        return address >> 24 == 127;
}
