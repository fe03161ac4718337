/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bpf-opps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "model/usage.h"
#include "source/cpu.h"
#include "util/util.h"

#define CPUS "sys/devices/system/cpu"
#define CPUFREQ CPUS "/cpufreq"

static int compare_u32(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x < y ? -1 : x > y;
}

/* Lists the numbers of "policyN" folders up to @max, ascending. */
static int list_policies(int dir_fd, uint32_t *policy, size_t max, uint32_t *ret)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(dir_fd, ".");
        struct dirent *entry;
        uint32_t n = 0;

        if (!dir)
                return -errno;
        while ((entry = readdir(dir))) {
                uint64_t number;

                if (strncmp(entry->d_name, "policy", 6) != 0 ||
                    util_parse_u64(entry->d_name + 6, &number) < 0)
                        continue;
                if (n == max || number > UINT32_MAX)
                        return -E2BIG;
                policy[n++] = (uint32_t)number;
        }
        qsort(policy, n, sizeof(*policy), compare_u32);
        *ret = n;
        return n > 0 ? 0 : -ENODATA;
}

static void read_cpus(const char *text, uint8_t index, uint8_t *policy_of_cpu)
{
        uint32_t cpus[BPF_CPUS_MAX];
        size_t n = cpu_parse_list(text, cpus, ARRAY_SIZE(cpus));

        for (size_t i = 0; i < n; i++)
                if (cpus[i] < BPF_CPUS_MAX)
                        policy_of_cpu[cpus[i]] = index;
}

/*
 * Reads the first number of each line of time_in_state, or each number of scaling_available_frequencies, and
 * sorts them.
 */
static int read_khz(char *text, bool lines, struct bpf_opps *opps, struct opp_range *range)
{
        char *state = NULL;

        range->first = opps->n;
        for (char *word = strtok_r(text, lines ? "\n" : " \n", &state); word;
             word = strtok_r(NULL, lines ? "\n" : " \n", &state)) {
                unsigned long khz = strtoul(word, NULL, 10);

                if (khz == 0 || khz > UINT32_MAX)
                        continue;
                if (opps->n == BPF_OPPS_MAX)
                        return -E2BIG;
                opps->khz[opps->n++] = (uint32_t)khz;
        }
        range->n = opps->n - range->first;
        qsort(opps->khz + range->first, range->n, sizeof(uint32_t), compare_u32);
        return range->n > 0 ? 0 : -ENODATA;
}

/* Some drivers report a measured frequency, which differs a little from the one that was set. */
static uint32_t nearest(const struct bpf_opps *opps, const struct opp_range *range, uint32_t khz)
{
        uint32_t at = range->first;

        while (at + 1 < range->first + range->n &&
               llabs((int64_t)opps->khz[at + 1] - khz) <= llabs((int64_t)opps->khz[at] - khz))
                at++;
        return at;
}

static void look_at(int dir_fd, uint32_t index, struct bpf_opps *opps)
{
        char path[64], text[64];
        uint64_t khz = 0;

        snprintf(path, sizeof(path), "policy%u/scaling_cur_freq", opps->policy[index]);
        if (util_read_at(dir_fd, path, text, sizeof(text)) > 0)
                (void)util_parse_u64(text, &khz);
        opps->now[index] = nearest(opps, &opps->range[index], khz > UINT32_MAX ? UINT32_MAX : (uint32_t)khz);
}

static int read_points(int dir_fd, uint32_t policy, struct bpf_opps *opps, struct opp_range *range)
{
        char path[64], text[4096];
        bool lines = true;

        snprintf(path, sizeof(path), "policy%u/stats/time_in_state", policy);
        if (util_read_at(dir_fd, path, text, sizeof(text)) < 0) {
                lines = false;
                snprintf(path, sizeof(path), "policy%u/scaling_available_frequencies", policy);
                if (util_read_at(dir_fd, path, text, sizeof(text)) < 0)
                        return -ENODATA;
        }
        return read_khz(text, lines, opps, range);
}

