/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The only file that knows libcpupower: its lists and its error codes stop here. Its path into /sys is compiled in, so
 * this is for the real machine alone. Where a driver lists no frequencies (intel_pstate, amd-pstate), a grid of our own
 * between its limits stands in.
 */

#include "frequency.h"

#include <cpufreq.h>
#include <errno.h>
#include <string.h>

#include "util.h"

#define GRID_POINTS 8

static int by_khz(const void *a, const void *b)
{
        uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

        return (left > right) - (left < right);
}

static void add_khz(struct hardware_policy *policy, unsigned long khz)
{
        if (policy->n_khz < ARRAY_SIZE(policy->khz) && khz > 0 && khz <= UINT32_MAX)
                policy->khz[policy->n_khz++] = (uint32_t)khz;
}

static void list_frequencies(unsigned int cpu, struct hardware_policy *policy)
{
        struct cpufreq_available_frequencies *list, *item;
        unsigned long min = 0, max = 0;

        errno = 0; /* its one-value reads test errno without clearing it */
        list = cpufreq_get_available_frequencies(cpu);
        for (item = list; item; item = item->next)
                add_khz(policy, item->frequency);
        if (list)
                cpufreq_put_available_frequencies(list);
        if (policy->n_khz == 0 && cpufreq_get_hardware_limits(cpu, &min, &max) == 0)
                for (unsigned long i = 0; i < GRID_POINTS && max > min; i++)
                        add_khz(policy, min + (max - min) * i / (GRID_POINTS - 1));
        qsort(policy->khz, policy->n_khz, sizeof(policy->khz[0]), by_khz);
}

static void list_cpus(struct cpufreq_affected_cpus *list, struct hardware_policy *policy)
{
        size_t length = 0;

        for (; list; list = list->next) {
                int n = snprintf(policy->cpus + length, sizeof(policy->cpus) - length, "%s%u", length ? " " : "",
                                 list->cpu);

                policy->n_cpus++;
                if (n > 0 && length + (size_t)n < sizeof(policy->cpus))
                        length += (size_t)n;
        }
}

/* The policy that @cpu leads; 0 where it leads none. */
static int read_policy(unsigned int cpu, struct hardware_policy *ret)
{
        struct cpufreq_affected_cpus *cpus;
        struct cpufreq_policy *limits;

        errno = 0;
        cpus = cpufreq_get_related_cpus(cpu);
        if (!cpus)
                return 0;
        *ret = (struct hardware_policy){ .policy = cpu };
        if (cpus->first)
                cpus = cpus->first;
        if (cpus->cpu == cpu) {
                list_cpus(cpus, ret);
                list_frequencies(cpu, ret);
                limits = cpufreq_get_policy(cpu);
                if (limits) {
                        util_printable(limits->governor, ret->governor, sizeof(ret->governor));
                        cpufreq_put_policy(limits);
                }
        }
        cpufreq_put_related_cpus(cpus);
        return ret->n_cpus > 0;
}

int frequency_policies(struct hardware_policy *policies, size_t size)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
        size_t n = 0;

        for (long cpu = 0; cpu < n_cpus && n < size; cpu++)
                n += (size_t)read_policy((unsigned int)cpu, &policies[n]);
        return n > 0 ? (int)n : -ENODEV;
}
