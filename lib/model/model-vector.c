/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a usage to the weights of a profile's coefficients. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "radio-usage.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define S_PER_NS 1e-9

void model_vector_clear(struct model_vector *vector)
{
        for (size_t i = 0; i < vector->n_not_measured; i++)
                free(vector->not_measured[i]);
        free(vector->not_measured);
        free(vector->weight);
        *vector = (struct model_vector){ 0 };
}

/* Each thing is named once. */
static int name_missing(struct model_vector *vector, const char *name)
{
        char **grown, *copy;

        for (size_t i = 0; i < vector->n_not_measured; i++) {
                if (strcmp(vector->not_measured[i], name) == 0)
                        return 0;
        }
        grown = reallocarray(vector->not_measured, vector->n_not_measured + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        vector->not_measured = grown;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        grown[vector->n_not_measured++] = copy;
        return 0;
}

/* Used, and without a coefficient: @name says which, the component's alone where it has none at all. */
static int unpriced(struct model_vector *vector, enum component component, const char *name)
{
        vector->unknown |= UINT32_C(1) << component;
        vector->unpriced |= UINT32_C(1) << component;
        return name_missing(vector, name);
}

static int not_counted(struct model_vector *vector, enum component component)
{
        char name[PROFILE_KEY_MAX];

        vector->unknown |= UINT32_C(1) << component;
        snprintf(name, sizeof(name), "%s (not counted)", component_names[component]);
        return name_missing(vector, name);
}

/* What is priced, by what, and into what. Coefficients are sorted by term, then policy, then point. */
struct pricing {
        const struct profile *profile;
        const struct usage *usage;
        struct model_vector *vector;
        size_t first[TERM_COUNT + 1]; /* of each term's coefficients */
        /* 1 << component: some term of it has a coefficient; some plain amount of it is not 0; one was not counted. */
        uint32_t components, used, uncounted;
};

/* Coefficients of one term and, where it has policies, of one policy: [first, end), ascending by point. */
struct range {
        size_t first, end;
        size_t at; /* where the last point was found: most come in ascending order */
};

static void find_terms(struct pricing *pricing)
{
        const struct profile *profile = pricing->profile;
        size_t i = 0;

        for (enum term term = 0; term < TERM_COUNT; term++) {
                pricing->first[term] = i;
                while (i < profile->n_coefficients && profile->coefficients[i].term == term)
                        i++;
                if (i > pricing->first[term])
                        pricing->components |= UINT32_C(1) << term_keys[term].component;
        }
        pricing->first[TERM_COUNT] = i;
}

static bool has_term(const struct pricing *pricing, enum term term)
{
        return pricing->first[term] < pricing->first[term + 1];
}

static bool find_range(const struct pricing *pricing, enum term term, uint32_t policy, struct range *ret)
{
        const struct coefficient *c = pricing->profile->coefficients;
        size_t first = pricing->first[term], end, last = pricing->first[term + 1];

        while (first < last && c[first].policy < policy)
                first++;
        for (end = first; end < last && c[end].policy == policy;)
                end++;
        *ret = (struct range){ first, end, first };
        return end > first;
}

/*
 * Between two measured points the weight is split linearly. Outside them the nearest takes all of it, and
 * what is not known is how far the power goes on: for a frequency at most in proportion to it (dynamic power
 * falls faster, static power does not fall at all); for a brightness along the line of the two levels at that
 * end.
 */
static void split_weight(const struct pricing *pricing, struct range *range, uint32_t point, double amount)
{
        const struct coefficient *c = pricing->profile->coefficients;
        struct model_vector *vector = pricing->vector;
        size_t first = range->first, end = range->end, above = range->at, nearest, next;
        double spread;

        while (above > first && c[above - 1].point >= point)
                above--;
        while (above < end && c[above].point < point)
                above++;
        range->at = above;
        if (above < end && c[above].point == point) {
                vector->weight[above] += amount;
                return;
        }
        if (above > first && above < end) {
                double part =
                        (double)(point - c[above - 1].point) / (double)(c[above].point - c[above - 1].point);

                vector->weight[above - 1] += amount * (1 - part);
                vector->weight[above] += amount * part;
                return;
        }
        nearest = above == first ? first : end - 1;
        vector->weight[nearest] += amount;
        if (c[first].term == TERM_DISPLAY && end - first > 1) {
                next = above == first ? first + 1 : end - 2;
                spread = (c[next].value - c[nearest].value) /
                         ((double)c[next].point - (double)c[nearest].point) *
                         ((double)point - (double)c[nearest].point);
        } else {
                spread = c[nearest].point ? c[nearest].value * ((double)point / c[nearest].point - 1) :
                                            c[nearest].value;
        }
        vector->component_spread_mj[model_term_component(c[first].term)] += fabs(spread * amount);
}

/*
 * Half the weight on the cheapest and half on the dearest candidate;
 * half their distance is not known better.
 */
static void split_range(const struct pricing *pricing, const struct range *range, double amount)
{
        const struct coefficient *c = pricing->profile->coefficients;
        struct model_vector *vector = pricing->vector;
        size_t low = range->first, high = range->first;

        for (size_t i = range->first; i < range->end; i++) {
                low = c[i].value < c[low].value ? i : low;
                high = c[i].value > c[high].value ? i : high;
        }
        vector->weight[low] += amount / 2;
        vector->weight[high] += amount / 2;
        vector->component_spread_mj[model_term_component(c[range->first].term)] +=
                fabs(c[high].value - c[low].value) / 2 * fabs(amount);
}

static double point_power(const struct profile *profile, enum term term, uint32_t policy, uint32_t point)
{
        ssize_t i = profile_find(profile, term, policy, point, "");

        return i < 0 ? 0 : profile->coefficients[i].value;
}

/* What prices the CPU time of one policy. */
enum { CPU_ACTIVE, CPU_SHARED, CPU_IDLE, CPU_TERMS };
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
                find_range(pricing, terms[i], as, &ranges->by[i]);
        ranges->found = true;
        ranges->policy = policy;
        return ranges;
}

