/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns-private.h"
#include "model/radio-usage.h"
#include "util/units.h"
#include "util/util.h"

struct seen {
        bool policies[COLUMNS_POLICIES_MAX];
        bool loaded[COLUMNS_POLICIES_MAX]; /* as the load of a mode */
        bool idle[COLUMNS_POLICIES_MAX];   /* has coefficients for idling */
        bool terms[TERM_COUNT];
        bool sent;                         /* sent more than acknowledgements of received data */
        bool dark;                         /* the screen was off in a part of some row */
        uint32_t levels[COLUMNS_POINTS_MAX + 1];
        size_t n_levels;
};

void columns_thin(uint32_t *list, size_t *n, size_t most)
{
        while (*n > most && *n > 2) {
                size_t closest = 1;

                for (size_t i = 2; i + 1 < *n; i++)
                        if (list[i + 1] - list[i - 1] < list[closest + 1] - list[closest - 1])
                                closest = i;
                memmove(&list[closest], &list[closest + 1], (*n - closest - 1) * sizeof(*list));
                --*n;
        }
}

static void add_level(struct seen *seen, uint32_t brightness)
{
        size_t at = 0;

        while (at < seen->n_levels && seen->levels[at] < brightness)
                at++;
        if (at < seen->n_levels && seen->levels[at] == brightness)
                return;
        memmove(&seen->levels[at + 1], &seen->levels[at], (seen->n_levels - at) * sizeof(seen->levels[0]));
        seen->levels[at] = brightness;
        seen->n_levels++;
        columns_thin(seen->levels, &seen->n_levels, COLUMNS_POINTS_MAX);
}

static void see_level(struct seen *seen, const struct point *screen)
{
        if (screen->on_ns > 0 && screen->brightness != BRIGHTNESS_UNKNOWN)
                add_level(seen, screen->brightness);
}

/* A gap between levels wider than this gets a level in its middle. Both are shares of the range. */
#define GAP_MAX 0.5
#define NEAR_END 0.1

/* The display's power is nearly a line over its levels, so that more of them would only add errors. */
#define LEVELS_MAX 12

/*
 * A short calibration has two or three levels. The levels between, and the brightest, are then determined by
 * the smoothness of the curve, with the corresponding error.
 */
static void fill_levels(struct seen *seen, uint32_t max_brightness)
{
        columns_thin(seen->levels, &seen->n_levels, LEVELS_MAX);
        if (seen->n_levels < 2 || max_brightness == 0)
                return;
        if (seen->levels[seen->n_levels - 1] < (1 - NEAR_END) * max_brightness)
                add_level(seen, max_brightness);
        for (size_t i = 1; i < seen->n_levels; i++) {
                uint32_t low = seen->levels[i - 1], high = seen->levels[i];

                if (high - low > GAP_MAX * max_brightness)
                        add_level(seen, low + (high - low) / 2);
        }
}

/*
 * The system moves small amounts by itself, which belong to the base. A coefficient from these would have an
 * error many times its value; "not measured" is right. Loads are far above.
 */
static bool stands_out(uint64_t amount, double trickle_per_s, const struct usage *usage)
{
        return (double)amount > trickle_per_s * (double)usage->time_ns / NS_PER_S;
}

/* A screen that was on for less than this part of a row was off in it. */
#define LIT 0.999

static int see(struct seen *seen, struct device *device, const struct usage *usage)
{
        int err;

        for (size_t i = 0; i < usage->cpu.n; i++) {
                if (usage->cpu.list[i].busy_ns == 0)
                        continue;
                err = columns_device_learn(device, &usage->cpu.list[i]);
                if (err)
                        return err;
        }
        for (size_t i = 0; i < usage->screen.n; i++)
                see_level(seen, &usage->screen.list[i]);
        seen->dark = seen->dark || usage->time_ns == 0 || (double)usage_screen_ns(usage) < LIT * (double)usage->time_ns;
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (amount_kinds[i].term != TERM_NONE &&
                    (device->prices_bytes || amount_kinds[i].have != USAGE_OTHER_NET))
                        seen->terms[amount_kinds[i].term] |=
                                stands_out(usage->amount[i], amount_kinds[i].trickle_per_s, usage);
        return 0;
}

