/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a usage to the weights of a profile's coefficients. */

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "model-vector-private.h"
#include "model.h"
#include "radio-usage.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

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

int vector_unpriced(struct model_vector *vector, enum component component, const char *name)
{
        vector->unknown |= UINT32_C(1) << component;
        vector->unpriced |= UINT32_C(1) << component;
        return name_missing(vector, name);
}

int vector_not_counted(struct model_vector *vector, enum component component)
{
        char name[PROFILE_KEY_MAX];

        vector->unknown |= UINT32_C(1) << component;
        snprintf(name, sizeof(name), "%s (not counted)", component_names[component]);
        return name_missing(vector, name);
}

_Static_assert(AMOUNT_COUNT <= 32, "a bit for each amount");

static void find_amounts(struct model_prices *prices)
{
        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                const struct amount_kind *kind = &amount_kinds[i];
                const struct term_key *key = kind->term == TERM_NONE ? NULL : &term_keys[kind->term];

                if (key && key->held)
                        prices->held |= UINT32_C(1) << i;
                if (!key || key->held)
                        continue;
                prices->plain[key->component].amounts |= UINT32_C(1) << i;
                prices->plain[key->component].have |= kind->have;
        }
}

void model_prices_find(const struct profile *profile, struct model_prices *ret)
{
        size_t i = 0;

        memset(ret, 0, offsetof(struct model_prices, places)); /* these are 16 kB, of which most are never used */
        ret->profile = profile;
        for (enum term term = 0; term < TERM_COUNT; term++) {
                ret->first[term] = i;
                while (i < profile->n_coefficients && profile->coefficients[i].term == term)
                        i++;
                if (i > ret->first[term])
                        ret->components |= UINT32_C(1) << term_keys[term].component;
        }
        ret->first[TERM_COUNT] = i;
        find_amounts(ret);
}

bool vector_has(const struct pricing *pricing, enum term term)
{
        return pricing->prices->first[term] < pricing->prices->first[term + 1];
}

bool vector_range(const struct pricing *pricing, enum term term, uint32_t policy, struct range *ret)
{
        const struct coefficient *c = pricing->profile->coefficients;
        size_t first = pricing->prices->first[term], end, last = pricing->prices->first[term + 1];

        while (first < last && c[first].policy < policy)
                first++;
        for (end = first; end < last && c[end].policy == policy;)
                end++;
        *ret = (struct range){ first, end, first };
        return end > first;
}

bool vector_between(const struct pricing *pricing, struct range *range, uint32_t point, struct between *ret)
{
        const struct coefficient *c = pricing->profile->coefficients;
        size_t first = range->first, end = range->end, above = range->at;

        while (above > first && c[above - 1].point >= point)
                above--;
        while (above < end && c[above].point < point)
                above++;
        range->at = above;
        if (above == end || (above == first && c[above].point != point))
                return false;
        *ret = (struct between){ above, above, 0 };
        if (c[above].point != point) {
                ret->low = above - 1;
                ret->part = (double)(point - c[above - 1].point) / (double)(c[above].point - c[above - 1].point);
        }
        return true;
}