static bool is_empty(const struct range *range)
{
        return range->first == range->end;
}

static void add_at(const struct pricing *pricing, struct range *range, uint32_t khz, double amount)
{
        if (amount != 0 && !is_empty(range))
                split_weight(pricing, range, khz, amount);
}

static void add_cpu_point(const struct pricing *pricing, struct cpu_ranges *ranges, uint32_t khz, double busy_s, double any_s)
{
        add_at(pricing, &ranges->by[CPU_ACTIVE], khz, busy_s);
        add_at(pricing, &ranges->by[CPU_SHARED], khz, any_s);
        add_at(pricing, &ranges->by[CPU_IDLE], khz, any_s);
}

/*
 * Above the lowest operating point, idling costs more. A CPU that nobody drives is mostly at its lowest, so where no
 * frequency is known nothing is added, and half of the most that it may be is not known better.
 */
static void add_idle(const struct pricing *pricing, struct cpu_ranges *ranges)
{
        const struct points *idles = &pricing->usage->idle;

        for (size_t i = 0; i < idles->n; i++) {
                const struct point *idle = &idles->list[i];
                struct range *range = &find_cpu(pricing, idle->policy, ranges)->by[CPU_IDLE];
                double idle_s = (double)idle->idle_ns * S_PER_NS;

                if (idle->khz != KHZ_UNKNOWN)
                        add_at(pricing, range, idle->khz, idle_s);
                else if (!is_empty(range))
                        pricing->vector->component_spread_mj[COMPONENT_BASE] +=
                                fabs(pricing->profile->coefficients[range->end - 1].value) / 2 * idle_s;
        }
}

