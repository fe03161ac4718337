/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "capture.h"
#include "fuzz.h"
#include "gzip/gzip.h"

/* A file of packets, each with headers of any link, of a device with three addresses. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct capture_addresses own = { .n = 0 };
        struct capture_headers headers;
        struct capture *capture;
        struct captured packet;
        FILE *file;

        if (size == 0 || gzip_unpack(fmemopen((void *)(uintptr_t)data, size, "r"), &file) < 0)
                return 0;
        fuzz_assert(capture_take_address("198.18.0.1", &own) == 0 && capture_take_address("198.18.0.2", &own) == 0);
        fuzz_assert(capture_take_address("2001:db8::1", &own) == 0 && capture_take_address("2001:db8::1/64", &own) < 0);
        if (capture_open(file, "fuzz", NULL, &capture) < 0)
                return 0;
        while (capture_next(capture, &packet) == 1) {
                fuzz_assert(packet.time_ns >= 0 && packet.kept <= packet.length);
                for (int link = CAPTURE_IP; link <= CAPTURE_LOOPBACK; link++) {
                        enum capture_kind kind =
                                capture_read_headers((enum capture_link)link, packet.bytes, packet.kept,
                                                     packet.length, &own, &headers);

                        if (kind == CAPTURE_RADIO)
                                fuzz_assert(headers.bytes <= packet.length && headers.direction < RADIO_DIRECTIONS);
                }
        }
        capture_close(capture);
        return 0;
}