/* -ENODATA: all its CPUs are offline, or its driver has no list. */
static int read_policy(int dir_fd, uint32_t policy, struct bpf_opps *opps)
{
        uint32_t index = opps->n_policies;
        char path[64], cpus[4096];
        int err;

        snprintf(path, sizeof(path), "policy%u/related_cpus", policy);
        if (util_read_at(dir_fd, path, cpus, sizeof(cpus)) < 0)
                return -ENODATA;
        err = read_points(dir_fd, policy, opps, &opps->range[index]);
        if (err)
                return err;
        opps->policy[index] = policy;
        opps->n_policies++;
        read_cpus(cpus, (uint8_t)index, opps->policy_of_cpu);
        look_at(dir_fd, index, opps);
        return 0;
}

static int read_policies(int root_fd, struct bpf_opps *opps)
{
        _cleanup_close_ int dir_fd = openat(root_fd, CPUFREQ, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        uint32_t policies[BPF_POLICIES_MAX], n = 0;
        int err;

        if (dir_fd < 0)
                return -ENODATA;
        err = list_policies(dir_fd, policies, BPF_POLICIES_MAX, &n);
        for (uint32_t i = 0; !err && i < n; i++) {
                err = read_policy(dir_fd, policies[i], opps);
                if (err == -ENODATA) /* its CPUs belong to the extra policy */
                        err = 0;
        }
        return err;
}

/* The lowest CPU, online or not, that belongs to no policy; BPF_CPUS_MAX: all belong to one. */
static uint32_t first_without_policy(int root_fd, const struct bpf_opps *opps)
{
        uint32_t cpus[BPF_CPUS_MAX];
        char text[4096];
        size_t n;

        if (util_read_at(root_fd, CPUS "/present", text, sizeof(text)) <= 0)
                snprintf(text, sizeof(text), "0-%d", BPF_CPUS_MAX - 1); /* unknown */
        n = cpu_parse_list(text, cpus, ARRAY_SIZE(cpus));
        for (size_t i = 0; i < n; i++)
                if (cpus[i] < BPF_CPUS_MAX && opps->policy_of_cpu[cpus[i]] == BPF_POLICIES_MAX)
                        return cpus[i];
        return BPF_CPUS_MAX;
}

/*
 * The kernel shows nothing about a policy whose CPUs are all offline, not even its CPUs, and the programs
 * cannot learn them later. Work on these CPUs, once they are online, is counted at one operating point of
 * unknown frequency. A policy has the number of its lowest CPU.
 */
static int add_rest(int root_fd, struct bpf_opps *opps)
{
        uint32_t first = first_without_policy(root_fd, opps), index = opps->n_policies;

        if (first == BPF_CPUS_MAX)
                return 0;
        if (index == BPF_POLICIES_MAX || opps->n == BPF_OPPS_MAX)
                return -E2BIG;
        opps->n_policies++;
        opps->policy[index] = first;
        opps->range[index] = (struct opp_range){ .first = opps->n, .n = 1 };
        opps->now[index] = opps->n;
        opps->khz[opps->n++] = KHZ_UNKNOWN;
        for (size_t cpu = 0; cpu < BPF_CPUS_MAX; cpu++)
                if (opps->policy_of_cpu[cpu] == BPF_POLICIES_MAX)
                        opps->policy_of_cpu[cpu] = (uint8_t)index;
        return 0;
}

int bpf_opps_read(int root_fd, struct bpf_opps *ret)
{
        struct bpf_opps opps = { 0 };
        int err;

        memset(opps.policy_of_cpu, BPF_POLICIES_MAX, sizeof(opps.policy_of_cpu));
        err = read_policies(root_fd, &opps);
        if (err)
                return err;
        if (opps.n <= opps.n_policies)
                return -ENODATA; /* one frequency per policy: nothing to split */
        err = add_rest(root_fd, &opps);
        if (err)
                return err;
        *ret = opps;
        return 0;
}

static int add_hidden(int root_fd, const struct cpu_policy *policy, struct bpf_opps *opps)
{
        uint32_t khz[CPU_GRID_POINTS], index = opps->n_policies;
        struct opp_range *range = &opps->range[index];
        uint64_t min, max;
        size_t n;

        if (index == BPF_POLICIES_MAX || opps->n + CPU_GRID_POINTS + 2 > BPF_OPPS_MAX)
                return -E2BIG;
        if (!cpu_limits(root_fd, policy, &min, &max))
                return -ENODATA;
        n = cpu_grid(root_fd, policy->policy, min, max, khz);
        if (n < 2)
                return -ENODATA;
        opps->n_policies++;
        opps->policy[index] = policy->policy;
        opps->now[index] = range->first = opps->n;
        opps->khz[opps->n++] = KHZ_UNKNOWN;
        memcpy(opps->khz + opps->n, khz, n * sizeof(*khz));
        opps->n += (uint32_t)n;
        if (max > khz[n - 1] && max <= UINT32_MAX)
                opps->khz[opps->n++] = (uint32_t)max;
        range->n = opps->n - range->first;
        return 0;
}

static void place_cpus(const struct cpu_policy *policy, struct bpf_opps *opps)
{
        for (uint32_t index = 0; index < opps->n_policies; index++)
                for (size_t i = 0; i < policy->n_cpus && opps->policy[index] == policy->kind; i++)
                        if (policy->cpus[i] < BPF_CPUS_MAX)
                                opps->policy_of_cpu[policy->cpus[i]] = (uint8_t)index;
}

int bpf_opps_read_hidden(int root_fd, struct bpf_opps *ret)
{
        _cleanup_free_ struct cpu_policy *list = NULL;
        struct bpf_opps opps = { .by_cycles = true };
        size_t n = 0;
        int err = cpu_list(root_fd, &list, &n);

        memset(opps.policy_of_cpu, BPF_POLICIES_MAX, sizeof(opps.policy_of_cpu));
        for (size_t i = 0; !err && i < n; i++) {
                if (list[i].n_khz > 0)
                        return -ENODATA;
                if (list[i].kind == list[i].policy)
                        err = add_hidden(root_fd, &list[i], &opps);
                place_cpus(&list[i], &opps);
        }
        if (!err)
                err = n > 0 ? add_rest(root_fd, &opps) : -ENODATA;
        if (err)
                return err;
        *ret = opps;
        return 0;
}

void bpf_opps_look(int root_fd, struct bpf_opps *opps)
{
        _cleanup_close_ int dir_fd = openat(root_fd, CPUFREQ, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        for (uint32_t i = 0; dir_fd >= 0 && i < opps->n_policies; i++)
                look_at(dir_fd, i, opps);
}

static int compare_opps(const void *a, const void *b)
{
        const struct opp *one = a, *other = b;

        if (one->policy != other->policy)
                return one->policy < other->policy ? -1 : 1;
        return one->khz < other->khz ? -1 : one->khz > other->khz;
}

/* Index of the first opp in the sample that does not sort before the wanted one. */
static size_t find_place(const struct sample *sample, uint32_t policy, uint32_t khz)
{
        const struct opp wanted = { .policy = policy, .khz = khz };

        return util_lower_bound(&wanted, sample->opps, sample->n_opps, sizeof(wanted), compare_opps);
}

static int add_if_missing(struct sample *sample, uint32_t policy, uint32_t khz)
{
        size_t at = find_place(sample, policy, khz);
        struct opp *opp = &sample->opps[at];

        if (at < sample->n_opps && opp->policy == policy && opp->khz == khz)
                return 0;
        if (!sample_add_opp(sample))
                return -ENOMEM;
        opp = &sample->opps[at];
        memmove(opp + 1, opp, (sample->n_opps - at - 1) * sizeof(*opp));
        *opp = (struct opp){ .policy = policy, .khz = khz };
        return 0;
}

static void place_cores(const struct bpf_opps *opps, struct sample *sample)
{
        for (size_t i = 0; i < sample->n_cores; i++) {
                struct core *core = &sample->cores[i];
                uint32_t index = core->cpu < BPF_CPUS_MAX ? opps->policy_of_cpu[core->cpu] : BPF_POLICIES_MAX;

                if (index < BPF_POLICIES_MAX)
                        core->policy = opps->policy[index];
        }
}

int bpf_opps_place(struct bpf_opps *opps, struct sample *sample)
{
        if (opps->by_cycles)
                place_cores(opps, sample);
        for (uint32_t p = 0; p < opps->n_policies; p++) {
                const struct opp_range *range = &opps->range[p];

                for (uint32_t i = range->first; i < range->first + range->n; i++)
                        if (add_if_missing(sample, opps->policy[p], opps->khz[i]) < 0)
                                return -ENOMEM;
        }
        for (uint32_t p = 0; p < opps->n_policies; p++) {
                const struct opp_range *range = &opps->range[p];

                for (uint32_t i = range->first; i < range->first + range->n; i++)
                        opps->place[i] = find_place(sample, opps->policy[p], opps->khz[i]);
        }
        return 0;
}
