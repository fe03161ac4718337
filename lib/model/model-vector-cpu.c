/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPU time by operating point, and idling at one. */

#include <math.h>
#include <stdio.h>

#include "model-vector-private.h"
#include "util/util.h"

static double point_power(const struct profile *profile, enum term term, uint32_t policy, uint32_t point)
{
        ssize_t i = profile_find(profile, term, policy, point, "");

        return i < 0 ? 0 : profile->coefficients[i].value;
}

/* The coefficients that price the CPU time of one policy, by term. */
enum { CPU_ACTIVE, CPU_SHARED, CPU_IDLE, CPU_TERMS };
_Static_assert(CPU_TERMS == MODEL_CPU_TERMS, "a place has all of them");
struct cpu_ranges {
        bool found;
        uint32_t policy;
        struct range by[CPU_TERMS];
};

static struct cpu_ranges *find_cpu(const struct pricing *pricing, uint32_t policy, struct cpu_ranges *ranges)
{
        static const enum term terms[CPU_TERMS] = { TERM_CPU_ACTIVE, TERM_CPU_SHARED, TERM_CPU_IDLE };
        uint32_t as;

        if (ranges->found && ranges->policy == policy)
                return ranges;
        as = profile_as(pricing->profile, policy);
        for (size_t i = 0; i < CPU_TERMS; i++)
                vector_range(pricing, terms[i], as, &ranges->by[i]);
        ranges->found = true;
        ranges->policy = policy;
        return ranges;
}

static bool range_is_empty(const struct range *range)
{
        return range->first == range->end;
}

static void add_at(const struct pricing *pricing, struct range *range, uint32_t khz, double amount)
{
        if (amount != 0 && !range_is_empty(range))
                vector_split(pricing, range, khz, amount);
}

/*
 * Finds the weights of one term at a place. False: add_at_place() cannot add it, as the place is outside the measured
 * points, or a term other than CPU_IDLE has none and must be named.
 */
static bool place_in(const struct pricing *pricing, struct range *range, size_t term, struct model_place *place)
{
        struct between between = { 0 };
        bool empty = range_is_empty(range);

        if (empty ? term != CPU_IDLE : !vector_between(pricing, range, place->khz, &between))
                return false;
        place->by[term] = (struct model_split){ between.low, between.high, empty ? 0 : 1 - between.part, between.part };
        return true;
}

/*
 * Beyond the measured frequencies, power is proportional to a power of the frequency. The slope over the nearer half
 * of the measured ones gives the exponent; one frequency alone has the usual slope. The logarithm of the power has the
 * variance (TILT x)^2 + DRIFT^2 |x|, where x is the logarithm of the ratio of frequencies. The constants are from 89
 * clusters' tables and two measured clusters, each cut at every place (tests/reality/beyond).
 */
#define EXPONENT_ABOVE 0.8
#define EXPONENT_BELOW 0.2
#define EXPONENT_SLOPE 0.65
#define SLOPE_MOST 3.0
#define SLOPE_USUAL 1.4
#define TILT 0.5
#define TILT_ALONE 0.7 /* with one measured frequency */
#define DRIFT 0.2
#define QUANTILE 2.0

/* Power at a frequency relative to the nearest measured one, and half of its interval; mW of a busy core there. */
struct beyond {
        size_t nearest;
        bool above;
        double ratio, half, nearest_mw;
};

/* A busy core with what cores share. */
static double busy_mw(const struct pricing *pricing, const struct cpu_ranges *ranges, uint32_t khz)
{
        uint32_t as = profile_as(pricing->profile, ranges->policy);

        return point_power(pricing->profile, TERM_CPU_ACTIVE, as, khz) +
               point_power(pricing->profile, TERM_CPU_SHARED, as, khz);
}

static bool is_within(const struct pricing *pricing, const struct range *range, uint32_t khz)
{
        const struct coefficient *c = pricing->profile->coefficients;

        return !range_is_empty(range) && c[range->first].point <= khz && khz <= c[range->end - 1].point;
}