/*
 * Shares above which the CPU was busy, or data was sent, as the load of a mode, and not only by other
 * programs or acknowledgements.
 */
#define LOADED 0.5
#define SENT 0.1

static void see_busy(struct seen *seen, const struct device *device, const struct usage *usage)
{
        for (size_t i = 0; i < usage->cpu.n; i++) {
                ssize_t at = columns_device_find(device, usage->cpu.list[i].policy);

                if (at < 0 || usage->cpu.list[i].busy_ns == 0)
                        continue;
                seen->policies[at] = seen->idle[at] = true;
                seen->loaded[at] = seen->loaded[at] ||
                                   (double)usage->cpu.list[i].busy_ns > LOADED * (double)usage->time_ns;
        }
        seen->sent = seen->sent || (double)usage->wifi_tx_bytes > SENT * (double)usage->wifi_rx_bytes;
}

/* A fitted radio replaces the prices of bytes and bursts. */
static void see_radio(struct seen *seen, const struct device *device)
{
        for (enum air air = 0; device->radio && air < AIR_COUNT; air++)
                if (radio_usage_radio(device->radio, air))
                        seen->terms[radio_usage_term(air)] = true;
        if (device->radio && radio_usage_radio(device->radio, AIR_WIFI))
                seen->terms[TERM_WIFI_RX] = seen->terms[TERM_WIFI_TX] = seen->terms[TERM_WIFI_WAKE] = false;
}

bool columns_can_fit(const struct device *device, const char *kind)
{
        static const char *const kinds[AIR_COUNT] = { [AIR_WIFI] = "radio", [AIR_CELLULAR] = "cellular" };

        for (enum air air = 0; air < AIR_COUNT; air++)
                if (strcmp(kind, kinds[air]) == 0)
                        return device->radio && radio_usage_radio(device->radio, air);
        return true;
}

/* With --only, the columns are those of the earlier profile and those measured again. */
static void see_before(struct seen *seen, const struct device *device)
{
        const struct profile *before = device->before;
        bool policies[COLUMNS_POLICIES_MAX] = { false }, idle[COLUMNS_POLICIES_MAX] = { false },
             terms[TERM_COUNT] = { false };
        bool cpu = device->only & 1u << COMPONENT_CPU;

        seen->dark = true;
        if (!(device->only & 1u << COMPONENT_DISPLAY))
                seen->n_levels = 0;
        for (size_t i = 0; i < before->n_coefficients; i++) {
                const struct coefficient *coefficient = &before->coefficients[i];
                ssize_t at = model_term_component(coefficient->term) == COMPONENT_CPU ?
                                     columns_device_find(device, coefficient->policy) : -1;

                if (at >= 0 && coefficient->term == TERM_CPU_ACTIVE)
                        policies[at] = true;
                if (at >= 0 && coefficient->term == TERM_CPU_IDLE)
                        idle[at] = true;
                if (coefficient->term == TERM_DISPLAY)
                        add_level(seen, coefficient->point);
                terms[coefficient->term] |= !*coefficient->disk;
        }
        for (size_t i = 0; i < COLUMNS_POLICIES_MAX; i++) {
                seen->policies[i] = policies[i] || (seen->policies[i] && cpu);
                seen->idle[i] = idle[i] || cpu;
        }
        for (size_t i = 0; i < TERM_COUNT; i++)
                seen->terms[i] = terms[i] || (seen->terms[i] && device->only & 1u << model_term_component(i));
}