void vector_split_between(const struct pricing *pricing, struct range *range, uint32_t point, double amount)
{
        const struct coefficient *c = pricing->profile->coefficients;
        struct model_vector *vector = pricing->vector;
        size_t first = range->first, end = range->end, nearest, next;
        struct between between;
        double spread;

        if (vector_between(pricing, range, point, &between)) {
                vector->weight[between.low] += amount * (1 - between.part);
                if (between.part > 0)
                        vector->weight[between.high] += amount * between.part;
                return;
        }
        nearest = range->at == first ? first : end - 1;
        vector->weight[nearest] += amount;
        if (c[first].term == TERM_DISPLAY && end - first > 1) {
                next = range->at == first ? first + 1 : end - 2;
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

static int add_display(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        struct range range;

        if (!(usage->have & USAGE_DISPLAY))
                return vector_not_counted(pricing->vector, COMPONENT_DISPLAY);
        if (usage_screen_ns(usage) == 0)
                return 0;
        if (!vector_range(pricing, TERM_DISPLAY, 0, &range))
                return vector_unpriced(pricing->vector, COMPONENT_DISPLAY, component_names[COMPONENT_DISPLAY]);
        for (size_t i = 0; i < usage->screen.n; i++) {
                double on_s = (double)usage->screen.list[i].on_ns * S_PER_NS;

                if (usage->screen.list[i].brightness == BRIGHTNESS_UNKNOWN)
                        split_range(pricing, &range, on_s);
                else
                        vector_split(pricing, &range, usage->screen.list[i].brightness, on_s);
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
        if (vector_range(pricing, term, 0, &range)) {
                split_range(pricing, &range, amount);
                return 0;
        }
        snprintf(key, sizeof(key), "%s.%s", term_keys[term].section, term_keys[term].key);
        return vector_unpriced(pricing->vector, model_term_component(term), key);
}

/* If packets were counted and the profile has the radio, the radio prices them in place of bytes and bursts. */
static bool is_by_radio(const struct pricing *pricing, enum air air)
{
        return (pricing->usage->have & USAGE_RADIO) && radio_usage_radio(pricing->profile, air);
}

/*
 * A part that apps hold. Without a price it is named, but makes no forecast uncertain, as an app's misfit has room for
 * such parts (model_misfit_sd_j()). Most machines do not report it: an amount that was not counted is unknown, and is
 * named only if the profile could price it. A GPS without a price for its sleep is priced with the base. So is
 * Bluetooth without a price, as far as a calibration had it on, and it is named.
 */
static int add_held_amount(const struct pricing *pricing, enum amount amount)
{
        const struct amount_kind *kind = &amount_kinds[amount];
        const struct usage *usage = pricing->usage;
        enum component component = model_term_component(kind->term);
        bool counted = usage->have & kind->have, priced = vector_has(pricing, kind->term);

        if (component == COMPONENT_CELLULAR && (!priced || is_by_radio(pricing, AIR_CELLULAR)))
                return 0; /* name_other_net() */
        if (counted && priced)
                return add_amount(pricing, kind->term, (double)usage->amount[amount] / kind->per_unit);
        if (kind->term == TERM_BLUETOOTH)
                return counted && usage->amount[amount] > 0 ? name_missing(pricing->vector, N_("bluetooth")) : 0;
        if (component == COMPONENT_BASE || (counted && usage->amount[amount] == 0))
                return 0;
        if (priced)
                return vector_not_counted(pricing->vector, component);
        pricing->vector->unknown |= UINT32_C(1) << component;
        return counted ? name_missing(pricing->vector, component_names[component]) : 0;
}

static int add_held(const struct pricing *pricing)
{
        int err = 0;

        for (uint32_t left = pricing->prices->held; !err && left; left &= left - 1)
                err = add_held_amount(pricing, (enum amount)__builtin_ctz(left));
        return err;
}

/*
 * The plain amounts of a component: wholly unknown where they were not counted, or where the profile has no
 * coefficient for it. WiFi: the machine knows its association (base) even where bytes by app are not counted.
 */
static int add_amounts(const struct pricing *pricing, enum component component)
{
        const struct model_prices *prices = pricing->prices;
        uint32_t used = pricing->used & prices->plain[component].amounts;
        int err = 0;

        if (prices->plain[component].have & ~pricing->usage->have)
                err = vector_not_counted(pricing->vector, component);
        if (!err && used && !(prices->components & UINT32_C(1) << component))
                return vector_unpriced(pricing->vector, component, component_names[component]);
        for (; !err && used; used &= used - 1) {
                int i = __builtin_ctz(used);

                err = add_amount(pricing, amount_kinds[i].term,
                                 (double)pricing->usage->amount[i] / amount_kinds[i].per_unit);
        }
        return err;
}

/* Whether add_amounts() has anything to do, which is rare. */
static bool has_amounts(const struct pricing *pricing, enum component component)
{
        const struct model_prices *prices = pricing->prices;

        return (pricing->used & prices->plain[component].amounts) ||
               (prices->plain[component].have & ~pricing->usage->have);
}

/* Prices a radio: the power that it draws while on without any packet, and the energy of packets above that. */
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
 * The energy of bytes over WiFi depends on the signal, as learnt in everyday use; that of bursts and association does
 * not. Where the signal is not known, the spread covers the range from the least to the most energy.
 */
static void add_signal(const struct pricing *pricing)
{
        const struct coefficient *c = pricing->profile->coefficients;
        uint32_t minus_dbm[SIGNALS_MAX];
        double share[SIGNALS_MAX], air_mj, known = 0, least = INFINITY, most = -INFINITY;
        struct range range;
        size_t n = 0;

        if (!(pricing->usage->have & USAGE_WIFI) || !vector_range(pricing, TERM_WIFI_SIGNAL, 0, &range))
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
                return vector_not_counted(pricing->vector, COMPONENT_WIFI);
        if (vector_has(pricing, TERM_WIFI_ON)) /* drawn beside the radio */
                err = add_amount(pricing, TERM_WIFI_ON, (double)usage->wifi_on_ns * S_PER_NS);
        return err ? err : add_radio(pricing, AIR_WIFI, usage->wifi_on_ns);
}

/* Where no radio prices it, its bytes are among those of name_other_net(). */
static int add_cellular(const struct pricing *pricing)
{
        if (!radio_usage_radio(pricing->profile, AIR_CELLULAR))
                return 0;
        if (!is_by_radio(pricing, AIR_CELLULAR))
                return vector_not_counted(pricing->vector, COMPONENT_CELLULAR);
        return add_radio(pricing, AIR_CELLULAR, pricing->usage->time_ns);
}

/*
 * Ethernet, and a modem that the profile has no radio for. They make no forecast uncertain, as their energy
 * is mostly small.
 */
static int name_other_net(const struct pricing *pricing)
{
        const struct usage *usage = pricing->usage;
        bool by_radio = is_by_radio(pricing, AIR_CELLULAR);
        uint64_t priced = by_radio ? radio_usage_bytes(usage, AIR_CELLULAR) : 0, left = 0;

        if (by_radio || !vector_has(pricing, TERM_CELLULAR_RX))
                left += usage->other_rx_bytes;
        if (by_radio || !vector_has(pricing, TERM_CELLULAR_TX))
                left += usage->other_tx_bytes;
        if (!(usage->have & USAGE_OTHER_NET) || left <= priced)
                return 0;
        return name_missing(pricing->vector, N_("network (other than WiFi)"));
}

static int add_all(const struct pricing *pricing)
{
        int err = add_amounts(pricing, COMPONENT_BASE);

        if (!err)
                err = vector_add_cpu(pricing);
        if (!err)
                err = add_display(pricing);
        for (enum component c = COMPONENT_DISK; !err && c < COMPONENT_BASE; c++)
                if (c == COMPONENT_WIFI)
                        err = add_wifi(pricing);
                else if (has_amounts(pricing, c))
                        err = add_amounts(pricing, c);
        if (!err)
                add_signal(pricing);
        if (!err)
                err = add_cellular(pricing);
        if (!err)
                err = add_held(pricing);
        return err ? err : name_other_net(pricing);
}

/* Whether the profile prices the kind of work. */
static bool has_kinds(const struct model_prices *prices)
{
        return prices->first[TERM_CPU_INSTRUCTIONS] < prices->first[TERM_CPU_MISSES + 1];
}

static int empty(struct model_vector *vector, size_t n)
{
        double *weight = vector->weight;

        vector->weight = NULL;
        model_vector_clear(vector);
        vector->weight = weight ? memset(weight, 0, n * sizeof(*weight)) : calloc(n ? n : 1, sizeof(*weight));
        vector->n = n;
        return vector->weight ? 0 : -ENOMEM;
}

int model_vector_price(struct model_prices *prices, const struct usage *usage, struct model_vector *ret)
{
        const struct profile *profile = prices->profile;
        _cleanup_(model_vector_clear) struct model_vector vector = *ret;
        struct pricing pricing = { .prices = prices, .profile = profile, .usage = usage, .vector = &vector };
        int err;

        *ret = (struct model_vector){ 0 };
        err = empty(&vector, profile->n_coefficients);
        if (err)
                return err;
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                pricing.used |= (uint32_t)(usage->amount[i] != 0) << i;
        err = add_all(&pricing);
        if (err < 0)
                return err;
        if (has_kinds(prices))
                kind_weigh(profile, usage, NULL, &vector);
        *ret = vector;
        vector = (struct model_vector){ 0 };
        return 0;
}

int model_vector_make(const struct profile *profile, const struct usage *usage, struct model_vector *ret)
{
        struct model_vector vector = { 0 };
        struct model_prices prices;
        int err;

        model_prices_find(profile, &prices);
        err = model_vector_price(&prices, usage, &vector);
        if (!err)
                *ret = vector;
        return err;
}

static int add_rest(struct model_vector *to, const struct model_vector *from, double factor)
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
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                to->component_spread_mj[c] += fabs(factor) * from->component_spread_mj[c];
        to->unknown |= from->unknown;
        if (factor != 0)
                to->unpriced |= from->unpriced;
        return 0;
}

int model_vector_add_rest(struct model_vector *to, const struct model_vector *from)
{
        return add_rest(to, from, 1);
}

int model_vector_add_scaled(struct model_vector *to, const struct model_vector *from, double factor)
{
        int err = add_rest(to, from, factor);

        for (size_t i = 0; !err && i < from->n; i++)
                to->weight[i] += factor * from->weight[i];
        return err;
}

int model_vector_add(struct model_vector *to, const struct model_vector *from)
{
        return model_vector_add_scaled(to, from, 1);
}
