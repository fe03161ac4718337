/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The CPUs as a part: pins each policy to one frequency and runs spinning threads; policies of a group
 * (group.h) without load stay at their lowest frequency. With the governor `userspace` the speed is set
 * within the hardware's whole range; otherwise (intel_pstate, amd-pstate) minimum and maximum are set to the
 * frequency. Boost is off, because it depends on the temperature. Offline CPUs stay offline, and idle states
 * are not changed: they are part of the device.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "frequency.h"
#include "group.h"
#include "part.h"
#include "source/cpu.h"
#include "spin.h"
#include "util/util.h"
#include "util/words.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

static const struct {
        const char *name, *off;
} boosts[] = {
        { CPU_FOLDER "/cpufreq/boost", "0" },
        { CPU_FOLDER "/intel_pstate/no_turbo", "1" },
};

#define POLICIES_MAX 64

/* Where a policy is in the description. */
struct place {
        size_t group, member;
};

struct cpu_part {
        struct part part; /* first */
        const struct log *log;
        struct hardware_description groups; /* only the policies are used */
        struct frequency_policy policies[POLICIES_MAX];
        struct place places[POLICIES_MAX];
        uint32_t pinned_khz[POLICIES_MAX]; /* 0: not pinned */
        size_t n_policies;
        bool drives;               /* this machine has cpufreq, and this build can drive it */
        bool missing;              /* this machine has cpufreq, and this build cannot drive it */
        struct settings *settings; /* NULL: not prepared */
        struct spin *spin;
};

/* Which frequency policies this machine has, and which are of one kind and measured as one. */

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
                            words_counted("only the first %zu frequency policies are measured; the profile will lack "
                                          "%zu CPU",
                                          "only the first %zu frequency policies are measured; the profile will lack "
                                          "%zu CPUs", n),
                            self->n_policies, n);
}

/* Finds the policies and their groups, and whether they can be pinned. */
static int cpu_find(struct cpu_part *self, int root_fd)
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

static struct cpu_part *cpu_of(struct part *part)
{
        return (struct cpu_part *)part;
}

/* "policy0/scaling_governor" and the like. */
static const char *attribute(const struct frequency_policy *policy, const char *name, char *buf, size_t size)
{
        snprintf(buf, size, CPU_FOLDER "/cpufreq/policy%u/%s", policy->shown.policy, name);
        return buf;
}

static int describe(struct part *part, struct hardware_description *description)
{
        const struct cpu_part *self = cpu_of(part);

        description->n_policies = self->groups.n_policies;
        memcpy(description->policies, self->groups.policies, sizeof(description->policies));
        return 0;
}

/* A setting that does not exist needs no restoring. */
static int add_if_there(struct settings *settings, const char *name)
{
        int err = settings_add(settings, name);

        return err == -ENOENT ? 0 : err;
}

static int prepare_policy(struct cpu_part *self, const struct frequency_policy *policy)
{
        static const char *const names[] = { "scaling_governor", "scaling_min_freq", "scaling_max_freq" };
        char name[128];

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                int err = settings_add(self->settings, attribute(policy, names[i], name, sizeof(name)));

                if (err) {
                        log_error(self->log, "%s: cannot be set: %s", name, strerror(-err));
                        return err;
                }
        }
        if (policy->userspace) {
                int err = add_if_there(self->settings,
                                       attribute(policy, "scaling_setspeed", name, sizeof(name)));

                if (err)
                        return err;
        }
        return add_if_there(self->settings, attribute(policy, "boost", name, sizeof(name)));
}

static int prepare(struct part *part, struct settings *settings)
{
        struct cpu_part *self = cpu_of(part);
        int err = 0;

        self->settings = settings;
        if (self->missing) {
                log_error(self->log,
                          "CPU frequencies cannot be set: joulecast was built without libcpupower");
                return -ENOSYS;
        }
        for (size_t i = 0; !err && self->drives && i < ARRAY_SIZE(boosts); i++)
                err = add_if_there(settings, boosts[i].name);
        for (size_t i = 0; !err && self->drives && i < self->n_policies; i++) {
                self->pinned_khz[i] = 0;
                err = prepare_policy(self, &self->policies[i]);
        }
        return err;
}

static int fail(struct cpu_part *self, const char *name, const char *value, int err)
{
        log_error(self->log, "%s: cannot be set to %s: %s", name, value, strerror(-err));
        return err;
}

static int write_khz(struct cpu_part *self, const struct frequency_policy *policy, const char *attribute_name,
                     int (*set)(uint32_t cpu, uint32_t khz), uint32_t khz)
{
        char name[128], value[16];
        int err;

        snprintf(value, sizeof(value), "%u", khz);
        err = settings_before(self->settings, attribute(policy, attribute_name, name, sizeof(name)), value);
        if (!err)
                err = set(policy->cpus[0], khz);
        if (!err)
                err = settings_after(self->settings, name);
        return err ? fail(self, name, value, err) : 0;
}

