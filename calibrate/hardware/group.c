/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/cpu.h"
#include "util/util.h"

static int by_number(const void *a, const void *b)
{
        uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

        return (left > right) - (left < right);
}

/* "0-1" and "4-5" are "0-1,4-5". */
static void join_cpus(char *to, size_t size, const char *more)
{
        uint32_t cpus[256];
        size_t n = cpu_parse_list(to, cpus, ARRAY_SIZE(cpus));

        n += cpu_parse_list(more, cpus + n, ARRAY_SIZE(cpus) - n);
        qsort(cpus, n, sizeof(cpus[0]), by_number);
        cpu_print_list(cpus, n, to, size);
}

static struct hardware_member member_of(const struct hardware_policy *policy)
{
        struct hardware_member member = { .policy = policy->policy, .n_cpus = policy->n_cpus };

        snprintf(member.cpus, sizeof(member.cpus), "%.31s", policy->cpus);
        return member;
}

static struct hardware_policy *find_kind(struct hardware_description *description, uint32_t kind)
{
        for (size_t i = 0; i < description->n_policies; i++)
                if (description->policies[i].kind == kind)
                        return &description->policies[i];
        return NULL;
}

static int begin(struct hardware_description *description, const struct hardware_policy *policy,
                 uint32_t kind)
{
        struct hardware_policy *group;

        if (description->n_policies == ARRAY_SIZE(description->policies))
                return -E2BIG;
        group = &description->policies[description->n_policies++];
        *group = *policy;
        group->kind = kind;
        group->members[0] = member_of(policy);
        group->n_members = 1;
        return 0;
}

int group_add(struct hardware_description *description, const struct hardware_policy *policy, uint32_t kind,
              bool package)
{
        struct hardware_policy *group = find_kind(description, kind);

        if (!group)
                return begin(description, policy, kind);
        if (group->n_members == ARRAY_SIZE(group->members))
                return -E2BIG;
        group->members[group->n_members++] = member_of(policy);
        group->n_cpus += policy->n_cpus;
        join_cpus(group->cpus, sizeof(group->cpus), policy->cpus);
        /* Favoured cores of a kind are a little faster: use frequencies that all of them can run at. */
        if (policy->n_khz > 0 && group->n_khz > 0 &&
            policy->khz[policy->n_khz - 1] < group->khz[group->n_khz - 1]) {
                memcpy(group->khz, policy->khz, sizeof(group->khz));
                group->n_khz = policy->n_khz;
        }
        group->sharing = package && group->members[0].n_cpus == 1 ? group->n_cpus : group->members[0].n_cpus;
        return 0;
}

bool group_has(const struct hardware_policy *group, uint32_t policy)
{
        for (size_t i = 0; i < group->n_members; i++)
                if (group->members[i].policy == policy)
                        return true;
        return group->policy == policy;
}

uint32_t group_sharing(const struct hardware_policy *group)
{
        return group->sharing ? group->sharing : MAX(group->n_cpus, 1u);
}

uint32_t group_busy(const struct hardware_policy *group, size_t i, uint32_t cores)
{
        for (size_t k = 0; k < i; k++)
                cores -= MIN(cores, group->members[k].n_cpus);
        return MIN(cores, group->members[i].n_cpus);
}
