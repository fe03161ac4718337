/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which frequency policies this machine has, and which are of one kind and measured as one. */

#include "cpu-part.h"

#include <errno.h>

#include "group.h"
#include "source/cpu.h"
#include "util/util.h"

static size_t online_cpus(int root_fd, uint32_t *cpus, size_t size)
{
        char text[512];

        if (util_read_at(root_fd, "sys/devices/system/cpu/online", text, sizeof(text)) <= 0)
                return 0;
        return cpu_parse_list(text, cpus, size);
}

/* Without cpufreq: one policy of all CPUs, at an unknown frequency. */
static int describe_unpinned(struct cpu_part *self, int root_fd)
{
        struct frequency_policy *policy = &self->policies[0];
        size_t n = online_cpus(root_fd, policy->cpus, ARRAY_SIZE(policy->cpus));
        struct cpu_policy *list = NULL;
        size_t n_list = 0;
        int err = cpu_list(root_fd, &list, &n_list);

        free(list);
        if (err)
                return err;
        self->missing = n_list > 0;
        self->n_policies = 1;
        policy->shown = (struct hardware_policy){ .n_cpus = n > 0 ? (uint32_t)n : 1, .n_khz = 1 };
        cpu_print_list(policy->cpus, MAX(n, (size_t)1), policy->shown.cpus, sizeof(policy->shown.cpus));
        return group_add(&self->groups, &policy->shown, 0, false);
}

static uint32_t kind_of(const struct cpu_policy *list, size_t n, uint32_t policy)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].policy == policy)
                        return list[i].kind;
        return policy;
}

static bool is_second_thread(int root_fd, uint32_t cpu)
{
        char path[96], text[128];
        uint32_t threads[8];

        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
        return util_read_at(root_fd, path, text, sizeof(text)) > 0 &&
               cpu_parse_list(text, threads, ARRAY_SIZE(threads)) > 0 && threads[0] != cpu;
}

static void add_policy(struct cpu_part *self, const struct frequency_policy *policy, uint32_t kind)
{
        struct place place = { 0 };

        if (group_add(&self->groups, &policy->shown, kind, true) < 0)
                return; /* no room: it stays alone */
        while (!group_has(&self->groups.policies[place.group], policy->shown.policy))
                place.group++;
        place.member = self->groups.policies[place.group].n_members - 1;
        self->places[self->n_policies] = place;
        self->policies[self->n_policies++] = *policy;
}

/*
 * Policies of one kind become a group. Second hardware threads come last: two busy CPUs are then two cores,
 * as a scheduler would place them.
 */
static int make_groups(struct cpu_part *self, const struct frequency_policy *policies, size_t n, int root_fd)
{
        _cleanup_free_ struct cpu_policy *list = NULL;
        size_t n_list = 0;
        int err = cpu_list(root_fd, &list, &n_list);

        for (int second = 0; !err && second < 2; second++)
                for (size_t i = 0; i < n; i++)
                        if (is_second_thread(root_fd, policies[i].shown.policy) == second)
                                add_policy(self, &policies[i],
                                           kind_of(list, n_list, policies[i].shown.policy));
        return err;
}

/* Modes have room for eight kinds of cores; no machine with more is known. */
static void tell_left_out(const struct cpu_part *self, int root_fd)
{
        uint32_t online[256];
        size_t n = online_cpus(root_fd, online, ARRAY_SIZE(online));

        for (size_t i = 0; i < self->n_policies; i++)
                n -= MIN(n, self->policies[i].shown.n_cpus);
        if (n > 0)
                log_warning(self->log,
                            "only the first %zu frequency policies are measured; the profile will lack %zu "
                            "CPUs",
                            self->n_policies, n);
}

int cpu_find(struct cpu_part *self, int root_fd)
{
        _cleanup_free_ struct frequency_policy *policies = calloc(POLICIES_MAX, sizeof(*policies));
        int n, err;

        if (!policies)
                return -ENOMEM;
        n = frequency_policies(policies, POLICIES_MAX);
        if (n <= 0)
                return describe_unpinned(self, root_fd);
        self->drives = true;
        err = make_groups(self, policies, (size_t)n, root_fd);
        tell_left_out(self, root_fd);
        return err;
}