/* False: the frequency is between measured ones, or none is measured. */
static bool is_beyond(const struct pricing *pricing, const struct cpu_ranges *ranges, uint32_t khz, struct beyond *ret)
{
        const struct coefficient *c = pricing->profile->coefficients;
        const struct range *range = &ranges->by[CPU_ACTIVE];
        size_t n = range->end - range->first, other;
        double slope = SLOPE_USUAL, other_mw, x, sd;
        bool above;

        if (n == 0 || is_within(pricing, range, khz) || c[range->first].point == 0)
                return false;
        above = khz > c[range->first].point;
        *ret = (struct beyond){ .nearest = above ? range->end - 1 : range->first, .above = above };
        other = above ? range->end - 1 - n / 2 : range->first + n / 2;
        ret->nearest_mw = busy_mw(pricing, ranges, c[ret->nearest].point);
        other_mw = busy_mw(pricing, ranges, c[other].point);
        if (n > 1 && ret->nearest_mw > 0 && other_mw > 0)
                slope = log(ret->nearest_mw / other_mw) / log((double)c[ret->nearest].point / c[other].point);
        x = log(fmax(khz, 1) / c[ret->nearest].point);
        sd = hypot((n > 1 ? TILT : TILT_ALONE) * x, DRIFT * sqrt(fabs(x)));
        ret->ratio = exp(x * ((above ? EXPONENT_ABOVE : EXPONENT_BELOW) +
                              EXPONENT_SLOPE * fmin(fmax(slope, 0), SLOPE_MOST)));
        ret->half = ret->ratio * sinh(QUANTILE * sd);
        return true;
}

/*
 * Idling changes by nearly the same part of the change of a busy core's power as over that half of the frequencies;
 * the part grows with the clock (the two measured clusters); relative standard deviation. That of the lowest measured
 * frequency is in the base. Where no idling was measured, it is between none and most of it.
 */
#define SHARE_SD 0.15
#define SHARE_GROWTH 0.15
#define SHARE_MOST 0.8
#define CHANGE_LEAST 0.05 /* a smaller change of a busy core's power over that half, relative to it, shows no part */

static void place_idle_beyond(const struct pricing *pricing, struct cpu_ranges *ranges, const struct beyond *beyond,
                              struct model_place *place)
{
        const struct coefficient *c = pricing->profile->coefficients;
        struct range *idle = &ranges->by[CPU_IDLE];
        double change_mw = beyond->nearest_mw * (beyond->ratio - 1), step_mw = 0, growth, part, share;
        size_t n = idle->end - idle->first, nearest = 0, other = 0;

        if (is_within(pricing, idle, place->khz)) {
                place_in(pricing, idle, CPU_IDLE, place);
                return;
        }
        if (n > 1) {
                nearest = beyond->above ? idle->end - 1 : idle->first;
                other = beyond->above ? nearest - n / 2 : nearest + n / 2;
                step_mw = busy_mw(pricing, ranges, c[nearest].point) - busy_mw(pricing, ranges, c[other].point);
        }
        if (!(fabs(step_mw) > CHANGE_LEAST * beyond->nearest_mw)) {
                place->idle_spread_mw = SHARE_MOST * fabs(change_mw);
                return;
        }
        growth = pow(beyond->ratio, SHARE_GROWTH);
        part = growth * change_mw / step_mw;
        share = growth * (c[nearest].value - c[other].value) / step_mw;
        place->by[CPU_IDLE] = (struct model_split){ nearest, other, 1 + part, -part };
        place->idle_spread_mw = fabs(share) * hypot(QUANTILE * SHARE_SD * change_mw, beyond->nearest_mw * beyond->half);
}

/* False: nothing was measured that cores share, which must be named. */
static bool place_beyond(const struct pricing *pricing, struct cpu_ranges *ranges, const struct beyond *beyond,
                         struct model_place *place)
{
        const struct coefficient *c = pricing->profile->coefficients;
        const struct range *shared = &ranges->by[CPU_SHARED];

        place->by[CPU_ACTIVE] = (struct model_split){ beyond->nearest, beyond->nearest, beyond->ratio, 0 };
        for (size_t i = shared->first; i < shared->end; i++)
                if (c[i].point == c[beyond->nearest].point)
                        place->by[CPU_SHARED] = (struct model_split){ i, i, beyond->ratio, 0 };
        place->half = beyond->half / beyond->ratio;
        place_idle_beyond(pricing, ranges, beyond, place);
        return !range_is_empty(shared);
}

static void add_split(const struct pricing *pricing, const struct model_split *split, double amount)
{
        double *weight = pricing->vector->weight;

        weight[split->low] += amount * split->rest;
        weight[split->high] += amount * split->part;
}

