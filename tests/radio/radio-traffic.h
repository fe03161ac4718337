/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Apps' traffic, packet by packet, and random automata. The same seed gives the same results. */

#include "radio/radio.h"

enum traffic_pattern {
        TRAFFIC_CALL,
        TRAFFIC_SSH,
        TRAFFIC_GAME,
        TRAFFIC_STREAM,
        TRAFFIC_MAIL,
        TRAFFIC_DOWNLOAD,
        TRAFFIC_ALL, /* all of the above, each with its own owner */
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

/* There are no packets in the last two minutes. */
void traffic_make(struct traffic *traffic, enum traffic_pattern pattern, double seconds, uint64_t seed);
void traffic_clear(struct traffic *traffic);
/* Text of a [radio r] like WiFi, 3G or LTE, with timers, powers, promotions and thresholds at random. */
void traffic_automaton(char *text, size_t size, uint64_t seed);
