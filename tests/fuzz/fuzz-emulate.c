/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "dns.h"
#include "fuzz.h"
#include "network.h"
#include "packet.h"
#include "util/util.h"

/*
 * Inputs of `joulecast emulate`: a network's file, packets of the app, and DNS replies; all parsers read
 * the same bytes.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct name_record names[8];
        struct network network = { 0 };
        struct packet packet;
        uint8_t bytes[2048];
        size_t n = dns_answer(data, size, names, ARRAY_SIZE(names)), start, length;

        fuzz_assert(n <= ARRAY_SIZE(names));
        for (size_t i = 0; i < n; i++)
                fuzz_assert(*names[i].name && strlen(names[i].name) < sizeof(names[i].name));
        if (network_parse((const char *)data, size, "fuzz", NULL, &network) == 0)
                for (int d = 0; d < RADIO_DIRECTIONS; d++)
                        fuzz_assert(network.way[d].kbps >= 0 && network_draw_ms(network.way[d].delay_ms,
                                    network.way[d].delay_sd_ms) <= network.way[d].delay_ms);
        if (packet_datagram(data, size, &start, &length))
                fuzz_assert(start <= size && length <= size - start);
        if (size <= sizeof(bytes)) {
                memcpy(bytes, data, size);
                if (packet_read(bytes, size, &packet)) {
                        packet_readdress(bytes, size, PACKET_LOCALHOST, PACKET_HOST_LOCAL);
                        fuzz_assert(packet_read(bytes, size, &packet) && packet.flow.from == PACKET_LOCALHOST);
                }
        }
        return 0;
}
