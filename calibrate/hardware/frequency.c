/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The only file that knows libcpupower. Its path into /sys is compiled in, so it works on the running machine
 * only. If a driver lists no frequencies, a grid of ours is used (cpu_grid()).
 */

#include "frequency.h"

#include <cpufreq.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "source/cpu.h"
#include "util/util.h"

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
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct cpufreq_available_frequencies *list, *item;
        unsigned long min = 0, max = 0;

        errno = 0; /* libcpupower tests errno without clearing it */
        list = cpufreq_get_available_frequencies(cpu);
        for (item = list; item; item = item->next)
                add_khz(policy, item->frequency);
        if (list)
                cpufreq_put_available_frequencies(list);
        if (policy->n_khz == 0 && cpufreq_get_hardware_limits(cpu, &min, &max) == 0)
                policy->n_khz = cpu_grid(root_fd, policy->policy, min, max, policy->khz);
        qsort(policy->khz, policy->n_khz, sizeof(policy->khz[0]), by_khz);
}

static void list_cpus(const struct cpufreq_affected_cpus *list, struct frequency_policy *policy)
{
        for (; list && policy->shown.n_cpus < ARRAY_SIZE(policy->cpus); list = list->next)
                policy->cpus[policy->shown.n_cpus++] = list->cpu;
        cpu_print_list(policy->cpus, policy->shown.n_cpus, policy->shown.cpus, sizeof(policy->shown.cpus));
}

static void list_online(unsigned int cpu, struct frequency_policy *policy)
{
        struct cpufreq_affected_cpus *cpus = cpufreq_get_affected_cpus(cpu);

        list_cpus(cpus && cpus->first ? cpus->first : cpus, policy);
        if (cpus)
                cpufreq_put_affected_cpus(cpus);
}

static bool has_userspace(unsigned int cpu)
{
        struct cpufreq_available_governors *list = cpufreq_get_available_governors(cpu), *item;
        bool found = false;

        for (item = list && list->first ? list->first : list; item; item = item->next)
                found = found || strcmp(item->governor, "userspace") == 0;
        if (list)
                cpufreq_put_available_governors(list);
        return found;
}

static void read_governor(unsigned int cpu, struct frequency_policy *policy)
{
        struct cpufreq_policy *limits = cpufreq_get_policy(cpu);

        if (!limits)
                return;
        util_printable(limits->governor, policy->shown.governor, sizeof(policy->shown.governor));
        cpufreq_put_policy(limits);
}

/* Reads the policy that @cpu leads; false: it leads none, or all its CPUs are offline. */
static bool read_policy(unsigned int cpu, struct frequency_policy *ret)
{
        struct cpufreq_affected_cpus *cpus;
        bool leads;

        errno = 0;
        cpus = cpufreq_get_related_cpus(cpu);
        if (!cpus)
                return false;
        leads = (cpus->first ? cpus->first : cpus)->cpu == cpu;
        cpufreq_put_related_cpus(cpus);
        *ret = (struct frequency_policy){ .shown.policy = cpu };
        if (!leads)
                return false;
        list_online(cpu, ret);
        list_frequencies(cpu, &ret->shown);
        read_governor(cpu, ret);
        ret->userspace = has_userspace(cpu);
        return ret->shown.n_cpus > 0 && ret->shown.n_khz > 0;
}

int frequency_policies(struct frequency_policy *policies, size_t size)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
        size_t n = 0;

        for (long cpu = 0; cpu < n_cpus && n < size; cpu++)
                n += read_policy((unsigned int)cpu, &policies[n]);
        return n > 0 ? (int)n : -ENODEV;
}

int frequency_range(struct frequency_policy *policy)
{
        unsigned long min = 0, max = 0;
        struct cpufreq_policy *limits;

        errno = 0;
        if (cpufreq_get_hardware_limits(policy->cpus[0], &min, &max) != 0 || max > UINT32_MAX || min > max)
                return -EIO;
        errno = 0;
        limits = cpufreq_get_policy(policy->cpus[0]);
        if (!limits)
                return -EIO;
        policy->min_khz = (uint32_t)min;
        policy->max_khz = (uint32_t)max;
        policy->limit_max_khz = (uint32_t)MIN(limits->max, (unsigned long)UINT32_MAX);
        cpufreq_put_policy(limits);
        return 0;
}

/* libcpupower returns -ENODEV or -EINVAL whatever the kernel's error was. */
static int errno_from_cpupower(int result)
{
        return result == 0 ? 0 : result == -EINVAL ? -EINVAL : -EIO;
}

int frequency_set_governor(uint32_t cpu, const char *governor)
{
        char copy[32]; /* libcpupower takes a char * */

        snprintf(copy, sizeof(copy), "%s", governor);
        return errno_from_cpupower(cpufreq_modify_policy_governor(cpu, copy));
}

int frequency_set_min(uint32_t cpu, uint32_t khz)
{
        return errno_from_cpupower(cpufreq_modify_policy_min(cpu, khz));
}

int frequency_set_max(uint32_t cpu, uint32_t khz)
{
        return errno_from_cpupower(cpufreq_modify_policy_max(cpu, khz));
}

int frequency_set_speed(uint32_t cpu, uint32_t khz)
{
        errno = 0;
        return errno_from_cpupower(cpufreq_set_frequency(cpu, khz));
}
