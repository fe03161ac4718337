/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Relays packets between the middle network namespace and this machine's network. The app's TCP ends at a socket of the
 * middle that has the address to which the app connects; its bytes go on over a socket of the machine's network. So no
 * rule of the machine changes, and no rights are needed there. The SYN of the app's connection waits until the other
 * connection is made, so that a port where nobody listens is refused to the app, too. UDP also has sockets of both,
 * but datagrams that fit into a packet do not pass through the middle.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/radio.h"

struct relay;

/* Gets a packet for the app that did not come through the middle; only valid during the call. */
typedef void relay_received(void *context, const uint8_t *bytes, size_t length);

/*
 * For how long bytes of TCP came (RADIO_RX) and were sent (RADIO_TX) more slowly than the emulated link
 * would have carried them, because this machine's network or the server was slower.
 */
struct relay_slow {
        int64_t ns[RADIO_DIRECTIONS];
};

struct relay_plan {
        int maker;    /* descriptor of maker_start(), for sockets of the machine's network; stays the caller's */
        int tun;      /* device of the middle namespace to which packets go; stays the caller's */
        bool outside; /* the app may reach any address, else only the machine's loopback */
        relay_received *received;
        void *context;
        struct relay_slow *slow; /* slow times are added to it */
};

/* 0; a negative errno. */
int relay_new(const struct relay_plan *plan, struct relay **ret);
void relay_free(struct relay *relay);
/* Descriptor to poll; call relay_work() when it is readable. */
int relay_fd(const struct relay *relay);
/* 0; -EPIPE: the maker is gone. */
int relay_work(struct relay *relay);
/* Takes a packet of the app, which is sent now, by relay_flush(), later, or never. 0; -EPIPE. */
int relay_packet(struct relay *relay, const uint8_t *bytes, size_t length);
/* Sends the packets that were kept to go together. To be called after the last of several packets. */
void relay_flush(struct relay *relay);

/*
 * Delay of a packet to or from an address (as it is in the middle) in this machine's network: half of the least round
 * trip of the address's connections, 0 before the first one. A packet that @accepts a connection from whose SYN no
 * delay was subtracted gets the whole round trip, for both packets.
 */
int64_t relay_host_ns(struct relay *relay, uint32_t address, bool accepts);

/*
 * Starts a process in the present network namespace that makes sockets for others, over the descriptor @ret. It ends
 * when @ret is closed. Returns its pid or a negative errno.
 */
int maker_start(int *ret);
/* Gets a new socket that does not block. @type: SOCK_STREAM or SOCK_DGRAM. -EPIPE: the process is gone. */
int maker_socket(int maker, int type);