static int write_governor(struct cpu_part *self, const struct frequency_policy *policy, const char *governor)
{
        char name[128];
        int err = settings_before(self->settings, attribute(policy, "scaling_governor", name, sizeof(name)),
                                  governor);

        if (!err)
                err = frequency_set_governor(policy->cpus[0], governor);
        if (!err)
                err = settings_after(self->settings, name);
        return err ? fail(self, name, governor, err) : 0;
}

/* The kernel refuses a minimum above the maximum: write the one that makes room first. */
static int write_limits(struct cpu_part *self, const struct frequency_policy *policy, uint32_t min,
                        uint32_t max)
{
        bool up = max >= policy->limit_max_khz;
        int err = up ? write_khz(self, policy, "scaling_max_freq", frequency_set_max, max)
                     : write_khz(self, policy, "scaling_min_freq", frequency_set_min, min);

        if (err)
                return err;
        return up ? write_khz(self, policy, "scaling_min_freq", frequency_set_min, min)
                  : write_khz(self, policy, "scaling_max_freq", frequency_set_max, max);
}

/*
 * Switches off boost. Drivers refuse this if it is off already: intel_pstate without turbo, cpufreq a policy's boost
 * while all boost is off.
 */
static int turn_off(struct cpu_part *self, const char *name, const char *off)
{
        int err;

        if (!settings_original(self->settings, name) || settings_show(self->settings, name, off))
                return 0;
        err = settings_write(self->settings, name, off);
        return err ? fail(self, name, off, err) : 0;
}

static int turn_boost_off(struct cpu_part *self)
{
        char name[128];
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(boosts); i++)
                err = turn_off(self, boosts[i].name, boosts[i].off);
        for (size_t i = 0; !err && i < self->n_policies; i++)
                err = turn_off(self, attribute(&self->policies[i], "boost", name, sizeof(name)), "0");
        return err;
}

/* On the first pinning: takes the whole range and chooses the governor. */
static int take(struct cpu_part *self, struct frequency_policy *policy)
{
        int err = frequency_range(policy);

        if (!err && policy->userspace)
                err = write_limits(self, policy, policy->min_khz, policy->max_khz);
        if (!err && policy->userspace)
                err = write_governor(self, policy, "userspace");
        return err;
}

static int pin(struct cpu_part *self, size_t i, uint32_t khz)
{
        struct frequency_policy *policy = &self->policies[i];
        int err = self->pinned_khz[i] ? 0 : take(self, policy);

        if (err || khz == self->pinned_khz[i])
                return err;
        if (policy->userspace)
                err = write_khz(self, policy, "scaling_setspeed", frequency_set_speed, khz);
        else
                err = write_limits(self, policy, khz, khz);
        self->pinned_khz[i] = err ? 0 : khz;
        if (!err && !policy->userspace)
                policy->limit_max_khz = khz;
        return err;
}

static const struct hardware_policy *group_of(const struct cpu_part *self, size_t i)
{
        return &self->groups.policies[self->places[i].group];
}

static uint32_t busy_in(const struct cpu_part *self, const struct mode *mode, size_t i)
{
        return group_busy(group_of(self, i), self->places[i].member,
                          mode->policy_cores[self->places[i].group]);
}

/* The frequency that a mode asks of a policy. */
static uint32_t khz_in(const struct cpu_part *self, const struct mode *mode, size_t i)
{
        uint32_t khz = mode->policy_khz[self->places[i].group];
        bool resting = mode->policy_cores[self->places[i].group] && !busy_in(self, mode, i);

        return khz && !resting ? khz : group_of(self, i)->khz[0];
}

static int load(struct cpu_part *self, const struct mode *mode)
{
        uint32_t cpus[256];
        size_t n = 0;
        int err;

        for (size_t i = 0; i < self->n_policies; i++)
                for (uint32_t k = 0; k < busy_in(self, mode, i) && n < ARRAY_SIZE(cpus); k++)
                        cpus[n++] = self->policies[i].cpus[k];
        err = n > 0 ? spin_start(cpus, n, &self->spin) : 0;
        if (err)
                log_error(self->log, "the CPUs of %s cannot be loaded: %s", mode->name, strerror(-err));
        return err;
}

static void stop(struct part *part)
{
        struct cpu_part *self = cpu_of(part);

        spin_stop(self->spin);
        self->spin = NULL;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct cpu_part *self = cpu_of(part);
        bool first = self->drives && self->pinned_khz[0] == 0;
        int err;

        stop(part);
        err = first ? turn_boost_off(self) : 0;
        for (size_t i = 0; !err && self->drives && i < self->n_policies; i++)
                err = pin(self, i, khz_in(self, mode, i));
        return err ? err : load(self, mode);
}

static void close_cpu(struct part *part)
{
        stop(part);
        free(cpu_of(part));
}

static const struct part_ops cpu_part_ops = {
        .name = "cpu",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .stop = stop,
        .close = close_cpu,
};

int hardware_cpu_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct cpu_part *self = calloc(1, sizeof(*self));
        int err;

        if (!self)
                return -ENOMEM;
        self->part.ops = &cpu_part_ops;
        self->log = machine->log;
        err = root_fd < 0 ? -errno : cpu_find(self, root_fd);
        if (err) {
                free(self);
                return err;
        }
        *ret = &self->part;
        return 0;
}
