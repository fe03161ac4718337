/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What apps send and receive, packet by packet, and automata at random. The same seed gives the same. */

#include "radio/radio.h"

enum traffic_pattern {
        TRAFFIC_CALL,
        TRAFFIC_SSH,
        TRAFFIC_GAME,
        TRAFFIC_STREAM,
        TRAFFIC_MAIL,
        TRAFFIC_DOWNLOAD,
        TRAFFIC_ALL, /* of these, each an owner of its own */
        TRAFFIC_FEW, /* ssh and mail, likewise */
        TRAFFIC_PATTERNS
};
extern const char *const traffic_patterns[TRAFFIC_PATTERNS];

struct traffic_packet {
        int64_t time_ns;
        uint64_t owner; /* its pattern */
        enum radio_direction direction;
        uint64_t bytes;
};

struct traffic {
        struct traffic_packet *packets; /* ascending in time */
        size_t n, capacity;
        int64_t until_ns;
};

/* In the last two minutes nothing comes. */
void traffic_make(struct traffic *traffic, enum traffic_pattern pattern, double seconds, uint64_t seed);
void traffic_clear(struct traffic *traffic);
/* Text of a [radio r] like WiFi, 3G or LTE, with timers, powers, promotions and thresholds at random. */
void traffic_automaton(char *text, size_t size, uint64_t seed);
