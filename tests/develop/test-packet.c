/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packets of a TUN device: what is read of them, and checksums after their addresses changed. */

#include "check.h"

#include "packet.h"
#include "util/util.h"

static uint16_t sum(const uint8_t *bytes, size_t n, uint32_t start)
{
        for (size_t i = 0; i < n; i++)
                start += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
        while (start >> 16)
                start = (start & 0xffff) + (start >> 16);
        return (uint16_t)~start;
}

/* 0 where the checksum of the header, or of TCP and UDP, is right. */
static uint16_t header_sum(const uint8_t *packet)
{
        return sum(packet, 20, 0);
}

static uint16_t payload_sum(const uint8_t *packet, size_t length)
{
        uint32_t start = (uint32_t)packet[9] + (uint32_t)(length - 20);

        for (int i = 12; i < 20; i += 2)
                start += (uint32_t)(packet[i] << 8 | packet[i + 1]);
        return sum(packet + 20, length - 20, start);
}

static void put16(uint8_t *at, unsigned value)
{
        at[0] = (uint8_t)(value >> 8);
        at[1] = (uint8_t)value;
}

static size_t make(uint8_t *packet, uint8_t protocol, unsigned seed)
{
        size_t at = protocol == 6 ? 36 : 26, length = 60;

        memset(packet, 0, length);
        packet[0] = 0x45;
        put16(packet + 2, (unsigned)length);
        packet[8] = 64;
        packet[9] = protocol;
        for (size_t i = 12; i < length; i++)
                packet[i] = (uint8_t)((i + seed) * 37 + seed);
        put16(packet + 10, 0);
        put16(packet + 10, header_sum(packet));
        if (protocol == 17)
                put16(packet + 24, 40);
        put16(packet + at, 0);
        put16(packet + at, payload_sum(packet, length));
        return length;
}

static void test_readdress(void)
{
        uint8_t packet[64];

        for (unsigned i = 0; i < 200; i++) {
                uint8_t protocol = i % 2 ? 6 : 17;
                size_t length = make(packet, protocol, i);
                struct packet read;

                check_int(payload_sum(packet, length), 0);
                packet_readdress(packet, length, PACKET_APP_LOCAL, PACKET_HOST_LOCAL | i);
                check_int(header_sum(packet), 0);
                check_int(payload_sum(packet, length), 0);
                check(packet_read(packet, length, &read));
                check_int(read.flow.from, PACKET_APP_LOCAL);
                check_int(read.flow.to, PACKET_HOST_LOCAL | i);
        }
        /* Without a checksum UDP stays without one. */
        size_t length = make(packet, 17, 1);
        put16(packet + 26, 0);
        packet_readdress(packet, length, 1, 2);
        check_int(packet[26] << 8 | packet[27], 0);
}

static void test_refused(void)
{
        uint8_t packet[64];
        struct packet read;
        size_t length = make(packet, 6, 1);

        check(packet_read(packet, length, &read));
        check(read.first);
        for (size_t i = 0; i < length; i++)
                check(!packet_read(packet, i, &read));
        packet[0] = 0x4f; /* options, which leave no room for TCP */
        check(!packet_read(packet, length, &read));
        packet[0] = 0x65;
        check(!packet_read(packet, length, &read));
        packet[0] = 0x45;
        put16(packet + 6, 100); /* a later fragment has no ports */
        check(packet_read(packet, length, &read));
        check(!read.first && !read.opens && read.flow.to_port == 0);
}

static void test_datagram(void)
{
        const struct packet_flow flow = { PACKET_HOST_LOCAL | 1, PACKET_APP_LOCAL, 53, 40000, 17 };
        uint8_t packet[64] = { 0 };
        size_t start, length;
        struct packet read;

        packet_datagram_head(&flow, 5, packet);
        memcpy(packet + PACKET_DATAGRAM_HEAD, "hello", 5);
        check_int(header_sum(packet), 0);
        check(packet_read(packet, PACKET_DATAGRAM_HEAD + 5, &read));
        check_int(read.flow.from, flow.from);
        check_int(read.flow.to, flow.to);
        check_int(read.flow.from_port, 53);
        check_int(read.flow.to_port, 40000);
        check(packet_datagram(packet, PACKET_DATAGRAM_HEAD + 5, &start, &length));
        check(length == 5 && memcmp(packet + start, "hello", 5) == 0);
        put16(packet + 24, 14); /* more than there is */
        check(!packet_datagram(packet, PACKET_DATAGRAM_HEAD + 5, &start, &length));
        put16(packet + 24, 7); /* less than its head */
        check(!packet_datagram(packet, PACKET_DATAGRAM_HEAD + 5, &start, &length));
        put16(packet + 24, 13);
        packet[6] = 0x20; /* the first fragment */
        check(!packet_datagram(packet, PACKET_DATAGRAM_HEAD + 5, &start, &length));
        check(!packet_datagram(packet, make(packet, 6, 1), &start, &length));
}

int main(void)
{
        test_readdress();
        test_refused();
        test_datagram();
        return check_result();
}