static void add_at_place(const struct pricing *pricing, const struct model_place *place, double busy_s, double any_s)
{
        const struct coefficient *c = pricing->profile->coefficients;
        const struct model_split *active = &place->by[CPU_ACTIVE], *shared = &place->by[CPU_SHARED];

        add_split(pricing, active, busy_s);
        add_split(pricing, shared, any_s);
        add_split(pricing, &place->by[CPU_IDLE], any_s);
        if (place->half > 0)
                pricing->vector->component_spread_mj[COMPONENT_CPU] +=
                        place->half * fabs(c[active->low].value * active->rest * busy_s +
                                           c[shared->low].value * shared->rest * any_s) +
                        place->idle_spread_mw * any_s;
}

static void add_cpu_point(const struct pricing *pricing, struct cpu_ranges *ranges, uint32_t khz, double busy_s,
                          double any_s)
{
        struct model_place place = { .khz = khz };
        struct beyond beyond;

        if (is_beyond(pricing, ranges, khz, &beyond)) {
                place_beyond(pricing, ranges, &beyond, &place);
                add_at_place(pricing, &place, busy_s, any_s);
                return;
        }
        add_at(pricing, &ranges->by[CPU_ACTIVE], khz, busy_s);
        add_at(pricing, &ranges->by[CPU_SHARED], khz, any_s);
        add_at(pricing, &ranges->by[CPU_IDLE], khz, any_s);
}

/*
 * Finds the place of a point, or adds it. Most usages have the same points in the same order, so the search begins
 * after the last hit. NULL: there are too many.
 */
static const struct model_place *find_place(const struct pricing *pricing, const struct point *cpu,
                                            struct cpu_ranges *ranges)
{
        struct model_prices *prices = pricing->prices;
        struct model_place *place;
        struct beyond beyond;

        for (size_t i = 0, at = prices->next_place; i < prices->n_places; i++, at++) {
                at = at < prices->n_places ? at : 0;
                place = &prices->places[at];
                if (place->khz == cpu->khz && place->policy == cpu->policy) {
                        prices->next_place = at + 1;
                        return place;
                }
        }
        if (prices->n_places == MODEL_PLACES_MAX)
                return NULL;
        place = &prices->places[prices->n_places++];
        *place = (struct model_place){ .policy = cpu->policy, .khz = cpu->khz, .within = true };
        find_cpu(pricing, cpu->policy, ranges);
        if (is_beyond(pricing, ranges, cpu->khz, &beyond))
                place->within = place_beyond(pricing, ranges, &beyond, place);
        for (size_t term = 0; place->half == 0 && term < CPU_TERMS; term++)
                place->within = place_in(pricing, &ranges->by[term], term, place) && place->within;
        return place;
}

/*
 * Above the lowest operating point, idling costs more. A CPU without load is mostly at its lowest point, so where no
 * frequency is known nothing is added, and half of the highest possible amount is the spread.
 */
static void add_idle(const struct pricing *pricing, struct cpu_ranges *ranges)
{
        const struct points *idles = &pricing->usage->idle;

        for (size_t i = 0; i < idles->n; i++) {
                const struct point *idle = &idles->list[i];
                struct range *range = &find_cpu(pricing, idle->policy, ranges)->by[CPU_IDLE];
                double idle_s = (double)idle->idle_ns * S_PER_NS;
                struct model_place place = { .khz = idle->khz };
                struct beyond beyond;

                if (idle->khz != KHZ_UNKNOWN && is_beyond(pricing, ranges, idle->khz, &beyond)) {
                        place_idle_beyond(pricing, ranges, &beyond, &place);
                        add_split(pricing, &place.by[CPU_IDLE], idle_s);
                        pricing->vector->component_spread_mj[COMPONENT_BASE] += place.idle_spread_mw * idle_s;
                } else if (idle->khz != KHZ_UNKNOWN)
                        add_at(pricing, range, idle->khz, idle_s);
                else if (!range_is_empty(range))
                        pricing->vector->component_spread_mj[COMPONENT_BASE] +=
                                fabs(pricing->profile->coefficients[range->end - 1].value) / 2 * idle_s;
        }
}

/*
 * Whether a policy whose frequency is unknown is known itself. Without cpufreq the whole machine is policy 0,
 * whatever the profile calls its policies. A profile with groups (P and E cores) is for a machine that has a policy
 * for each CPU, and whose driver does not say how long it ran at which frequency.
 */
