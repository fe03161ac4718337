/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The device of a fit: its policies, its earlier profile, and the usual idle power, if its idle states are known. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns-private.h"
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

bool columns_device_has(const struct device_policy *group, uint32_t policy)
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

/*
 * Idle power and S (@shared), relative to A at the highest frequency, measured on clusters with and without deep idle
 * states. Without deep states nothing is turned off, so shared units take their power during idle, too, and S is near
 * 0. @shared_sd 0: the usual prior of S.
 */
static const struct {
        double part, sd, shared, shared_sd;
} idle_priors[] = {
        [IDLE_STATES_UNKNOWN] = { 0.2, 0.3, 0, 0 },
        [IDLE_STATES_DEEP] = { 0, 0.05, 0, 0 },
        [IDLE_STATES_SHALLOW] = { 0.65, 0.25, 0, 0.1 },
};

void columns_device_idle(struct device *device, enum idle_states states)
{
        device->idle_part = idle_priors[states].part;
        device->idle_sd = idle_priors[states].sd;
        device->shared_part = idle_priors[states].shared;
        device->shared_sd = idle_priors[states].shared_sd;
}

void columns_device_clear(struct device *device)
{
        profile_free(TAKE_PTR(device->before));
}

/* Unknown idle states leave the priors as they are. */
static void kinds_from_json(const struct cJSON *json, struct device *device)
{
        const char *event = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "miss_event"));
        const char *states = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "idle_states"));

        util_printable(event ? event : "", device->miss_event, sizeof(device->miss_event));
        if (states && strcmp(states, "deep") == 0)
                columns_device_idle(device, IDLE_STATES_DEEP);
        if (states && strcmp(states, "shallow") == 0)
                columns_device_idle(device, IDLE_STATES_SHALLOW);
}

int columns_device_from_json(const struct cJSON *json, struct device *device)
{
        const cJSON *item;

        device->n_policies = 0;
        kinds_from_json(json, device);
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

ssize_t columns_device_find(const struct device *device, uint32_t policy)
{
        for (size_t i = 0; i < device->n_policies; i++)
                if (columns_device_has(&device->policies[i], policy))
                        return (ssize_t)i;
        return -1;
}

int columns_device_learn(struct device *device, const struct point *cpu)
{
        ssize_t at = columns_device_find(device, cpu->policy);
        struct device_policy *policy;

        if (at >= 0 && device->policies[at].n_khz > 0)
                return 0;
        if (at < 0) {
                if (device->n_policies == COLUMNS_POLICIES_MAX)
                        return -E2BIG;
                device->policies[device->n_policies++] = (struct device_policy){ .policy = cpu->policy };
                qsort(device->policies, device->n_policies, sizeof(device->policies[0]), compare_policies);
                at = columns_device_find(device, cpu->policy);
        }
        policy = &device->policies[at];
        policy->khz[policy->n_khz++] = cpu->khz;
        return 0;
}