/*
 * Whether a policy whose frequency is unknown is known itself. Without cpufreq the whole machine is policy 0,
 * whatever the profile calls its own. A profile with groups (P and E cores) is of a machine that has a policy
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
                if (!is_empty(&ranges->by[i]))
                        continue;
                snprintf(name, sizeof(name), "cpu.%u.%s", ranges->policy, words[i]);
                err = unpriced(pricing->vector, COMPONENT_CPU, name);
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

/* Frequency unknown: anything between the cheapest and the dearest operating point that it may have been. */
static int add_cpu_range(const struct pricing *pricing, const struct cpu_ranges *ranges, double busy_s, double any_s)
{
        const struct profile *profile = pricing->profile;
        const struct coefficient *low = NULL, *high = NULL;
        bool known = is_known_policy(profile, ranges->policy);
        uint32_t as = profile_as(profile, ranges->policy);
        double low_mj = 0, high_mj = 0;

        for (size_t i = pricing->first[TERM_CPU_ACTIVE]; i < pricing->first[TERM_CPU_ACTIVE + 1]; i++) {
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

static int add_cpu(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        struct cpu_ranges ranges = { 0 };
        int err;

        if (!(usage->have & USAGE_CPU))
                return not_counted(pricing->vector, COMPONENT_CPU);
        add_idle(pricing, &ranges);
        if (usage_busy_ns(usage) == 0)
                return 0;
        if (!has_term(pricing, TERM_CPU_ACTIVE))
                return unpriced(pricing->vector, COMPONENT_CPU, component_names[COMPONENT_CPU]);
        for (size_t i = 0; i < usage->cpu.n; i++) {
                const struct point *cpu = &usage->cpu.list[i];
                double busy_s = (double)cpu->busy_ns * S_PER_NS, any_s = (double)cpu->any_ns * S_PER_NS;

                if (cpu->busy_ns == 0 && cpu->any_ns == 0)
                        continue;
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

static int add_display(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        struct range range;

        if (!(usage->have & USAGE_DISPLAY))
                return not_counted(pricing->vector, COMPONENT_DISPLAY);
        if (usage_screen_ns(usage) == 0)
                return 0;
        if (!find_range(pricing, TERM_DISPLAY, 0, &range))
                return unpriced(pricing->vector, COMPONENT_DISPLAY, component_names[COMPONENT_DISPLAY]);
        for (size_t i = 0; i < usage->screen.n; i++) {
                double on_s = (double)usage->screen.list[i].on_ns * S_PER_NS;

                if (usage->screen.list[i].brightness == BRIGHTNESS_UNKNOWN)
                        split_range(pricing, &range, on_s);
                else
                        split_weight(pricing, &range, usage->screen.list[i].brightness, on_s);
        }
        return 0;
}

/*
 * One amount of one term that has no points. Several storages share it by range, as bytes are not counted by
 * storage.
 */
static int add_amount(const struct pricing *pricing, enum term term, double amount)
{
        char key[PROFILE_KEY_MAX];
        struct range range;

        if (amount == 0)
                return 0;
        if (find_range(pricing, term, 0, &range)) {
                split_range(pricing, &range, amount);
                return 0;
        }
        snprintf(key, sizeof(key), "%s.%s", term_keys[term].section, term_keys[term].key);
        return unpriced(pricing->vector, model_term_component(term), key);
}

/*
 * A part that apps hold. Without a price it is named and makes no forecast uncertain, as what is not known of an app has
 * the width of such parts (model_misfit_sd_j()). Most machines do not tell it: so not counted is unknown, and named only
 * where the profile could price it. A GPS without a price for its sleep is in the base's.
 * Bluetooth without one is in the base's as well, as far as a calibration met it, and is named.
 */
static int add_held_amount(const struct pricing *pricing, enum amount amount)
{
        const struct amount_kind *kind = &amount_kinds[amount];
        const struct usage *usage = pricing->usage;
        enum component component = model_term_component(kind->term);
        bool counted = usage->have & kind->have, priced = has_term(pricing, kind->term);

        if (counted && priced)
                return add_amount(pricing, kind->term, (double)usage->amount[amount] / kind->per_unit);
        if (kind->term == TERM_BLUETOOTH)
                return counted && usage->amount[amount] > 0 ? name_missing(pricing->vector, N_("bluetooth")) : 0;
        if (component == COMPONENT_BASE || (counted && usage->amount[amount] == 0))
                return 0;
        if (priced)
                return not_counted(pricing->vector, component);
        pricing->vector->unknown |= UINT32_C(1) << component;
        return counted ? name_missing(pricing->vector, component_names[component]) : 0;
}

static int add_held(const struct pricing *pricing)
{
        int err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                if (amount_kinds[i].term != TERM_NONE && term_keys[amount_kinds[i].term].held)
                        err = add_held_amount(pricing, i);
        return err;
}

/* In no component: COMPONENT_COUNT. */
static enum component plain_component(const struct amount_kind *kind)
{
        return kind->term == TERM_NONE || term_keys[kind->term].held ? COMPONENT_COUNT : term_keys[kind->term].component;
}

static void find_amounts(struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;

        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                uint32_t component = UINT32_C(1) << plain_component(&amount_kinds[i]);

                pricing->used |= usage->amount[i] ? component : 0;
                pricing->uncounted |= (usage->have & amount_kinds[i].have) == amount_kinds[i].have ? 0 : component;
        }
}

/*
 * The plain amounts of a component: wholly unknown where they were not counted, or where the profile has no
 * coefficient of it. WiFi: the machine knows its association, which is base, where bytes by app are not counted.
 */
static int add_amounts(const struct pricing *pricing, enum component component)
{
        uint32_t bit = UINT32_C(1) << component;
        int err = 0;

        if (pricing->uncounted & bit)
                err = not_counted(pricing->vector, component);
        if (err || !(pricing->used & bit))
                return err;
        if (!(pricing->components & bit))
                return unpriced(pricing->vector, component, component_names[component]);
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                if (pricing->usage->amount[i] && plain_component(&amount_kinds[i]) == component)
                        err = add_amount(pricing, amount_kinds[i].term,
                                         (double)pricing->usage->amount[i] / amount_kinds[i].per_unit);
        return err;
}

/* Where packets were counted and the profile has the radio, it prices what bytes and bursts price else. */
static bool is_by_radio(const struct pricing *pricing, enum air air)
{
        return (pricing->usage->have & USAGE_RADIO) && radio_usage_radio(pricing->profile, air);
}

/* A radio that is on takes what it draws if nothing ever comes, and what packets take above that. */
static int add_radio(const struct pricing *pricing, enum air air, uint64_t on_ns)
{
        ssize_t factor = profile_find(pricing->profile, radio_usage_term(air), 0, 0, "");
        double above_mj, rest_mw = 0;
        int err = radio_usage_price(pricing->profile, air, pricing->usage, &above_mj);

        if (!err)
                err = radio_usage_rest_mw(pricing->profile, air, &rest_mw);
        pricing->vector->weight[factor] += above_mj + rest_mw * (double)on_ns * S_PER_NS;
        return err;
}

double model_air_mj(const struct model_vector *vector, const struct profile *profile, const double *values)
{
        double sum = 0;

        for (size_t i = 0; i < vector->n; i++) {
                enum term term = profile->coefficients[i].term;

                if (term == TERM_WIFI_RX || term == TERM_WIFI_TX || term == TERM_WIFI_RADIO)
                        sum += vector->weight[i] * (values ? values[i] : profile->coefficients[i].value);
        }
        return sum;
}

#define SIGNALS_MAX 16

/*
 * What goes over the air takes more or less at another signal, as everyday use showed; bursts and association do not.
 * Where the signal is not known, anything between the least and the most of it.
 */
static void add_signal(const struct pricing *pricing)
{
        const struct coefficient *c = pricing->profile->coefficients;
        uint32_t minus_dbm[SIGNALS_MAX];
        double share[SIGNALS_MAX], air_mj, known = 0, least = INFINITY, most = -INFINITY;
        struct range range;
        size_t n = 0;

        if (!(pricing->usage->have & USAGE_WIFI) || !find_range(pricing, TERM_WIFI_SIGNAL, 0, &range))
                return;
        air_mj = model_air_mj(pricing->vector, pricing->profile, NULL);
        if (air_mj == 0)
                return;
        for (; range.first + n < range.end && n < SIGNALS_MAX; n++)
                minus_dbm[n] = c[range.first + n].point;
        usage_signal_shares(pricing->usage, minus_dbm, n, share);
        for (size_t i = 0; i < n; i++) {
                double part = c[range.first + i].value;

                pricing->vector->weight[range.first + i] += share[i] * air_mj;
                known += share[i];
                least = fmin(least, part);
                most = fmax(most, part);
        }
        pricing->vector->component_spread_mj[COMPONENT_WIFI] += fmax(1 - known, 0) * air_mj * (most - least) / 2;
}

static int add_wifi(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        int err = 0;

        if (!is_by_radio(pricing, AIR_WIFI))
                return add_amounts(pricing, COMPONENT_WIFI);
        if (!(usage->have & USAGE_WIFI))
                return not_counted(pricing->vector, COMPONENT_WIFI);
        if (has_term(pricing, TERM_WIFI_ON)) /* drawn beside the radio */
                err = add_amount(pricing, TERM_WIFI_ON, (double)usage->wifi_on_ns * S_PER_NS);
        return err ? err : add_radio(pricing, AIR_WIFI, usage->wifi_on_ns);
}

/* Where no radio prices it, its bytes are among those of name_other_net(). */
static int add_cellular(const struct pricing *pricing)
{
        if (!radio_usage_radio(pricing->profile, AIR_CELLULAR))
                return 0;
        if (!is_by_radio(pricing, AIR_CELLULAR))
                return not_counted(pricing->vector, COMPONENT_CELLULAR);
        return add_radio(pricing, AIR_CELLULAR, pricing->usage->time_ns);
}

/*
 * Ethernet, and a modem that the profile has no radio for. They make no forecast uncertain, as their energy is mostly small.
 */
static int name_other_net(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        uint64_t priced = is_by_radio(pricing, AIR_CELLULAR) ? radio_usage_bytes(usage, AIR_CELLULAR) : 0;

        if (!(usage->have & USAGE_OTHER_NET) || usage->other_rx_bytes + usage->other_tx_bytes <= priced)
                return 0;
        return name_missing(pricing->vector, N_("network (other than WiFi)"));
}

static int add_all(const struct pricing *pricing)
{
        int err = add_amounts(pricing, COMPONENT_BASE);

        if (!err)
                err = add_cpu(pricing);
        if (!err)
                err = add_display(pricing);
        for (enum component c = COMPONENT_DISK; !err && c < COMPONENT_BASE; c++)
                err = c == COMPONENT_WIFI ? add_wifi(pricing) : add_amounts(pricing, c);
        if (!err)
                add_signal(pricing);
        if (!err)
                err = add_cellular(pricing);
        if (!err)
                err = add_held(pricing);
        return err ? err : name_other_net(pricing);
}

int model_vector_make(const struct profile *profile, const struct usage *usage, struct model_vector *ret)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { .n = profile->n_coefficients };
        struct pricing pricing = { .profile = profile, .usage = usage, .vector = &vector };
        int err;

        vector.weight = calloc(vector.n ? vector.n : 1, sizeof(*vector.weight));
        if (!vector.weight)
                return -ENOMEM;
        find_terms(&pricing);
        find_amounts(&pricing);
        err = add_all(&pricing);
        if (err < 0)
                return err;
        *ret = vector;
        vector = (struct model_vector){ 0 };
        return 0;
}

int model_vector_add_scaled(struct model_vector *to, const struct model_vector *from, double factor)
{
        if (!to->weight) {
                to->weight = calloc(from->n ? from->n : 1, sizeof(*to->weight));
                if (!to->weight)
                        return -ENOMEM;
                to->n = from->n;
        }
        if (to->n != from->n)
                return -EINVAL;
        for (size_t i = 0; i < from->n_not_measured; i++) {
                int err = name_missing(to, from->not_measured[i]);

                if (err < 0)
                        return err;
        }
        for (size_t i = 0; i < from->n; i++)
                to->weight[i] += factor * from->weight[i];
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                to->component_spread_mj[c] += fabs(factor) * from->component_spread_mj[c];
        to->unknown |= from->unknown;
        if (factor != 0)
                to->unpriced |= from->unpriced;
        return 0;
}

int model_vector_add(struct model_vector *to, const struct model_vector *from)
{
        return model_vector_add_scaled(to, from, 1);
}