static bool is_known_policy(const struct profile *profile, uint32_t policy)
{
        bool groups = false, listed = false;

        for (size_t i = 0; i < profile->n_policies; i++) {
                groups = groups || profile->policies[i].as != profile->policies[i].policy;
                listed = listed || profile->policies[i].policy == policy;
        }
        return groups && listed;
}

static int name_missing_cpu(const struct pricing *pricing, const struct cpu_ranges *ranges)
{
        static const char *const words[] = { [CPU_ACTIVE] = "active_mw", [CPU_SHARED] = "shared_mw" };
        char name[PROFILE_KEY_MAX];
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (!range_is_empty(&ranges->by[i]))
                        continue;
                snprintf(name, sizeof(name), "cpu.%u.%s", ranges->policy, words[i]);
                err = vector_unpriced(pricing->vector, COMPONENT_CPU, name);
                if (err < 0)
                        return err;
        }
        return 0;
}

static void add_cpu_of(const struct pricing *pricing, const struct coefficient *one, double busy_s, double any_s)
{
        struct cpu_ranges ranges = { 0 };

        add_cpu_point(pricing, find_cpu(pricing, one->policy, &ranges), one->point, busy_s, any_s);
}

/* Prices CPU time at an unknown frequency: half each at its cheapest and its dearest possible operating point. */
static int add_cpu_range(const struct pricing *pricing, const struct cpu_ranges *ranges, double busy_s, double any_s)
{
        const struct profile *profile = pricing->profile;
        const struct coefficient *low = NULL, *high = NULL;
        bool known = is_known_policy(profile, ranges->policy);
        uint32_t as = profile_as(profile, ranges->policy);
        const size_t *first = pricing->prices->first;
        double low_mj = 0, high_mj = 0;

        for (size_t i = first[TERM_CPU_ACTIVE]; i < first[TERM_CPU_ACTIVE + 1]; i++) {
                const struct coefficient *c = &profile->coefficients[i];
                double mj;

                if (known && c->policy != as)
                        continue;
                mj = c->value * busy_s + any_s * (point_power(profile, TERM_CPU_SHARED, c->policy, c->point) +
                                                  point_power(profile, TERM_CPU_IDLE, c->policy, c->point));
                if (!low || mj < low_mj) {
                        low = c;
                        low_mj = mj;
                }
                if (!high || mj > high_mj) {
                        high = c;
                        high_mj = mj;
                }
        }
        if (!low || !high)
                return name_missing_cpu(pricing, ranges);
        add_cpu_of(pricing, low, busy_s / 2, any_s / 2);
        add_cpu_of(pricing, high, busy_s / 2, any_s / 2);
        pricing->vector->component_spread_mj[COMPONENT_CPU] += (high_mj - low_mj) / 2;
        return 0;
}

int vector_add_cpu(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        struct cpu_ranges ranges = { 0 };
        int err;

        if (!(usage->have & USAGE_CPU))
                return vector_not_counted(pricing->vector, COMPONENT_CPU);
        add_idle(pricing, &ranges);
        if (usage_busy_ns(usage) == 0)
                return 0;
        if (!vector_has(pricing, TERM_CPU_ACTIVE))
                return vector_unpriced(pricing->vector, COMPONENT_CPU, component_names[COMPONENT_CPU]);
        for (size_t i = 0; i < usage->cpu.n; i++) {
                const struct point *cpu = &usage->cpu.list[i];
                const struct model_place *place;
                double busy_s = (double)cpu->busy_ns * S_PER_NS, any_s = (double)cpu->any_ns * S_PER_NS;

                if (cpu->busy_ns == 0 && cpu->any_ns == 0)
                        continue;
                place = cpu->khz == KHZ_UNKNOWN ? NULL : find_place(pricing, cpu, &ranges);
                if (place && place->within) {
                        add_at_place(pricing, place, busy_s, any_s);
                        continue;
                }
                find_cpu(pricing, cpu->policy, &ranges);
                if (cpu->khz != KHZ_UNKNOWN)
                        add_cpu_point(pricing, &ranges, cpu->khz, busy_s, any_s);
                err = cpu->khz == KHZ_UNKNOWN ? add_cpu_range(pricing, &ranges, busy_s, any_s) :
                                                name_missing_cpu(pricing, &ranges);
                if (err < 0)
                        return err;
        }
        return 0;
}
