/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "columns.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/radio-usage.h"
#include "util/units.h"
#include "util/util.h"

static int compare_policies(const void *a, const void *b)
{
        const struct device_policy *x = a, *y = b;

        return (x->policy > y->policy) - (x->policy < y->policy);
}

static bool read_u32(const cJSON *json, const char *name, double most, uint32_t *ret)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);

        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < most))
                return false;
        *ret = (uint32_t)item->valuedouble;
        return true;
}

static int members_from_json(const cJSON *json, struct device_policy *policy)
{
        const cJSON *item;

        read_u32(json, "sharing", 1e6, &policy->sharing);
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "members")) {
                struct device_member *member = &policy->members[policy->n_members];
                const char *cpus = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "cpus"));

                if (policy->n_members == COLUMNS_MEMBERS_MAX ||
                    !read_u32(item, "policy", 1e6, &member->policy))
                        return -EINVAL;
                snprintf(member->cpus, sizeof(member->cpus), "%s", cpus ? cpus : "");
                policy->n_members++;
        }
        return 0;
}

static int policy_from_json(const cJSON *json, struct device_policy *policy)
{
        const cJSON *cpus = cJSON_GetObjectItemCaseSensitive(json, "cpus");
        const cJSON *khz;

        *policy = (struct device_policy){ 0 };
        if (!read_u32(json, "policy", 1e6, &policy->policy))
                return -EINVAL;
        if (cJSON_IsString(cpus))
                snprintf(policy->cpus, sizeof(policy->cpus), "%s", cpus->valuestring);
        read_u32(json, "n_cpus", 1e6, &policy->n_cpus);
        cJSON_ArrayForEach(khz, cJSON_GetObjectItemCaseSensitive(json, "khz")) {
                double value = cJSON_IsNumber(khz) ? khz->valuedouble : -1;

                if (policy->n_khz == COLUMNS_POINTS_MAX || !(value >= 0 && value <= UINT32_MAX))
                        return -EINVAL;
                if (policy->n_khz > 0 && value <= policy->khz[policy->n_khz - 1])
                        return -EINVAL;
                policy->khz[policy->n_khz++] = (uint32_t)value;
        }
        return members_from_json(json, policy);
}

bool columns_policy_shares(const struct device_policy *policy)
{
        return (policy->sharing ? policy->sharing : policy->n_cpus) != 1;
}

static bool has_policy(const struct device_policy *group, uint32_t policy)
{
        for (size_t i = 0; i < group->n_members; i++)
                if (group->members[i].policy == policy)
                        return true;
        return group->policy == policy;
}

/* A coefficient without a standard error cannot be the prior of a fit. */
static bool can_be_kept(const struct profile *before)
{
        for (size_t i = 0; i < before->n_coefficients; i++)
                if (isnan(before->coefficients[i].standard_error) && !term_keys[before->coefficients[i].term].held)
                        return false;
        return profile_find(before, TERM_BASE, 0, 0, "") >= 0;
}

static int before_from_json(const struct cJSON *json, struct device *device)
{
        const char *before = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "before"));
        const cJSON *item;
        int err;

        if (!before)
                return 0;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "only")) {
                const char *name = cJSON_GetStringValue(item);
                int component = name ? component_find(name, strlen(name)) : -EINVAL;

                if (component < 0)
                        return -EINVAL;
                device->only |= 1u << component;
        }
        err = profile_parse(before, strlen(before), "before", NULL, &device->before);
        return !err && !can_be_kept(device->before) ? -EINVAL : err;
}

void columns_device_clear(struct device *device)
{
        profile_free(TAKE_PTR(device->before));
}

int columns_device_from_json(const struct cJSON *json, struct device *device)
{
        const cJSON *item;

        device->n_policies = 0;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "policies")) {
                if (device->n_policies == COLUMNS_POLICIES_MAX ||
                    policy_from_json(item, &device->policies[device->n_policies]) < 0)
                        return -EINVAL;
                device->n_policies++;
        }
        qsort(device->policies, device->n_policies, sizeof(device->policies[0]), compare_policies);
        for (size_t i = 1; i < device->n_policies; i++)
                if (device->policies[i].policy == device->policies[i - 1].policy)
                        return -EINVAL;
        return before_from_json(json, device);
}

