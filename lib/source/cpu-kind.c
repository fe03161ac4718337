/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Groups policies by kind. Laptops have a policy for each CPU, all of one kind or of two (P and E cores). Measuring
 * each alone would take a night per policy, and their effects could not be separated.
 */

#include "cpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define CPU_FOLDER "sys/devices/system/cpu"

/*
 * If there is no list of frequencies, the highest frequencies of cores of one kind may differ by this part: favoured
 * cores boost by 100 to 300 MHz more. E cores are slower than P cores by at least an eighth, and are marked as such.
 */
#define ALMOST 0.1

/* Other facts that distinguish kinds; 0 or "": unknown. */
struct traits {
        uint64_t capacity;     /* 1024: the fastest of the machine */
        uint64_t min_khz, max_khz, base_khz;
        char core[32];         /* MIDR of an Arm core */
        bool small;            /* an E core of a hybrid x86 */
};

static uint64_t read_number(int root_fd, const char *path)
{
        char text[32];
        uint64_t value;

        return util_read_at(root_fd, path, text, sizeof(text)) > 0 && util_parse_u64(text, &value) == 0
                       ? value
                       : 0;
}

static uint64_t read_attribute(int root_fd, const struct cpu_policy *policy, const char *name)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/%s", policy->path, name);
        return read_number(root_fd, path);
}

static bool is_listed(int root_fd, const char *path, uint32_t cpu)
{
        uint32_t cpus[256];
        char text[512];
        size_t n = 0;

        if (util_read_at(root_fd, path, text, sizeof(text)) > 0)
                n = cpu_parse_list(text, cpus, ARRAY_SIZE(cpus));
        for (size_t i = 0; i < n; i++)
                if (cpus[i] == cpu)
                        return true;
        return false;
}

static void read_traits(int root_fd, const struct cpu_policy *policy, struct traits *ret)
{
        char path[128];

        *ret = (struct traits){
                .min_khz = read_attribute(root_fd, policy, "cpuinfo_min_freq"),
                .max_khz = read_attribute(root_fd, policy, "cpuinfo_max_freq"),
                .base_khz = read_attribute(root_fd, policy, "base_frequency"),
                .small = is_listed(root_fd, "sys/devices/cpu_atom/cpus", policy->policy) ||
                         is_listed(root_fd, "sys/devices/cpu_lowpower/cpus", policy->policy),
        };
        snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/cpu_capacity", policy->policy);
        ret->capacity = read_number(root_fd, path);
        snprintf(path, sizeof(path), CPU_FOLDER "/cpu%u/regs/identification/midr_el1", policy->policy);
        if (util_read_at(root_fd, path, ret->core, sizeof(ret->core)) <= 0)
                ret->core[0] = '\0';
}

static bool almost(uint64_t a, uint64_t b)
{
        uint64_t most = MAX(a, b), least = MIN(a, b);

        return (double)(most - least) <= ALMOST * (double)most;
}

static bool are_alike(const struct cpu_policy *a, const struct traits *x, const struct cpu_policy *b,
                      const struct traits *y)
{
        if (a->n_cpus != b->n_cpus || a->n_khz != b->n_khz ||
            memcmp(a->khz, b->khz, a->n_khz * sizeof(a->khz[0])) != 0)
                return false;
        if (x->small != y->small || strcmp(x->core, y->core) != 0 || x->base_khz != y->base_khz)
                return false;
        if (a->n_khz > 0)
                return x->capacity == y->capacity && x->min_khz == y->min_khz && x->max_khz == y->max_khz;
        return almost(x->capacity, y->capacity) && almost(x->min_khz, y->min_khz) &&
               almost(x->max_khz, y->max_khz);
}

static size_t count_kind(const struct cpu_policy *list, size_t n, uint32_t kind)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += list[i].kind == kind;
        return count;
}

int cpu_list_kinds(int root_fd, struct cpu_policy *list, size_t n)
{
        _cleanup_free_ struct traits *traits = calloc(n + 1, sizeof(*traits));

        if (!traits)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                size_t first = 0;

                read_traits(root_fd, &list[i], &traits[i]);
                while (first < i && (list[first].kind != list[first].policy ||
                                     !are_alike(&list[first], &traits[first], &list[i], &traits[i])))
                        first++;
                list[i].kind = list[first].policy;
        }
        for (size_t i = n; i > 0; i--) /* backward: the others of a kind are counted by the number of its first */
                if (count_kind(list, n, list[i - 1].kind) < CPU_KIND_MIN)
                        list[i - 1].kind = list[i - 1].policy;
        return 0;
}
