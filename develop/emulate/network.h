/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A network as its app meets it: rates, delay, loss and queue, from a file of data/networks or the user's. Its weather
 * (delay and loss) follows from a seed alone, so that a run can be repeated under the same one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "radio/radio.h"
#include "util/log.h"

#define NETWORK_TEXT_MAX 160

enum network_kind {
        NETWORK_WIFI,     /* priced by [radio wifi] */
        NETWORK_CELLULAR, /* priced by [radio cellular] */
};

/* Rate and delay of one direction (enum radio_direction). */
struct network_way {
        double kbps;             /* rate in kbit/s, counting whole IP packets; 0: unlimited */
        double delay_ms, delay_sd_ms;
};

/* Loss by the model of Gilbert and Elliott: probabilities for each packet. All 0: nothing is lost. */
struct network_loss {
        double to_bad, to_good;  /* probability that the state changes before a packet */
        double in_bad, in_good;  /* probability that a packet is lost in that state */
};

struct network {
        char name[RADIO_NAME_MAX];
        enum network_kind kind;
        char radio[RADIO_NAME_MAX];   /* file of data/radios, and its radio, for a profile without its own; "": none */
        char carrier[RADIO_NAME_MAX]; /* "": that radio's own timers */
        struct network_way way[RADIO_DIRECTIONS];
        struct network_loss loss;
        double knot_ms;               /* interval at which the delay is drawn anew; it is smooth in between */
        double queue_ms;              /* packets that would wait for longer are dropped; 0: no limit */
        char source[NETWORK_TEXT_MAX];
};

/* @name: a network that comes with joulecast, or a path of a file. 0, or a negative errno after a sentence to @log. */
int network_load(const char *name, const struct log *log, struct network *ret);
/* The same from a text; @name is used in its errors. 0; -EINVAL after its sentence. */
int network_parse(const char *text, size_t length, const char *name, const struct log *log, struct network *ret);

/*
 * Mean of the normal distribution from which delays are drawn so that their mean is @mean_ms: values below 0 count as
 * 0, as such delays do not exist, which makes the mean of the delays larger.
 */
double network_draw_ms(double mean_ms, double sd_ms);

struct weather {
        const struct network *network;
        uint64_t seed;
        uint64_t draws[RADIO_DIRECTIONS]; /* number of packets for which a loss was drawn */
        bool bad[RADIO_DIRECTIONS];
        struct {
                int64_t host_ns;
                double draw_ms;
        } law[RADIO_DIRECTIONS];     /* the last result of network_draw_ms(), for this @host_ns */
        struct {
                uint64_t knot;
                double values[2];    /* at this knot and at the next one */
        } span[RADIO_DIRECTIONS];    /* the knots that were used last */
};

void weather_start(struct weather *weather, const struct network *network, uint64_t seed);
/*
 * Delay at a time since the run began, in ns: a function of seed, direction and time, so it does not depend
 * on packets. @host_ns, which the packet waits elsewhere, is subtracted from its mean; 0 if @host_ns is more than that.
 */
int64_t weather_delay_ns(struct weather *weather, enum radio_direction direction, int64_t host_ns, int64_t time_ns);
/* Is the next packet lost? */
bool weather_loses(struct weather *weather, enum radio_direction direction);