static ssize_t find_policy(const struct device *device, uint32_t policy)
{
        for (size_t i = 0; i < device->n_policies; i++)
                if (has_policy(&device->policies[i], policy))
                        return (ssize_t)i;
        return -1;
}

/* Operating points that were seen but are not in the device's list, e.g. the only one without cpufreq. */
static int learn_point(struct device *device, const struct point *cpu)
{
        ssize_t at = find_policy(device, cpu->policy);
        struct device_policy *policy;

        if (at >= 0 && device->policies[at].n_khz > 0)
                return 0;
        if (at < 0) {
                if (device->n_policies == COLUMNS_POLICIES_MAX)
                        return -E2BIG;
                device->policies[device->n_policies++] = (struct device_policy){ .policy = cpu->policy };
                qsort(device->policies, device->n_policies, sizeof(device->policies[0]), compare_policies);
                at = find_policy(device, cpu->policy);
        }
        policy = &device->policies[at];
        policy->khz[policy->n_khz++] = cpu->khz;
        return 0;
}

struct seen {
        bool policies[COLUMNS_POLICIES_MAX];
        bool loaded[COLUMNS_POLICIES_MAX]; /* as the load of a state */
        bool idle[COLUMNS_POLICIES_MAX];   /* has prices of idling */
        bool terms[TERM_COUNT];
        bool sent;                         /* more than acknowledgements of what is received */
        uint32_t levels[COLUMNS_POINTS_MAX];
        size_t n_levels;
};

static int add_level(struct seen *seen, uint32_t brightness)
{
        size_t at = 0;

        while (at < seen->n_levels && seen->levels[at] < brightness)
                at++;
        if (at < seen->n_levels && seen->levels[at] == brightness)
                return 0;
        if (seen->n_levels == COLUMNS_POINTS_MAX)
                return -E2BIG;
        memmove(&seen->levels[at + 1], &seen->levels[at], (seen->n_levels - at) * sizeof(seen->levels[0]));
        seen->levels[at] = brightness;
        seen->n_levels++;
        return 0;
}

static int see_level(struct seen *seen, const struct point *screen)
{
        if (screen->on_ns == 0 || screen->brightness == BRIGHTNESS_UNKNOWN)
                return 0;
        return add_level(seen, screen->brightness);
}

/* Wider gaps between levels get one in their middle, as shares of the range. */
#define GAP_MAX 0.5
#define NEAR_END 0.1

/*
 * A short calibration shows two or three levels. The ones between, and the brightest, are then known by the
 * curve's smoothness, and have the error of that.
 */
static int fill_levels(struct seen *seen, uint32_t max_brightness)
{
        int err = 0;

        if (seen->n_levels < 2 || max_brightness == 0)
                return 0;
        if (seen->levels[seen->n_levels - 1] < (1 - NEAR_END) * max_brightness)
                err = add_level(seen, max_brightness);
        for (size_t i = 1; !err && i < seen->n_levels; i++) {
                uint32_t low = seen->levels[i - 1], high = seen->levels[i];

                if (high - low > GAP_MAX * max_brightness)
                        err = add_level(seen, low + (high - low) / 2);
        }
        return err;
}

/*
 * Small amounts that the system moves by itself are part of the base. A coefficient from them would have an
 * error of many times its value; "not measured" is right. Loads are far above.
 */
static bool stands_out(uint64_t amount, double trickle_per_s, const struct usage *usage)
{
        return (double)amount > trickle_per_s * (double)usage->time_ns / NS_PER_S;
}

static int see(struct seen *seen, struct device *device, const struct usage *usage)
{
        int err;

        for (size_t i = 0; i < usage->cpu.n; i++) {
                if (usage->cpu.list[i].busy_ns == 0)
                        continue;
                err = learn_point(device, &usage->cpu.list[i]);
                if (err)
                        return err;
        }
        for (size_t i = 0; i < usage->screen.n; i++) {
                err = see_level(seen, &usage->screen.list[i]);
                if (err)
                        return err;
        }
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (amount_kinds[i].term != TERM_NONE)
                        seen->terms[amount_kinds[i].term] |=
                                stands_out(usage->amount[i], amount_kinds[i].trickle_per_s, usage);
        return 0;
}

