/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packet.h"

#include <netinet/in.h>

#define FRAGMENT_OFFSET 0x1fff
#define FRAGMENTS_FOLLOW 0x2000
#define FRAGMENT_NEVER 0x4000
#define TIME_TO_LIVE 64
#define TCP_CHECKSUM 16
#define UDP_CHECKSUM 6
#define TCP_FLAGS 13
#define TCP_SYN 0x02
#define TCP_ACK 0x10

static uint16_t get16(const uint8_t *bytes)
{
        return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t get32(const uint8_t *bytes)
{
        return (uint32_t)get16(bytes) << 16 | get16(bytes + 2);
}

static void put16(uint8_t *bytes, uint16_t value)
{
        bytes[0] = (uint8_t)(value >> 8);
        bytes[1] = (uint8_t)value;
}

static void put32(uint8_t *bytes, uint32_t value)
{
        put16(bytes, (uint16_t)(value >> 16));
        put16(bytes + 2, (uint16_t)value);
}

static size_t header_length(const uint8_t *bytes)
{
        return (size_t)(bytes[0] & 15) * 4;
}

bool packet_read(const uint8_t *bytes, size_t length, struct packet *ret)
{
        struct packet packet = { 0 };
        size_t header;

        if (length < 20 || bytes[0] >> 4 != 4)
                return false;
        header = header_length(bytes);
        if (header < 20 || header > length || get16(bytes + 2) != length)
                return false;
        packet.flow = (struct packet_flow){ .from = get32(bytes + 12), .to = get32(bytes + 16), .protocol = bytes[9] };
        packet.id = get16(bytes + 4);
        packet.whole = (get16(bytes + 6) & (FRAGMENT_OFFSET | FRAGMENTS_FOLLOW)) == 0;
        packet.first = (get16(bytes + 6) & FRAGMENT_OFFSET) == 0;
        if (packet.first && (bytes[9] == IPPROTO_TCP || bytes[9] == IPPROTO_UDP)) {
                if (length < header + (bytes[9] == IPPROTO_TCP ? 20 : 8))
                        return false;
                packet.flow.from_port = get16(bytes + header);
                packet.flow.to_port = get16(bytes + header + 2);
                if (bytes[9] == IPPROTO_TCP) {
                        unsigned flags = bytes[header + TCP_FLAGS] & (TCP_SYN | TCP_ACK);

                        packet.opens = flags == TCP_SYN;
                        packet.accepts = flags == (TCP_SYN | TCP_ACK);
                }
        }
        *ret = packet;
        return true;
}

/* RFC 1624: a ones' complement sum after one of its words changed. */
static uint16_t change(uint16_t sum, uint16_t old, uint16_t new)
{
        uint32_t value = (uint32_t)(uint16_t)~sum + (uint16_t)~old + new;

        value = (value & 0xffff) + (value >> 16);
        value = (value & 0xffff) + (value >> 16);
        return (uint16_t)~value;
}

static void change_at(uint8_t *sum, const uint8_t *old, const uint8_t *new)
{
        uint16_t value = get16(sum);

        for (int i = 0; i < 8; i += 2)
                value = change(value, get16(old + i), get16(new + i));
        put16(sum, value);
}

void packet_readdress(uint8_t *bytes, size_t length, uint32_t from, uint32_t to)
{
        size_t header = header_length(bytes);
        bool first = (get16(bytes + 6) & FRAGMENT_OFFSET) == 0;
        uint8_t new[8];

        put32(new, from);
        put32(new + 4, to);
        change_at(bytes + 10, bytes + 12, new);
        if (first && bytes[9] == IPPROTO_TCP && length >= header + 20)
                change_at(bytes + header + TCP_CHECKSUM, bytes + 12, new);
        /* In UDP, a checksum of 0 means that there is none. */
        if (first && bytes[9] == IPPROTO_UDP && length >= header + 8 && get16(bytes + header + UDP_CHECKSUM)) {
                change_at(bytes + header + UDP_CHECKSUM, bytes + 12, new);
                if (!get16(bytes + header + UDP_CHECKSUM))
                        put16(bytes + header + UDP_CHECKSUM, 0xffff);
        }
        for (int i = 0; i < 8; i++)
                bytes[12 + i] = new[i];
}

bool packet_datagram(const uint8_t *bytes, size_t length, size_t *ret_start, size_t *ret_length)
{
        struct packet packet;
        size_t header, whole;

        if (!packet_read(bytes, length, &packet) || packet.flow.protocol != IPPROTO_UDP || !packet.whole)
                return false;
        header = header_length(bytes);
        whole = get16(bytes + header + 4);
        if (whole < 8 || whole > length - header)
                return false;
        *ret_start = header + 8;
        *ret_length = whole - 8;
        return true;
}

void packet_datagram_head(const struct packet_flow *flow, size_t length, uint8_t ret[PACKET_DATAGRAM_HEAD])
{
        uint32_t sum = 0;

        for (int i = 0; i < PACKET_DATAGRAM_HEAD; i++)
                ret[i] = 0;
        ret[0] = 4 << 4 | 5;
        put16(ret + 2, (uint16_t)(length + PACKET_DATAGRAM_HEAD));
        put16(ret + 6, FRAGMENT_NEVER);
        ret[8] = TIME_TO_LIVE;
        ret[9] = IPPROTO_UDP;
        put32(ret + 12, flow->from);
        put32(ret + 16, flow->to);
        for (int i = 0; i < 20; i += 2)
                sum += get16(ret + i);
        sum = (sum & 0xffff) + (sum >> 16);
        put16(ret + 10, (uint16_t)~((sum & 0xffff) + (sum >> 16)));
        put16(ret + 20, flow->from_port);
        put16(ret + 22, flow->to_port);
        put16(ret + 24, (uint16_t)(length + 8));
}
