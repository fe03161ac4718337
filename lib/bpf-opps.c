/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bpf-opps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cpu.h"
#include "util.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq"

static int compare_u32(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x < y ? -1 : x > y;
}

/* Numbers 0 to @max of the "policyN" folders, ascending. */
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

/* First number of each line of time_in_state, or each number of scaling_available_frequencies; sorted. */
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

static uint32_t nearest(const struct bpf_opps *opps, const struct opp_range *range, uint32_t khz)
{
        uint32_t at = range->first;

        while (at + 1 < range->first + range->n && opps->khz[at] < khz)
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

static int read_policy(int dir_fd, uint32_t index, struct bpf_opps *opps)
{
        char path[64], text[4096];
        bool lines = true;
        int err;

        snprintf(path, sizeof(path), "policy%u/stats/time_in_state", opps->policy[index]);
        if (util_read_at(dir_fd, path, text, sizeof(text)) < 0) {
                lines = false;
                snprintf(path, sizeof(path), "policy%u/scaling_available_frequencies", opps->policy[index]);
                if (util_read_at(dir_fd, path, text, sizeof(text)) < 0)
                        return -ENODATA;
        }
        err = read_khz(text, lines, opps, &opps->range[index]);
        if (err)
                return err;
        snprintf(path, sizeof(path), "policy%u/related_cpus", opps->policy[index]);
        if (util_read_at(dir_fd, path, text, sizeof(text)) < 0)
                return -ENODATA;
        read_cpus(text, (uint8_t)index, opps->policy_of_cpu);
        look_at(dir_fd, index, opps);
        return 0;
}

int bpf_opps_read(int root_fd, struct bpf_opps *ret)
{
        struct bpf_opps opps = { 0 };
        _cleanup_close_ int dir_fd = openat(root_fd, CPUFREQ, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int err;

        if (dir_fd < 0)
                return -ENODATA;
        memset(opps.policy_of_cpu, BPF_POLICIES_MAX, sizeof(opps.policy_of_cpu));
        err = list_policies(dir_fd, opps.policy, BPF_POLICIES_MAX, &opps.n_policies);
        for (uint32_t i = 0; !err && i < opps.n_policies; i++) {
                err = read_policy(dir_fd, i, &opps);
                if (err == -ENODATA) /* all its CPUs are offline: its time is nobody's until the next start */
                        err = 0;
        }
        if (err)
                return err;
        if (opps.n <= opps.n_policies)
                return -ENODATA; /* one frequency each: nothing to split */
        *ret = opps;
        return 0;
}

void bpf_opps_look(int root_fd, struct bpf_opps *opps)
{
        _cleanup_close_ int dir_fd = openat(root_fd, CPUFREQ, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        for (uint32_t i = 0; dir_fd >= 0 && i < opps->n_policies; i++)
                if (opps->range[i].n > 0)
                        look_at(dir_fd, i, opps);
}

void bpf_opps_place(struct bpf_opps *opps, const struct sample *sample)
{
        for (uint32_t p = 0; p < opps->n_policies; p++) {
                for (uint32_t i = opps->range[p].first; i < opps->range[p].first + opps->range[p].n; i++) {
                        opps->place[i] = SIZE_MAX;
                        for (size_t at = 0; at < sample->n_opps; at++)
                                if (sample->opps[at].policy == opps->policy[p] &&
                                    sample->opps[at].khz == opps->khz[i])
                                        opps->place[i] = at;
                }
        }
}
