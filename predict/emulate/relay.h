/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * From the middle network namespace to this machine's network. The app's TCP ends at a socket of the middle, which has
 * the address that the app asked for; what it says goes on over a socket of the machine's network. So no rule of the
 * machine's changes, and it needs no rights there. The SYN of a connection waits until the other one is
 * made, so that a port where nobody listens is refused to the app, too. UDP has sockets of both, too, but what fits into a packet
 * does not pass the middle.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio.h"

struct relay;

/* Gets a packet for the app that did not come through the middle; only valid during the call. */
typedef void relay_received(void *context, const uint8_t *bytes, size_t length);

/*
 * For how long bytes of TCP came (RADIO_RX) and were sent (RADIO_TX) more slowly than the emulated link would have carried them: by
 * this machine's network, or by the server.
 */
struct relay_slow {
        int64_t ns[RADIO_DIRECTIONS];
};

struct relay_plan {
        int maker;    /* of maker_start(), gives sockets of the machine's network */
        int tun;      /* of the middle namespace, to which packets go; both stay the caller's */
        bool outside; /* any address may be asked for, else only the machine's loopback */
        relay_received *received;
        void *context;
        struct relay_slow *slow; /* is added to */
};

/* 0; a negative errno. */
int relay_new(const struct relay_plan *plan, struct relay **ret);
void relay_free(struct relay *relay);
void relay_freep(struct relay **relay);
/* To poll; relay_work() when it is readable. */
int relay_fd(const struct relay *relay);
/* 0; -EPIPE: the maker is gone. */
int relay_work(struct relay *relay);
/* A packet of the app, which goes on now, by relay_flush(), later, or never. 0; -EPIPE. */
int relay_packet(struct relay *relay, const uint8_t *bytes, size_t length);
/* Sends what was kept to go together. To be called after the last of several packets. */
void relay_flush(struct relay *relay);

/*
 * What a packet to or from an address (as it is in the middle) waits in this machine's network: half of the time there and back
 * that its connections took at least, 0 before the first one. A packet that @accepts a connection,
 * whose first packet waited longer, is told the whole time for both.
 */
int64_t relay_host_ns(struct relay *relay, uint32_t address, bool accepts);

/*
 * A process in the present network namespace that makes sockets for others, over the descriptor @ret. It ends when the
 * other side is closed. Its pid; a negative errno.
 */
int maker_start(int *ret);
/* A new one that does not block: SOCK_STREAM or SOCK_DGRAM. -EPIPE: the process is gone. */
int maker_socket(int maker, int type);
