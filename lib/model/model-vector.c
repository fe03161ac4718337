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

/* The coefficients of one term of one policy lie side by side, ascending by point: [*first, *end). */
static bool find_range(const struct profile *profile, enum term term, uint32_t policy, size_t *first,
                       size_t *end)
{
        size_t i = 0;

        while (i < profile->n_coefficients && (profile->coefficients[i].term < term ||
                                               (profile->coefficients[i].term == term &&
                                                profile->coefficients[i].policy < policy)))
                i++;
        *first = i;
        while (i < profile->n_coefficients && profile->coefficients[i].term == term &&
               profile->coefficients[i].policy == policy)
                i++;
        *end = i;
        return *end > *first;
}

static bool has_term(const struct profile *profile, enum term term)
{
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                if (profile->coefficients[i].term == term)
                        return true;
        }
        return false;
}

static bool has_component(const struct profile *profile, enum component component)
{
        for (size_t i = 0; i < profile->n_coefficients; i++) {
                if (model_term_component(profile->coefficients[i].term) == component)
                        return true;
        }
        return false;
}

/*
 * Between two measured points the weight is split linearly. Outside them the nearest takes all of it, and
 * what is not known is how far the power goes on: for a frequency at most in proportion to it (dynamic power
 * falls faster, static power does not fall at all); for a brightness along the line of the two levels at that
 * end.
 */
static void split_weight(const struct profile *profile, size_t first, size_t end, uint32_t point,
                         double amount, struct model_vector *vector)
{
        const struct coefficient *c = profile->coefficients;
        enum component component = model_term_component(c[first].term);
        size_t above = first, nearest, next;
        double spread;

        while (above < end && c[above].point < point)
                above++;
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
        vector->component_spread_mj[component] += fabs(spread * amount);
}

/*
 * Half the weight on the cheapest and half on the dearest candidate;
 * half their distance is not known better.
 */
static void split_range(const struct profile *profile, size_t first, size_t end, double amount,
                        struct model_vector *vector)
{
        const struct coefficient *c = profile->coefficients;
        size_t low = first, high = first;

        for (size_t i = first; i < end; i++) {
                low = c[i].value < c[low].value ? i : low;
                high = c[i].value > c[high].value ? i : high;
        }
        vector->weight[low] += amount / 2;
        vector->weight[high] += amount / 2;
        vector->component_spread_mj[model_term_component(c[first].term)] +=
                fabs(c[high].value - c[low].value) / 2 * fabs(amount);
}

static double point_power(const struct profile *profile, enum term term, uint32_t policy, uint32_t point)
{
        ssize_t i = profile_find(profile, term, policy, point, "");

        return i < 0 ? 0 : profile->coefficients[i].value;
}

static void add_at(const struct profile *profile, enum term term, uint32_t policy, uint32_t khz,
                   double amount, struct model_vector *vector)
{
        size_t first, end;

        if (amount != 0 && find_range(profile, term, policy, &first, &end))
                split_weight(profile, first, end, khz, amount, vector);
}

static void add_cpu_point(const struct profile *profile, uint32_t policy, uint32_t khz, double busy_s,
                          double any_s, struct model_vector *vector)
{
        policy = profile_as(profile, policy);
        add_at(profile, TERM_CPU_ACTIVE, policy, khz, busy_s, vector);
        add_at(profile, TERM_CPU_SHARED, policy, khz, any_s, vector);
        add_at(profile, TERM_CPU_IDLE, policy, khz, any_s, vector);
}

/*
 * Above the lowest operating point, idling costs more. A CPU that nobody drives is mostly at its lowest, so where no
 * frequency is known nothing is added, and half of the most that it may be is not known better.
 */