/* Is it measured again, that is, was it asked for and loaded? */
static bool is_fresh(const struct device *device, const struct seen *seen, const struct coefficient *coefficient)
{
        if (!(device->only & 1u << model_term_component(coefficient->term)))
                return false;
        switch (coefficient->term) {
        case TERM_CPU_ACTIVE:
        case TERM_CPU_SHARED:
        case TERM_CPU_IDLE:
                return seen->loaded[columns_device_find(device, coefficient->policy)];
        case TERM_DISPLAY:
                return seen->n_levels > 0;
        case TERM_WIFI_TX:
                return seen->terms[TERM_WIFI_TX] && seen->sent;
        default:
                return seen->terms[coefficient->term];
        }
}

/* @own: columns seen without the earlier profile. */
static int find_kept(struct columns *columns, const struct seen *own)
{
        const struct profile *before = columns->device.before;

        columns->kept = calloc(columns->n + 1, sizeof(*columns->kept));
        if (!columns->kept)
                return -ENOMEM;
        for (size_t j = 0; before && j < columns->n; j++) {
                const struct coefficient *coefficient = &columns->list[j];

                columns->kept[j] = coefficient->term != TERM_BASE && !is_fresh(&columns->device, own, coefficient) &&
                                   profile_find(before, coefficient->term, coefficient->policy, coefficient->point,
                                                "") >= 0;
        }
        return 0;
}

static void add(struct columns *columns, enum term term, uint32_t policy, uint32_t point)
{
        if (columns->term[term] == SIZE_MAX)
                columns->term[term] = columns->n;
        columns->list[columns->n++] = (struct coefficient){
                .term = term, .policy = policy, .point = point, .value = NAN, .standard_error = NAN
        };
}

static void add_policies(struct columns *columns, const struct seen *seen, enum term term, size_t *first)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];

                first[i] = SIZE_MAX;
                if (!seen->policies[i] || (term == TERM_CPU_SHARED && !columns_policy_shares(policy)))
                        continue;
                first[i] = columns->n;
                for (size_t k = 0; k < policy->n_khz; k++)
                        add(columns, term, policy->policy, policy->khz[k]);
        }
}

/*
 * Idle power rises smoothly with frequency and is small in a calibration, so two points are enough; where it may be
 * large, it is a part of the busy power at each frequency. An earlier profile without it includes it in S, so the
 * columns are added only for CPUs that are measured again.
 */
static void add_idle(struct columns *columns, const struct seen *seen)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                const size_t at[] = { (policy->n_khz - 1) / 2, policy->n_khz - 1 };

                columns->idle[i] = SIZE_MAX;
                if (!seen->policies[i] || !seen->idle[i] || policy->n_khz < 2)
                        continue;
                columns->idle[i] = columns->n;
                for (size_t k = 1; k < policy->n_khz && columns->device.idle_sd > 0; k++)
                        add(columns, TERM_CPU_IDLE, policy->policy, policy->khz[k]);
                for (size_t k = 0; k < ARRAY_SIZE(at) && !(columns->device.idle_sd > 0); k++)
                        if (at[k] > 0)
                                add(columns, TERM_CPU_IDLE, policy->policy, policy->khz[at[k]]);
                columns->n_idle[i] = columns->n - columns->idle[i];
        }
}

bool columns_have_kinds(const struct columns *columns)
{
        return columns->term[TERM_CPU_INSTRUCTIONS] != SIZE_MAX;
}

const struct kind_prior *columns_kind_prior(const struct columns *columns, size_t column)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                if (columns->kind[i].instructions == column)
                        return &columns->kind[i].instructions_prior;
                if (columns->kind[i].misses == column)
                        return &columns->kind[i].misses_prior;
        }
        return NULL;
}

static bool counts_misses(const struct device_policy *policy, const struct usage *const *usages, size_t n)
{
        double sum[COUNTED_COUNT] = { 0 };

        for (size_t u = 0; u < n; u++)
                if (usages[u])
                        columns_row_kind(policy, &usages[u]->counted, sum);
        return sum[COUNTED_MISSES] > 0;
}

/*
 * A and S are for the mean kind of all rows, unless the device has a kind. With an earlier profile only its kind is
 * known.
 */
