/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The work is done in a child process, so that "stop" is a signal and takes effect at once, whatever libcurl
 * or libiperf wait for. The counts are in shared memory.
 */

#include <stdint.h>

#include "request.h"

struct tally {
        volatile uint64_t rx_bytes; /* payload and headers as the library shows them, not the wire's */
        volatile uint64_t tx_bytes;
        volatile uint32_t bursts;
        char error[256]; /* a sentence, when the work returned an error */
};

/* Each runs until an end condition of @request. 0, or a negative errno with a sentence in tally->error. */
int receive_from_url(const struct request *request, struct tally *tally);
int peer_exchange(const struct request *request, struct tally *tally);
int wake(const struct request *request, struct tally *tally);

/* CLOCK_MONOTONIC. */
uint64_t traffic_now_ns(void);
void traffic_sleep_s(double seconds);

/* Writes the error message and returns @err. */
int traffic_fail(struct tally *tally, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