static void add_idle(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        for (size_t i = 0; i < usage->idle.n; i++) {
                const struct point *idle = &usage->idle.list[i];
                uint32_t policy = profile_as(profile, idle->policy);
                double idle_s = (double)idle->idle_ns * S_PER_NS;
                size_t first, end;

                if (idle->khz != KHZ_UNKNOWN)
                        add_at(profile, TERM_CPU_IDLE, policy, idle->khz, idle_s, vector);
                else if (find_range(profile, TERM_CPU_IDLE, policy, &first, &end))
                        vector->component_spread_mj[COMPONENT_BASE] +=
                                fabs(profile->coefficients[end - 1].value) / 2 * idle_s;
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

static int name_missing_cpu(const struct profile *profile, const struct point *cpu,
                            struct model_vector *vector)
{
        static const struct {
                enum term term;
                const char *word;
        } terms[] = { { TERM_CPU_ACTIVE, "active_mw" }, { TERM_CPU_SHARED, "shared_mw" } };
        char name[PROFILE_KEY_MAX];
        size_t first, end;
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
                if (find_range(profile, terms[i].term, profile_as(profile, cpu->policy), &first, &end))
                        continue;
                snprintf(name, sizeof(name), "cpu.%u.%s", cpu->policy, terms[i].word);
                err = unpriced(vector, COMPONENT_CPU, name);
                if (err < 0)
                        return err;
        }
        return 0;
}

/* Frequency unknown: anything between the cheapest and the dearest operating point that it may have been. */
static int add_cpu_range(const struct profile *profile, const struct point *cpu, double busy_s,
                         double any_s, struct model_vector *vector)
{
        const struct coefficient *low = NULL, *high = NULL;
        bool known = is_known_policy(profile, cpu->policy);
        uint32_t as = profile_as(profile, cpu->policy);
        double low_mj = 0, high_mj = 0;

        for (size_t i = 0; i < profile->n_coefficients; i++) {
                const struct coefficient *c = &profile->coefficients[i];
                double mj;

                if (c->term != TERM_CPU_ACTIVE || (known && c->policy != as))
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
                return name_missing_cpu(profile, cpu, vector);
        add_cpu_point(profile, low->policy, low->point, busy_s / 2, any_s / 2, vector);
        add_cpu_point(profile, high->policy, high->point, busy_s / 2, any_s / 2, vector);
        vector->component_spread_mj[COMPONENT_CPU] += (high_mj - low_mj) / 2;
        return 0;
}

static int add_cpu(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        int err;

        if (!(usage->have & USAGE_CPU))
                return not_counted(vector, COMPONENT_CPU);
        add_idle(profile, usage, vector);
        if (usage_busy_ns(usage) == 0)
                return 0;
        if (!has_term(profile, TERM_CPU_ACTIVE))
                return unpriced(vector, COMPONENT_CPU, component_names[COMPONENT_CPU]);
        for (size_t i = 0; i < usage->cpu.n; i++) {
                const struct point *cpu = &usage->cpu.list[i];
                double busy_s = (double)cpu->busy_ns * S_PER_NS, any_s = (double)cpu->any_ns * S_PER_NS;

                if (cpu->busy_ns == 0 && cpu->any_ns == 0)
                        continue;
                if (cpu->khz != KHZ_UNKNOWN)
                        add_cpu_point(profile, cpu->policy, cpu->khz, busy_s, any_s, vector);
                err = cpu->khz == KHZ_UNKNOWN ? add_cpu_range(profile, cpu, busy_s, any_s, vector) :
                                                name_missing_cpu(profile, cpu, vector);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int add_display(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        size_t first, end;

        if (!(usage->have & USAGE_DISPLAY))
                return not_counted(vector, COMPONENT_DISPLAY);
        if (usage_screen_ns(usage) == 0)
                return 0;
        if (!find_range(profile, TERM_DISPLAY, 0, &first, &end))
                return unpriced(vector, COMPONENT_DISPLAY, component_names[COMPONENT_DISPLAY]);
        for (size_t i = 0; i < usage->screen.n; i++) {
                double on_s = (double)usage->screen.list[i].on_ns * S_PER_NS;

                if (usage->screen.list[i].brightness == BRIGHTNESS_UNKNOWN)
                        split_range(profile, first, end, on_s, vector);
                else
                        split_weight(profile, first, end, usage->screen.list[i].brightness, on_s, vector);
        }
        return 0;
}

/*
 * One amount of one term that has no points. Several storages share it by range, as bytes are not counted by
 * storage.
 */
static int add_amount(const struct profile *profile, enum term term, double amount, struct model_vector *vector)
{
        char key[PROFILE_KEY_MAX];
        size_t first, end;

        if (amount == 0)
                return 0;
        if (find_range(profile, term, 0, &first, &end)) {
                split_range(profile, first, end, amount, vector);
                return 0;
        }
        snprintf(key, sizeof(key), "%s.%s", term_keys[term].section, term_keys[term].key);
        return unpriced(vector, model_term_component(term), key);
}

/*
 * A part that apps hold. Without a price it is named and makes no forecast uncertain, as what is not known of an app has
 * the width of such parts (model_misfit_sd_j()). Most machines do not tell it: so not counted is unknown, and named only
 * where the profile could price it. A GPS without a price for its sleep is in the base's.
 * Bluetooth without one is in the base's as well, as far as a calibration met it, and is named.
 */
static int add_held_amount(const struct profile *profile, const struct usage *usage, enum amount amount,
                           struct model_vector *vector)
{
        const struct amount_kind *kind = &amount_kinds[amount];
        enum component component = model_term_component(kind->term);
        bool counted = usage->have & kind->have, priced = has_term(profile, kind->term);

        if (counted && priced)
                return add_amount(profile, kind->term, (double)usage->amount[amount] / kind->per_unit, vector);
        if (kind->term == TERM_BLUETOOTH)
                return counted && usage->amount[amount] > 0 ? name_missing(vector, "bluetooth") : 0;
        if (component == COMPONENT_BASE || (counted && usage->amount[amount] == 0))
                return 0;
        if (priced)
                return not_counted(vector, component);
        vector->unknown |= UINT32_C(1) << component;
        return counted ? name_missing(vector, component_names[component]) : 0;
}

static bool is_held(const struct amount_kind *kind)
{
        return kind->term != TERM_NONE && term_keys[kind->term].held;
}

static int add_held(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        int err = 0;

        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                if (is_held(&amount_kinds[i]))
                        err = add_held_amount(profile, usage, i, vector);
        return err;
}

static bool is_priced_in(const struct amount_kind *kind, enum component component)
{
        return kind->term != TERM_NONE && !is_held(kind) && model_term_component(kind->term) == component;
}

/*
 * The plain amounts of a component: wholly unknown where they were not counted, or where the profile has no
 * coefficient of it. WiFi: the machine knows its association, which is base, where bytes by app are not counted.
 */
static int add_amounts(const struct profile *profile, const struct usage *usage, enum component component,
                       struct model_vector *vector)
{
        bool used = false, counted = true;
        int err = 0;

        for (size_t i = 0; i < AMOUNT_COUNT; i++) {
                if (!is_priced_in(&amount_kinds[i], component))
                        continue;
                used = used || usage->amount[i] != 0;
                counted = counted && (usage->have & amount_kinds[i].have) == amount_kinds[i].have;
        }
        if (!counted)
                err = not_counted(vector, component);
        if (err || !used)
                return err;
        if (!has_component(profile, component))
                return unpriced(vector, component, component_names[component]);
        for (size_t i = 0; !err && i < AMOUNT_COUNT; i++)
                if (is_priced_in(&amount_kinds[i], component))
                        err = add_amount(profile, amount_kinds[i].term,
                                         (double)usage->amount[i] / amount_kinds[i].per_unit, vector);
        return err;
}

/* Where packets were counted and the profile has the radio, it prices what bytes and bursts price else. */
static bool is_by_radio(const struct profile *profile, const struct usage *usage, enum air air)
{
        return (usage->have & USAGE_RADIO) && radio_usage_radio(profile, air);
}

/* A radio that is on takes what it draws if nothing ever comes, and what packets take above that. */
static int add_radio(const struct profile *profile, const struct usage *usage, enum air air, uint64_t on_ns,
                     struct model_vector *vector)
{
        ssize_t factor = profile_find(profile, radio_usage_term(air), 0, 0, "");
        double above_mj, rest_mw = 0;
        int err = radio_usage_price(profile, air, usage, &above_mj);

        if (!err)
                err = radio_usage_rest_mw(profile, air, &rest_mw);
        vector->weight[factor] += above_mj + rest_mw * (double)on_ns * S_PER_NS;
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
static void add_signal(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        uint32_t minus_dbm[SIGNALS_MAX];
        double share[SIGNALS_MAX], air_mj = model_air_mj(vector, profile, NULL);
        double known = 0, least = INFINITY, most = -INFINITY;
        size_t first, end, n = 0;

        if (!(usage->have & USAGE_WIFI) || air_mj == 0 || !find_range(profile, TERM_WIFI_SIGNAL, 0, &first, &end))
                return;
        for (; first + n < end && n < SIGNALS_MAX; n++)
                minus_dbm[n] = profile->coefficients[first + n].point;
        usage_signal_shares(usage, minus_dbm, n, share);
        for (size_t i = 0; i < n; i++) {
                double part = profile->coefficients[first + i].value;

                vector->weight[first + i] += share[i] * air_mj;
                known += share[i];
                least = fmin(least, part);
                most = fmax(most, part);
        }
        vector->component_spread_mj[COMPONENT_WIFI] += fmax(1 - known, 0) * air_mj * (most - least) / 2;
}

static int add_wifi(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        int err = 0;

        if (!is_by_radio(profile, usage, AIR_WIFI))
                return add_amounts(profile, usage, COMPONENT_WIFI, vector);
        if (!(usage->have & USAGE_WIFI))
                return not_counted(vector, COMPONENT_WIFI);
        if (has_term(profile, TERM_WIFI_ON)) /* drawn beside the radio */
                err = add_amount(profile, TERM_WIFI_ON, (double)usage->wifi_on_ns * S_PER_NS, vector);
        return err ? err : add_radio(profile, usage, AIR_WIFI, usage->wifi_on_ns, vector);
}

/* Where no radio prices it, its bytes are among those of name_other_net(). */
static int add_cellular(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        if (!radio_usage_radio(profile, AIR_CELLULAR))
                return 0;
        if (!is_by_radio(profile, usage, AIR_CELLULAR))
                return not_counted(vector, COMPONENT_CELLULAR);
        return add_radio(profile, usage, AIR_CELLULAR, usage->time_ns, vector);
}

/*
 * Ethernet, and a modem that the profile has no radio for. They make no forecast uncertain, as their energy is mostly small.
 */
static int name_other_net(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        uint64_t priced = is_by_radio(profile, usage, AIR_CELLULAR) ? radio_usage_bytes(usage, AIR_CELLULAR) : 0;

        if (!(usage->have & USAGE_OTHER_NET) || usage->other_rx_bytes + usage->other_tx_bytes <= priced)
                return 0;
        return name_missing(vector, "network (other than WiFi)");
}

static int add_all(const struct profile *profile, const struct usage *usage, struct model_vector *vector)
{
        int err = add_amounts(profile, usage, COMPONENT_BASE, vector);

        if (!err)
                err = add_cpu(profile, usage, vector);
        if (!err)
                err = add_display(profile, usage, vector);
        for (enum component c = COMPONENT_DISK; !err && c < COMPONENT_BASE; c++)
                err = c == COMPONENT_WIFI ? add_wifi(profile, usage, vector) : add_amounts(profile, usage, c, vector);
        if (!err)
                add_signal(profile, usage, vector);
        if (!err)
                err = add_cellular(profile, usage, vector);
        if (!err)
                err = add_held(profile, usage, vector);
        return err ? err : name_other_net(profile, usage, vector);
}

int model_vector_make(const struct profile *profile, const struct usage *usage, struct model_vector *ret)
{
        _cleanup_(model_vector_clear) struct model_vector vector = { .n = profile->n_coefficients };
        int err;

        vector.weight = calloc(vector.n ? vector.n : 1, sizeof(*vector.weight));
        if (!vector.weight)
                return -ENOMEM;
        err = add_all(profile, usage, &vector);
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
