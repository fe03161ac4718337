/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network.h"

#include <math.h>
#include <string.h>

#include "util/quantile.h"
#include "util/units.h"

#define KNOTS 4
/* Correlation of two values of a group, by the means of the normal law's quarters: -(1.27111^2 + 0.32466^2) / 6. */
#define CORRELATION -0.28685
#define ORDERS 8 /* streams of random numbers: delays from 0 on, losses from 2 on, orders of delays from here on */

/* Steele, Lea, Flood: SplitMix64's mixing function. */
static uint64_t mix(uint64_t x)
{
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

/* A pseudo-random number above 0 and below 1, from three numbers. */
static double uniform(uint64_t seed, uint64_t stream, uint64_t number)
{
        return ((double)(mix(mix(mix(seed) ^ stream) ^ number) >> 11) + 0.5) / 9007199254740992.0;
}

/* Element @at of a random permutation of the numbers below KNOTS, which each group of knots has of its own. */
static uint64_t stratum(uint64_t seed, uint64_t stream, uint64_t group, uint64_t at)
{
        uint64_t order[KNOTS];

        for (uint64_t i = 0; i < KNOTS; i++) {
                uint64_t other = mix(mix(mix(seed) ^ stream) ^ (KNOTS * group + i)) % (i + 1);

                order[i] = order[other];
                order[other] = i;
        }
        return order[at];
}

/*
 * A normal random number. Of KNOTS successive ones, each is in another of KNOTS equally probable parts of the
 * distribution, so the mean over some seconds hardly depends on the seed.
 */
static double normal(uint64_t seed, uint64_t stream, uint64_t number)
{
        uint64_t part = stratum(seed, ORDERS + stream, number / KNOTS, number % KNOTS);
        double below = ((double)part + uniform(seed, stream, number)) / KNOTS;

        return copysign(quantile_normal(fabs(2 * below - 1)), below - 0.5);
}

void weather_start(struct weather *weather, const struct network *network, uint64_t seed)
{
        *weather = (struct weather){ .network = network, .seed = seed };
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                weather->law[d].host_ns = -1;
                weather->span[d].knot = UINT64_MAX;
        }
}

static double draw_ms(struct weather *weather, enum radio_direction direction, int64_t host_ns)
{
        const struct network_way *way = &weather->network->way[direction];

        if (weather->law[direction].host_ns != host_ns) {
                weather->law[direction].host_ns = host_ns;
                weather->law[direction].draw_ms =
                        network_draw_ms(way->delay_ms - (double)host_ns / NS_PER_MS, way->delay_sd_ms);
        }
        return weather->law[direction].draw_ms;
}

/*
 * Values at the knots are normal; between two knots they are weighted by a smooth step. Dividing by the square root
 * keeps the variance the same at all times.
 */
int64_t weather_delay_ns(struct weather *weather, enum radio_direction direction, int64_t host_ns, int64_t time_ns)
{
        const struct network_way *way = &weather->network->way[direction];
        double knots, at, part, together, value, *values = weather->span[direction].values;
        uint64_t knot;

        if (!((double)host_ns < way->delay_ms * NS_PER_MS))
                return 0;
        if (!(way->delay_sd_ms > 0))
                return (int64_t)llround(way->delay_ms * NS_PER_MS) - host_ns;
        knots = (double)(time_ns > 0 ? time_ns : 0) / (weather->network->knot_ms * NS_PER_MS);
        knot = (uint64_t)knots;
        at = knots - floor(knots);
        part = at * at * (3 - 2 * at);
        if (weather->span[direction].knot != knot) {
                weather->span[direction].knot = knot;
                for (uint64_t i = 0; i < 2; i++)
                        values[i] = normal(weather->seed, direction, knot + i);
        }
        together = knot % KNOTS == KNOTS - 1 ? 0 : CORRELATION;
        value = ((1 - part) * values[0] + part * values[1]) /
                sqrt((1 - part) * (1 - part) + part * part + 2 * together * part * (1 - part));
        return (int64_t)llround(fmax(0, draw_ms(weather, direction, host_ns) + way->delay_sd_ms * value) * NS_PER_MS);
}

bool weather_loses(struct weather *weather, enum radio_direction direction)
{
        const struct network_loss *loss = &weather->network->loss;
        bool *bad = &weather->bad[direction];
        uint64_t n = weather->draws[direction]++, stream = 2 + (uint64_t)direction;

        if (uniform(weather->seed, stream, 2 * n) < (*bad ? loss->to_good : loss->to_bad))
                *bad = !*bad;
        return uniform(weather->seed, stream, 2 * n + 1) < (*bad ? loss->in_bad : loss->in_good);
}
