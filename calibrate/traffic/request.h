/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Requests to joulecast-traffic: one JSON object a line. Parsing is separate, so that tests and fuzzers need
 * no network.
 */

#include <stddef.h>
#include <stdint.h>

#define REQUEST_LINE_MAX 4096 /* with its newline */
#define WAKE_PACKET_BYTES_MAX 1200u

enum request_kind {
        REQUEST_RECEIVE,
        REQUEST_TRANSMIT,
        REQUEST_WAKE,
        REQUEST_STOP,
};

extern const char *const request_names[]; /* by kind, as in the JSON */

struct request {
        enum request_kind kind;
        char url[2048];       /* http or https; "" when a peer is named */
        char peer[256];       /* host of an `iperf3 -s`; for wake: any host */
        char interface[16];   /* the only one to use; "": by the machine's routes */
        uint16_t port;        /* the peer's */
        uint64_t bytes_per_s; /* receive, transmit */
        uint64_t bytes;       /* ends there; 0: no such limit */
        uint32_t bursts;      /* wake: ends there; 0: no such limit */
        double silence_s;     /* wake: between two bursts */
        uint32_t packets;     /* wake with a peer: of a burst ... */
        uint32_t packet_bytes; /* ... and of each, without headers */
        double seconds;       /* ends there at the latest */
};

/**
 * request_parse() - parse one line of the protocol
 * @error: gets a sentence for the answer if the line is not understood; @size bytes
 *
 * Return: 0; -EINVAL, and @error has the reason.
 */
int request_parse(const char *line, struct request *ret, char *error, size_t size);
