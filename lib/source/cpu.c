/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Operating points with the time spent at them, and the busy time of each CPU.
 * Ticks of both are USER_HZ (10 ms).
 */

#include "cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "model/usage.h"
#include "util/units.h"
#include "util/util.h"

#define CPU_FOLDER "sys/devices/system/cpu"
#define TICK_NS (NS_PER_S / 100)
#define STAT_MAX (256 << 10) /* bytes: a line for each CPU, and one with a number for each interrupt */

static ssize_t read_attribute(int root_fd, const struct cpu_policy *policy, const char *name, char *text,
                              size_t size)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/%s", policy->path, name);
        return util_read_at(root_fd, path, text, size);
}

static void read_points(int root_fd, struct cpu_policy *policy)
{
        struct cpu_time_in_state points[CPU_POINTS_MAX];
        char text[4096];

        if (read_attribute(root_fd, policy, "stats/time_in_state", text, sizeof(text)) > 0) {
                policy->n_khz = cpu_parse_time_in_state(text, points, CPU_POINTS_MAX);
                for (size_t i = 0; i < policy->n_khz; i++)
                        policy->khz[i] = points[i].khz;
        } else if (read_attribute(root_fd, policy, "scaling_available_frequencies", text, sizeof(text)) > 0) {
                policy->n_khz = cpu_parse_khz(text, policy->khz, CPU_POINTS_MAX);
        }
}

static void read_governors(int root_fd, struct cpu_policy *policy)
{
        char text[512], *state = NULL;

        if (read_attribute(root_fd, policy, "scaling_available_governors", text, sizeof(text)) <= 0)
                return;
        for (char *word = strtok_r(text, " \n", &state); word && policy->n_governors < CPU_GOVERNORS_MAX;
             word = strtok_r(NULL, " \n", &state))
                util_printable(word, policy->governors[policy->n_governors++], sizeof(policy->governors[0]));
}

/*
 * Reads @path as a policy. False: it is no policy, or one that is listed already (on older kernels each CPU links to
 * its policy).
 */
static bool read_policy(int root_fd, const char *path, const struct cpu_policy *list, size_t n,
                        struct cpu_policy *policy)
{
        char text[CPU_POLICY_CPUS_MAX * 5];

        *policy = (struct cpu_policy){ 0 };
        snprintf(policy->path, sizeof(policy->path), "%s", path);
        if (read_attribute(root_fd, policy, "related_cpus", text, sizeof(text)) <= 0 &&
            read_attribute(root_fd, policy, "affected_cpus", text, sizeof(text)) <= 0)
                return false;
        policy->n_cpus = cpu_parse_list(text, policy->cpus, ARRAY_SIZE(policy->cpus));
        if (policy->n_cpus == 0)
                return false;
        policy->policy = policy->cpus[0];
        for (size_t i = 0; i < n; i++)
                if (list[i].policy == policy->policy)
                        return false;
        read_points(root_fd, policy);
        read_governors(root_fd, policy);
        return true;
}

/* Looks into each folder PREFIX<number>SUFFIX of @folder. */
static int list_folders(int root_fd, const char *folder, const char *prefix, const char *suffix,
                        struct cpu_policy **list, size_t *capacity, size_t *n)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, folder);
        int err = 0;
        struct dirent *entry;

        if (!dir)
                return errno == ENOMEM ? -ENOMEM : 0;
        while (!err && (entry = readdir(dir))) {
                const char *digits = entry->d_name + strlen(prefix);
                char path[64];

                if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || !*digits ||
                    strspn(digits, "0123456789") != strlen(digits) ||
                    snprintf(path, sizeof(path), "%s/%s%s", folder, entry->d_name, suffix) >= (int)sizeof(path))
                        continue;
                err = util_grow(list, capacity, *n + 1, sizeof(**list));
                if (!err && read_policy(root_fd, path, *list, *n, &(*list)[*n]))
                        (*n)++;
        }
        return err;
}

static int compare_policies(const void *a, const void *b)
{
        const struct cpu_policy *one = a, *other = b;

        return one->policy < other->policy ? -1 : one->policy > other->policy;
}

