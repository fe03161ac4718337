/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network.h"

#include <math.h>
#include <string.h>

#include "util/units.h"

/* Steele, Lea, Flood: SplitMix64's mixing function. */
static uint64_t mix(uint64_t x)
{
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

/* Above 0 and below 1, from three numbers. */
static double uniform(uint64_t seed, uint64_t stream, uint64_t number)
{
        return ((double)(mix(mix(mix(seed) ^ stream) ^ number) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t seed, uint64_t stream, uint64_t number)
{
        double radius = sqrt(-2 * log(uniform(seed, stream, 2 * number)));

        return radius * cos(2 * M_PI * uniform(seed, stream, 2 * number + 1));
}

void weather_start(struct weather *weather, const struct network *network, uint64_t seed)
{
        *weather = (struct weather){ .network = network, .seed = seed };
        for (int d = 0; d < RADIO_DIRECTIONS; d++)
                weather->law[d].host_ns = -1;
}

static double draw_ms(struct weather *weather, enum radio_direction direction, int64_t host_ns)
{
        const struct network_way *way = &weather->network->way[direction];

        if (weather->law[direction].host_ns != host_ns) {
                weather->law[direction].host_ns = host_ns;
                weather->law[direction].draw_ms = network_draw_ms(way->delay_ms - (double)host_ns / NS_PER_MS, way->delay_sd_ms);
        }
        return weather->law[direction].draw_ms;
}

/*
 * Values at the knots are normal, and between two knots weighted by a smooth step. The square root keeps the variance the
 * same at every instant.
 */
int64_t weather_delay_ns(struct weather *weather, enum radio_direction direction, int64_t host_ns, int64_t time_ns)
{
        const struct network_way *way = &weather->network->way[direction];
        double knots, at, part, value;
        uint64_t knot;

        if (!((double)host_ns < way->delay_ms * NS_PER_MS))
                return 0;
        if (!(way->delay_sd_ms > 0))
                return (int64_t)llround(way->delay_ms * NS_PER_MS) - host_ns;
        knots = (double)(time_ns > 0 ? time_ns : 0) / (weather->network->knot_ms * NS_PER_MS);
        knot = (uint64_t)knots;
        at = knots - floor(knots);
        part = at * at * (3 - 2 * at);
        value = ((1 - part) * normal(weather->seed, direction, knot) + part * normal(weather->seed, direction, knot + 1)) /
                sqrt((1 - part) * (1 - part) + part * part);
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