static void add_kinds(struct columns *columns, enum term term, const struct usage *const *usages, size_t n)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];
                struct columns_kind *kind = &columns->kind[i];
                size_t *column = term == TERM_CPU_MISSES ? &kind->misses : &kind->instructions;
                double sum[COUNTED_COUNT] = { 0 };
                bool any = false;

                *column = SIZE_MAX;
                for (size_t u = 0; u < n; u++)
                        any = (usages[u] && columns_row_kind(policy, &usages[u]->counted, sum)) || any;
                if (any && columns->device.usual) {
                        double own[COUNTED_COUNT] = { 0 };

                        if (columns_row_kind(policy, columns->device.usual, own))
                                memcpy(sum, own, sizeof(own));
                }
                if (!any || columns->active[i] == SIZE_MAX || columns->device.before ||
                    (term == TERM_CPU_MISSES && !counts_misses(policy, usages, n)))
                        continue;
                kind->usual_instructions = sum[COUNTED_INSTRUCTIONS] / sum[COUNTED_CYCLES];
                kind->usual_misses = sum[COUNTED_MISSES] / sum[COUNTED_CYCLES];
                kind->instructions_prior = kind_prior_instructions(kind->usual_instructions);
                kind->misses_prior = kind_prior_misses(columns->device.miss_event);
                *column = columns->n;
                add(columns, term, policy->policy, 0);
        }
}

int columns_make(const struct device *device, const struct usage *const *usages, size_t n,
                 struct columns *ret)
{
        struct columns columns = { .device = *device };
        struct seen seen = { 0 }, own;
        size_t most = 1 + TERM_COUNT + COLUMNS_POINTS_MAX;
        int err = 0;

        for (size_t i = 0; i < n; i++) {
                err = usages[i] ? see(&seen, &columns.device, usages[i]) : 0;
                if (err)
                        return err;
        }
        for (size_t i = 0; i < n; i++)
                if (usages[i])
                        see_busy(&seen, &columns.device, usages[i]);
        see_radio(&seen, device);
        own = seen;
        if (device->before)
                see_before(&seen, &columns.device);
        see_radio(&seen, device);
        if (!device->before || device->only & 1u << COMPONENT_DISPLAY)
                fill_levels(&seen, device->max_brightness);
        for (size_t i = 0; i < columns.device.n_policies; i++)
                most += 3 * columns.device.policies[i].n_khz + 2;
        for (size_t i = 0; i < TERM_COUNT; i++)
                columns.term[i] = SIZE_MAX;
        columns.list = calloc(most, sizeof(*columns.list));
        if (!columns.list)
                return -ENOMEM;

        add(&columns, TERM_BASE, 0, 0);
        add_policies(&columns, &seen, TERM_CPU_ACTIVE, columns.active);
        add_policies(&columns, &seen, TERM_CPU_SHARED, columns.shared);
        add_idle(&columns, &seen);
        add_kinds(&columns, TERM_CPU_INSTRUCTIONS, usages, n);
        add_kinds(&columns, TERM_CPU_MISSES, usages, n);
        columns.dimmest = seen.n_levels > 0 && !seen.dark ? seen.levels[0] : BRIGHTNESS_UNKNOWN;
        for (size_t i = columns.dimmest != BRIGHTNESS_UNKNOWN; i < seen.n_levels; i++) {
                add(&columns, TERM_DISPLAY, 0, seen.levels[i]);
                columns.levels++;
        }
        for (enum term term = TERM_DISK_READ; term <= TERM_GPU; term++)
                if (seen.terms[term])
                        add(&columns, term, 0, 0);
        err = find_kept(&columns, &own);
        if (err) {
                columns_clear(&columns);
                return err;
        }
        *ret = columns;
        return 0;
}

void columns_clear(struct columns *columns)
{
        free(columns->list);
        free(columns->kept);
        free(columns->last);
        *columns = (struct columns){ 0 };
}