int cpu_list(int root_fd, struct cpu_policy **ret, size_t *ret_n)
{
        struct cpu_policy *list = NULL;
        size_t capacity = 0, n = 0;
        int err = list_folders(root_fd, CPU_FOLDER "/cpufreq", "policy", "", &list, &capacity, &n);

        if (!err && n == 0)
                err = list_folders(root_fd, CPU_FOLDER, "cpu", "/cpufreq", &list, &capacity, &n);
        if (err) {
                free(list);
                return err;
        }
        if (n > 1)
                qsort(list, n, sizeof(*list), compare_policies);
        err = cpu_list_kinds(root_fd, list, n);
        if (err) {
                free(list);
                return err;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

/*
 * A policy stays in the list once it was seen. While all its CPUs are offline it shows its last state, so that
 * processes that ran there until then are still counted; if they were offline from the start, it shows none.
 */
struct known_policy {
        struct cpu_policy policy;
        struct opp opps[CPU_POINTS_MAX]; /* as last shown */
        size_t n_opps;
};

struct cpu_source {
        struct source source;
        int root_fd;
        struct known_policy *policies;   /* ascending */
        size_t n_policies, policies_capacity;
        uint64_t online; /* fingerprint() of the online CPUs when the policies were listed */
        char *stat;
};

static const struct cpu_policy *policy_of(const struct cpu_source *self, uint32_t cpu)
{
        for (size_t i = 0; i < self->n_policies; i++)
                for (size_t j = 0; j < self->policies[i].policy.n_cpus; j++)
                        if (self->policies[i].policy.cpus[j] == cpu)
                                return &self->policies[i].policy;
        return NULL;
}

static bool has_own_clock(const struct cpu_source *self, const struct cpu_policy *policy)
{
        bool others = false;

        for (size_t i = 0; i < self->n_policies; i++)
                others = others || (self->policies[i].policy.kind == policy->kind &&
                                    &self->policies[i].policy != policy);
        return others && policy->n_cpus == 1;
}

static void place_core(const struct cpu_source *self, struct core *core)
{
        const struct cpu_policy *policy = policy_of(self, core->cpu);

        core->policy = policy ? policy->policy : 0;
        core->package = policy && has_own_clock(self, policy) ? policy->kind + 1 : 0;
}

static int read_cores(struct cpu_source *self, struct sample *sample)
{
        ssize_t n = util_read_at(self->root_fd, "proc/stat", self->stat, STAT_MAX);
        char *state = NULL;

        if (n <= 0)
                return 0;
        for (char *line = strtok_r(self->stat, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                uint64_t ticks, idle_ticks;
                uint32_t cpu;
                struct core *core;

                if (!cpu_parse_stat_line(line, &cpu, &ticks, &idle_ticks)) {
                        if (sample->n_cores > 0)
                                break; /* the lines of CPUs are together at the beginning */
                        continue;
                }
                if (sample->n_cores > 0 && sample->cores[sample->n_cores - 1].cpu >= cpu)
                        continue;
                core = sample_add_core(sample);
                if (!core)
                        return -ENOMEM;
                *core = (struct core){ .cpu = cpu, .busy_ns = ticks * TICK_NS, .idle_ns = idle_ticks * TICK_NS };
                place_core(self, core);
        }
        if (sample->n_cores > 0)
                sample->have |= SAMPLE_CORES;
        return 0;
}

static bool is_online(const struct cpu_policy *policy, const struct sample *sample)
{
        for (size_t i = 0; i < sample->n_cores; i++)
                for (size_t j = 0; j < policy->n_cpus; j++)
                        if (sample->cores[i].cpu == policy->cpus[j])
                                return true;
        return sample->n_cores == 0; /* unknown */
}

/*
 * A driver without time_in_state (intel_pstate, amd-pstate) shows nothing between two polls, so the frequency is
 * unknown. It is also unknown with a driver that never counts (guests of a hypervisor): all its times are 0.
 */
static void read_policy_times(const struct cpu_source *self, struct known_policy *known, uint64_t now_ns)
{
        uint32_t policy = known->policy.policy;
        struct cpu_time_in_state points[CPU_POINTS_MAX];
        char text[4096];
        bool counts = false;
        size_t n = 0;

        if (read_attribute(self->root_fd, &known->policy, "stats/time_in_state", text, sizeof(text)) > 0)
                n = cpu_parse_time_in_state(text, points, CPU_POINTS_MAX);
        for (size_t i = 0; i < n; i++) {
                known->opps[i] = (struct opp){ policy, points[i].khz, points[i].ticks * TICK_NS };
                counts = counts || points[i].ticks > 0;
        }
        known->n_opps = counts ? n : 1;
        if (!counts)
                known->opps[0] = (struct opp){ policy, KHZ_UNKNOWN, now_ns };
}

static int add_opp(struct sample *sample, const struct opp *opp)
{
        struct opp *added = sample_add_opp(sample);

        if (!added)
                return -ENOMEM;
        *added = *opp;
        return 0;
}

static int add_policy(const struct cpu_source *self, struct known_policy *known, struct sample *sample)
{
        int err = 0;

        if (is_online(&known->policy, sample))
                read_policy_times(self, known, sample->monotonic_ns);
        for (size_t i = 0; !err && i < known->n_opps; i++)
                err = add_opp(sample, &known->opps[i]);
        return err;
}

static struct known_policy *find_policy(const struct cpu_source *self, uint32_t policy)
{
        for (size_t i = 0; i < self->n_policies; i++)
                if (self->policies[i].policy.policy == policy)
                        return &self->policies[i];
        return NULL;
}

static int by_number(const void *a, const void *b)
{
        const struct known_policy *one = a, *other = b;

        return compare_policies(&one->policy, &other->policy);
}

/* Updates the known policies from @list; those that are not in it stay. */
static int learn_policies(struct cpu_source *self, const struct cpu_policy *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct known_policy *known = find_policy(self, list[i].policy);

                if (!known) {
                        if (util_grow(&self->policies, &self->policies_capacity, self->n_policies + 1,
                                      sizeof(*self->policies)) < 0)
                                return -ENOMEM;
                        known = &self->policies[self->n_policies++];
                        known->n_opps = 0;
                }
                known->policy = list[i];
        }
        if (self->n_policies > 1)
                qsort(self->policies, self->n_policies, sizeof(*self->policies), by_number);
        return 0;
}

/* Updates only if there are new policies: with some missing, kinds would be found differently. */
static int list_again(struct cpu_source *self)
{
        _cleanup_free_ struct cpu_policy *list = NULL;
        bool any_new = false;
        size_t n;
        int err = cpu_list(self->root_fd, &list, &n);

        for (size_t i = 0; !err && i < n; i++)
                any_new = any_new || !find_policy(self, list[i].policy);
        return any_new ? learn_policies(self, list, n) : err;
}

/*
 * A hash of the online CPUs; their number is not enough, since one may go and another come between two polls.
 */
static uint64_t fingerprint(const struct sample *sample)
{
        uint64_t hash = 14695981039346656037u;

        for (size_t i = 0; i < sample->n_cores; i++)
                hash = (hash ^ sample->cores[i].cpu) * 1099511628211u;
        return hash;
}

static int cpu_read(struct source *source, struct sample *sample)
{
        struct cpu_source *self = (struct cpu_source *)source;
        int err = read_cores(self, sample);

        if (!err && fingerprint(sample) != self->online) { /* CPUs came or went, and policies with them */
                self->online = fingerprint(sample);
                err = list_again(self);
                for (size_t i = 0; !err && i < sample->n_cores; i++)
                        place_core(self, &sample->cores[i]);
        }
        for (size_t i = 0; !err && i < self->n_policies; i++)
                err = add_policy(self, &self->policies[i], sample);
        if (!err && self->n_policies == 0)
                err = add_opp(sample, &(struct opp){ 0, KHZ_UNKNOWN, sample->monotonic_ns });
        if (!err)
                sample->have |= SAMPLE_OPPS;
        return err;
}

static void cpu_close(struct source *source)
{
        struct cpu_source *self = (struct cpu_source *)source;

        closep(&self->root_fd);
        free(self->policies);
        free(self->stat);
        free(self);
}

static const struct source_ops cpu_ops = { "cpu", cpu_read, cpu_close };

int cpu_open(int root_fd, struct source **ret)
{
        struct cpu_source *self = calloc(1, sizeof(*self));

        if (!self)
                return -ENOMEM;
        self->source.ops = &cpu_ops;
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        self->stat = malloc(STAT_MAX);
        if (self->root_fd < 0 || !self->stat) {
                int err = self->stat ? -errno : -ENOMEM;

                cpu_close(&self->source);
                return err;
        }
        *ret = &self->source;
        return 0;
}