/* Above these the CPU was busy, or sent, as the load of a state, and not only for other programs or acknowledgements. */
#define LOADED 0.5
#define SENT 0.1

static void see_busy(struct seen *seen, const struct device *device, const struct usage *usage)
{
        for (size_t i = 0; i < usage->cpu.n; i++) {
                ssize_t at = find_policy(device, usage->cpu.list[i].policy);

                if (at < 0 || usage->cpu.list[i].busy_ns == 0)
                        continue;
                seen->policies[at] = seen->idle[at] = true;
                seen->loaded[at] = seen->loaded[at] || (double)usage->cpu.list[i].busy_ns > LOADED * (double)usage->time_ns;
        }
        seen->sent = seen->sent || (double)usage->wifi_tx_bytes > SENT * (double)usage->wifi_rx_bytes;
}

/* Where a radio is fitted, it prices what bytes and bursts price else. */
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

/* With --only, the columns are those of the profile before, and of what is measured again. */
static int see_before(struct seen *seen, const struct device *device)
{
        const struct profile *before = device->before;
        bool policies[COLUMNS_POLICIES_MAX] = { false }, idle[COLUMNS_POLICIES_MAX] = { false }, terms[TERM_COUNT] = { false };
        bool cpu = device->only & 1u << COMPONENT_CPU;
        int err = 0;

        if (!(device->only & 1u << COMPONENT_DISPLAY))
                seen->n_levels = 0;
        for (size_t i = 0; !err && i < before->n_coefficients; i++) {
                const struct coefficient *coefficient = &before->coefficients[i];
                ssize_t at = model_term_component(coefficient->term) == COMPONENT_CPU ?
                                     find_policy(device, coefficient->policy) : -1;

                if (at >= 0 && coefficient->term == TERM_CPU_ACTIVE)
                        policies[at] = true;
                if (at >= 0 && coefficient->term == TERM_CPU_IDLE)
                        idle[at] = true;
                if (coefficient->term == TERM_DISPLAY)
                        err = add_level(seen, coefficient->point);
                terms[coefficient->term] |= !*coefficient->disk;
        }
        for (size_t i = 0; i < COLUMNS_POLICIES_MAX; i++) {
                seen->policies[i] = policies[i] || (seen->policies[i] && cpu);
                seen->idle[i] = idle[i] || cpu;
        }
        for (size_t i = 0; i < TERM_COUNT; i++)
                seen->terms[i] = terms[i] || (seen->terms[i] && device->only & 1u << model_term_component(i));
        return err;
}

/* Measured again: it was asked for, and there was load on it. */
static bool is_fresh(const struct device *device, const struct seen *seen, const struct coefficient *coefficient)
{
        if (!(device->only & 1u << model_term_component(coefficient->term)))
                return false;
        switch (coefficient->term) {
        case TERM_CPU_ACTIVE:
        case TERM_CPU_SHARED:
        case TERM_CPU_IDLE:
                return seen->loaded[find_policy(device, coefficient->policy)];
        case TERM_DISPLAY:
                return seen->n_levels > 0;
        case TERM_WIFI_TX:
                return seen->terms[TERM_WIFI_TX] && seen->sent;
        default:
                return seen->terms[coefficient->term];
        }
}

