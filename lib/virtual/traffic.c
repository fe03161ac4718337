/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "traffic.h"

#include <math.h>
#include <string.h>

#define FAR_NS 1e18 /* time of a packet that never comes */

bool traffic_is_same(const struct traffic *a, const struct traffic *b)
{
        return a->app == b->app && a->number == b->number && a->kind == b->kind && a->air == b->air &&
               a->pattern == b->pattern && a->packets_per_s == b->packets_per_s && a->bytes == b->bytes &&
               a->burst_packets == b->burst_packets;
}

static bool wanders(const struct traffic *traffic)
{
        return traffic->kind == TRAFFIC_RX || traffic->kind == TRAFFIC_TX;
}

static uint64_t later(uint64_t from_ns, double s)
{
        return from_ns + (uint64_t)llround(fmin(s * 1e9, FAR_NS));
}

static uint64_t gap_end(struct traffic *traffic)
{
        return later(traffic->next_ns, rng_exponential(&traffic->rng) / traffic->packets_per_s);
}

/* FNV-1a of the name, so that two apps with the same row do not send at the same moments. */
static uint64_t hash_of(const char *text)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (; *text; text++)
                hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
        return hash;
}

void traffic_start(struct traffic *traffic, uint64_t now_ns, uint64_t seed, const char *app, double factor)
{
        rng_seed(&traffic->rng, seed ^ hash_of(app), traffic->number);
        traffic->start_ns = traffic->next_ns = traffic->since_ns = now_ns;
        traffic->part = 1;
        traffic->factor = factor;
        if (traffic->kind == TRAFFIC_PACKETS && traffic->pattern == VIRTUAL_POISSON)
                traffic->next_ns = gap_end(traffic);
}

static void plan(struct traffic *traffic)
{
        double per_s = traffic->packets_per_s * traffic->factor;

        traffic->next_ns = later(traffic->since_ns, per_s > 0 ? fmax(0, 1 - traffic->part) / per_s : FAR_NS);
}

void traffic_set_factor(struct traffic *traffic, uint64_t now_ns, double factor)
{
        if (!wanders(traffic) || factor == traffic->factor)
                return;
        traffic->part += (double)(now_ns - traffic->since_ns) / 1e9 * traffic->packets_per_s * traffic->factor;
        traffic->since_ns = now_ns;
        traffic->factor = factor;
        plan(traffic);
}

enum radio_direction traffic_take(struct traffic *traffic)
{
        uint64_t n = traffic->n_packets++;

        if (wanders(traffic)) {
                traffic->part = 0;
                traffic->since_ns = traffic->next_ns;
                plan(traffic);
                return traffic->kind == TRAFFIC_TX ? RADIO_TX : RADIO_RX;
        }
        if (traffic->kind == TRAFFIC_PACKETS && traffic->pattern == VIRTUAL_POISSON) {
                traffic->next_ns = gap_end(traffic);
        } else {
                uint64_t burst = traffic->pattern == VIRTUAL_BURSTS ? traffic->burst_packets : 1;

                traffic->next_ns = later(traffic->start_ns, (double)((n + 1) / burst * burst) / traffic->packets_per_s);
        }
        return traffic->kind == TRAFFIC_PACKETS && n % 2 == 1 ? RADIO_RX : RADIO_TX;
}