/* @own: what was seen without the profile before. */
static int find_kept(struct columns *columns, const struct seen *own)
{
        const struct profile *before = columns->device.before;

        columns->kept = calloc(columns->n + 1, sizeof(*columns->kept));
        if (!columns->kept)
                return -ENOMEM;
        for (size_t j = 0; before && j < columns->n; j++) {
                const struct coefficient *coefficient = &columns->list[j];

                columns->kept[j] = coefficient->term != TERM_BASE && !is_fresh(&columns->device, own, coefficient) &&
                                   profile_find(before, coefficient->term, coefficient->policy, coefficient->point, "") >= 0;
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
 * What idling costs rises smoothly, and is little: two points are enough. A profile before that does not have it prices
 * it by S, so it comes only with CPUs that are measured again.
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
                for (size_t k = 0; k < ARRAY_SIZE(at); k++)
                        if (at[k] > 0)
                                add(columns, TERM_CPU_IDLE, policy->policy, policy->khz[at[k]]);
                columns->n_idle[i] = columns->n - columns->idle[i];
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
                err = see_before(&seen, &columns.device);
        see_radio(&seen, device);
        if (!err && (!device->before || device->only & 1u << COMPONENT_DISPLAY))
                err = fill_levels(&seen, device->max_brightness);
        if (err)
                return err;
        for (size_t i = 0; i < columns.device.n_policies; i++)
                most += 3 * columns.device.policies[i].n_khz;
        for (size_t i = 0; i < TERM_COUNT; i++)
                columns.term[i] = SIZE_MAX;
        columns.list = calloc(most, sizeof(*columns.list));
        if (!columns.list)
                return -ENOMEM;

        add(&columns, TERM_BASE, 0, 0);
        add_policies(&columns, &seen, TERM_CPU_ACTIVE, columns.active);
        add_policies(&columns, &seen, TERM_CPU_SHARED, columns.shared);
        add_idle(&columns, &seen);
        for (size_t i = 0; i < seen.n_levels; i++)
                add(&columns, TERM_DISPLAY, 0, seen.levels[i]);
        columns.levels = seen.n_levels;
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
        *columns = (struct columns){ 0 };
}

/* Splits @amount over the two points around @point among columns first..first+n-1. */
static void spread(const struct columns *columns, size_t first, size_t n, uint32_t point, double amount,
                   double *row)
{
        const struct coefficient *list = columns->list + first;
        size_t above = 0;
        double share;

        while (above < n && list[above].point < point)
                above++;
        if (above == n || above == 0 || list[above].point == point) {
                row[first + (above == n ? n - 1 : above)] += amount;
                return;
        }
        share = (double)(point - list[above - 1].point) / (double)(list[above].point - list[above - 1].point);
        row[first + above - 1] += (1 - share) * amount;
        row[first + above] += share * amount;
}

/* Between the lowest frequency, where it is 0, and the first column: in proportion. */
static void spread_idle(const struct columns *columns, size_t policy, uint32_t khz, double amount, double *row)
{
        uint32_t lowest = columns->device.policies[policy].khz[0];
        size_t first = columns->idle[policy];

        if (first == SIZE_MAX || khz <= lowest)
                return;
        if (khz < columns->list[first].point)
                amount *= (double)(khz - lowest) / (double)(columns->list[first].point - lowest);
        spread(columns, first, columns->n_idle[policy], khz, amount, row);
}

static void put(const struct columns *columns, enum term term, double amount, double *row)
{
        if (columns->term[term] != SIZE_MAX)
                row[columns->term[term]] += amount;
}

void columns_row(const struct columns *columns, const struct usage *usage, double *row)
{
        for (size_t i = 0; i < usage->cpu.n; i++) {
                const struct point *cpu = &usage->cpu.list[i];
                ssize_t at = find_policy(&columns->device, cpu->policy);
                size_t n = at < 0 ? 0 : columns->device.policies[at].n_khz;

                if (at < 0 || columns->active[at] == SIZE_MAX)
                        continue;
                spread(columns, columns->active[at], n, cpu->khz, (double)cpu->busy_ns / NS_PER_S, row);
                if (columns->shared[at] != SIZE_MAX)
                        spread(columns, columns->shared[at], n, cpu->khz, (double)cpu->any_ns / NS_PER_S,
                               row);
                spread_idle(columns, (size_t)at, cpu->khz, (double)cpu->any_ns / NS_PER_S, row);
        }
        for (size_t i = 0; i < usage->idle.n; i++) {
                const struct point *idle = &usage->idle.list[i];
                ssize_t at = find_policy(&columns->device, idle->policy);

                if (at >= 0)
                        spread_idle(columns, (size_t)at, idle->khz, (double)idle->idle_ns / NS_PER_S, row);
        }
        for (size_t i = 0; i < usage->screen.n; i++)
                if (columns->levels > 0 && usage->screen.list[i].brightness != BRIGHTNESS_UNKNOWN)
                        spread(columns, columns->term[TERM_DISPLAY], columns->levels,
                               usage->screen.list[i].brightness, (double)usage->screen.list[i].on_ns / NS_PER_S, row);
        for (size_t i = 0; i < AMOUNT_COUNT; i++)
                if (amount_kinds[i].term != TERM_NONE)
                        put(columns, amount_kinds[i].term, (double)usage->amount[i] / amount_kinds[i].per_unit, row);
}
