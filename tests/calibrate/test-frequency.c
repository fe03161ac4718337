/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CPUs as a part of calibration (calibrate/hardware/cpu.c, frequency.c) on trees of files. libcpupower knows only the
 * real /sys, so each tree is mounted over its CPUs in a mount namespace of this process, invisible to others. Settings
 * are written in the tree itself, as those of the real machine have to be in sysfs. The linker's --wrap observes calls
 * to libcpupower and to the load.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>

#include "check.h"
#include "hardware/frequency.h"
#include "hardware/part.h"
#include "source/cpu.h"
#include "hardware/spin.h"
#include "tree.h"

#define CPU "/sys/devices/system/cpu"

int __real_frequency_set_min(uint32_t cpu, uint32_t khz);
int __real_frequency_set_max(uint32_t cpu, uint32_t khz);
int __wrap_frequency_set_min(uint32_t cpu, uint32_t khz);
int __wrap_frequency_set_max(uint32_t cpu, uint32_t khz);
int __wrap_spin_start(const uint32_t *cpus, size_t n, struct spin **ret);
void __wrap_spin_stop(struct spin *spin);

static char dir[64];             /* the root of the tree */
static unsigned writes, crossed; /* number of writes of limits; of those that put the lower limit above the upper */
static char loaded[64];          /* the CPUs that spin */

__attribute__((format(printf, 2, 3)))
static void put(const char *text, const char *format, ...)
{
        char path[256];
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = snprintf(path, sizeof(path), "%s/", CPU);
        vsnprintf(path + n, sizeof(path) - (size_t)n, format, arguments);
        va_end(arguments);
        check(tree_write(dir, path, text, strlen(text)));
}

__attribute__((format(printf, 2, 3)))
static const char *got(char *buf, const char *format, ...)
{
        char path[256];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(path, sizeof(path), format, arguments);
        va_end(arguments);
        if (util_read_at(AT_FDCWD, path, buf, 64) < 0)
                return "(none)";
        buf[strcspn(buf, "\n")] = '\0';
        return buf;
}

static unsigned limit(uint32_t policy, const char *name)
{
        char text[64];

        return (unsigned)strtoul(got(text, CPU "/cpufreq/policy%u/%s", policy, name), NULL, 10);
}

/*
 * The kernel refuses a lower limit above the upper one;
 * a file does not, so this is checked after each write.
 */
static void watch_limits(void)
{
        char text[64];

        writes++;
        for (uint32_t policy = 0; policy < 16; policy++)
                if (strcmp(got(text, CPU "/cpufreq/policy%u/scaling_min_freq", policy), "(none)") != 0)
                        crossed += limit(policy, "scaling_min_freq") > limit(policy, "scaling_max_freq");
}

int __wrap_frequency_set_min(uint32_t cpu, uint32_t khz)
{
        int err = __real_frequency_set_min(cpu, khz);

        watch_limits();
        return err;
}

int __wrap_frequency_set_max(uint32_t cpu, uint32_t khz)
{
        int err = __real_frequency_set_max(cpu, khz);

        watch_limits();
        return err;
}

int __wrap_spin_start(const uint32_t *cpus, size_t n, struct spin **ret)
{
        *ret = NULL;
        cpu_print_list(cpus, n, loaded, sizeof(loaded));
        return 0;
}

void __wrap_spin_stop(struct spin *spin)
{
        loaded[0] = '\0';
}

/*
 * A machine as a test wants it. All frequencies have seven digits:
 * a file keeps what a shorter write leaves over.
 */
struct policy {
        uint32_t first, n_cpus;
        const char *list;       /* NULL: the driver has none */
        unsigned min_khz, max_khz;
        const char *governors;  /* the first is set */
        uint32_t n_offline;     /* the last ones */
};

static void put_cpu(uint32_t cpu, uint32_t policy, bool online)
{
        char link[256], target[64];

        put(online ? "1\n" : "0\n", "cpu%u/online", cpu);
        snprintf(link, sizeof(link), "%s" CPU "/cpu%u/cpufreq", dir, cpu);
        snprintf(target, sizeof(target), "../cpufreq/policy%u", policy);
        check(!online || symlink(target, link) == 0);
}

static void put_number(uint32_t policy, const char *name, unsigned khz)
{
        char text[16];

        snprintf(text, sizeof(text), "%u\n", khz);
        put(text, "cpufreq/policy%u/%s", policy, name);
}

static void put_policy(const struct policy *policy)
{
        char related[128] = "", affected[128] = "", governor[32];

        for (uint32_t i = 0; i < policy->n_cpus; i++) {
                bool online = i < policy->n_cpus - policy->n_offline;

                put_cpu(policy->first + i, policy->first, online);
                snprintf(related + strlen(related), 8, "%s%u", i ? " " : "", policy->first + i);
                if (online)
                        snprintf(affected + strlen(affected), 8, "%s%u", i ? " " : "", policy->first + i);
        }
        strcat(related, "\n");
        strcat(affected, "\n");
        snprintf(governor, sizeof(governor), "%.*s\n", (int)strcspn(policy->governors, " "),
                 policy->governors);
        put(related, "cpufreq/policy%u/related_cpus", policy->first);
        put(affected, "cpufreq/policy%u/affected_cpus", policy->first);
        put(policy->governors, "cpufreq/policy%u/scaling_available_governors", policy->first);
        put(governor, "cpufreq/policy%u/scaling_governor", policy->first);
        if (policy->list)
                put(policy->list, "cpufreq/policy%u/scaling_available_frequencies", policy->first);
        if (strstr(policy->governors, "userspace"))
                put("1500000\n", "cpufreq/policy%u/scaling_setspeed", policy->first);
        put_number(policy->first, "cpuinfo_min_freq", policy->min_khz);
        put_number(policy->first, "cpuinfo_max_freq", policy->max_khz);
        put_number(policy->first, "scaling_min_freq", policy->min_khz);
        put_number(policy->first, "scaling_max_freq", policy->max_khz);
}

static void begin(const struct policy *policies, size_t n)
{
        uint32_t last = policies[n - 1].first + policies[n - 1].n_cpus - 1;
        char text[32];

        snprintf(dir, sizeof(dir), "/tmp/joulecast-frequency-XXXXXX");
        check(mkdtemp(dir) != NULL);
        for (size_t i = 0; i < n; i++)
                put_policy(&policies[i]);
        snprintf(text, sizeof(text), "0-%u\n", last);
        put(text, "possible");
        put(text, "present");
        snprintf(text, sizeof(text), "0-%u\n", last - policies[n - 1].n_offline);
        put(text, "online");
        writes = crossed = 0;
        loaded[0] = '\0';
}

static void mount_tree(void)
{
        char path[96];

        snprintf(path, sizeof(path), "%s" CPU, dir);
        check(mount(path, CPU, NULL, MS_BIND | MS_REC, NULL) == 0);
}

struct machine {
        struct part *part;
        struct settings *settings;
        struct hardware_description description;
        char journal[96];
        int root_fd;
};

static void open_machine(struct machine *machine)
{
        const struct machine_hardware options = { 0 };

        *machine = (struct machine){ .root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        snprintf(machine->journal, sizeof(machine->journal), "%s/state/restore.ini", dir);
        check_int(hardware_cpu_open(&options, &machine->part), 0);
        check_int(machine->part->ops->describe(machine->part, &machine->description), 0);
        check_int(settings_open(machine->root_fd, machine->journal, NULL, &machine->settings), 0);
        check_int(machine->part->ops->prepare(machine->part, machine->settings), 0);
        check_int(settings_commit(machine->settings), 0);
}

/* Everything goes back to what it was, which the journal knows. */
static void close_machine(struct machine *machine)
{
        struct restore_report report = { 0 };

        machine->part->ops->close(machine->part);
        settings_close(machine->settings);
        check_int(settings_restore(machine->root_fd, machine->journal, NULL, &report), 0);
        check_int(report.failed + report.left, 0);
        close(machine->root_fd);
        check(umount2(CPU, MNT_DETACH) == 0);
        tree_remove(dir);
}

static void apply(struct machine *machine, uint32_t khz, uint32_t cores)
{
        const struct mode mode = { .name = "m", .policy_khz = { khz }, .policy_cores = { cores } };

        check_int(machine->part->ops->apply(machine->part, &mode), 0);
}

/* Up and down and up again: the limits meet at each frequency and never cross on the way. */
static void limits_meet(void)
{
        static const struct policy policies[] = { { 0, 2, NULL, 1000000, 4000000, "powersave performance\n", 0 } };
        static const uint32_t khz[] = { 4000000, 1000000, 2700000, 3100000, 1400000, 4000000 };
        struct machine machine;
        char text[64];

        begin(policies, 1);
        put("0\n", "intel_pstate/no_turbo");
        put_number(0, "scaling_min_freq", 1400000); /* like a laptop's power daemon leaves it */
        put_number(0, "scaling_max_freq", 2000000);
        mount_tree();
        open_machine(&machine);
        for (size_t i = 0; i < ARRAY_SIZE(khz); i++) {
                apply(&machine, khz[i], 1);
                check_int(limit(0, "scaling_min_freq"), khz[i]);
                check_int(limit(0, "scaling_max_freq"), khz[i]);
                check_text(got(text, CPU "/cpufreq/policy0/scaling_governor"), "powersave");
                check_text(loaded, "0");
        }
        check_int(crossed, 0);
        check_int(writes, 2 * ARRAY_SIZE(khz));
        check_text(got(text, CPU "/intel_pstate/no_turbo"), "1");
        apply(&machine, 4000000, 2); /* where it is already: nothing is written again */
        check_int(writes, 2 * ARRAY_SIZE(khz));
        check_text(loaded, "0-1");
        apply(&machine, 0, 0); /* idle: the lowest frequency */
        check_int(limit(0, "scaling_max_freq"), 1000000);
        close_machine(&machine);
}

/* Settings are restored to their previous values. */
static void is_put_back(void)
{
        static const struct policy policies[] = {
                { 0, 2, "1000000 2000000 3000000\n", 1000000, 3000000, "ondemand_ userspace\n", 0 },
        };
        struct machine machine;
        char text[64];

        begin(policies, 1);
        put("1\n", "cpufreq/boost");
        put("1\n", "cpufreq/policy0/boost");
        put_number(0, "scaling_min_freq", 2000000);
        put_number(0, "scaling_max_freq", 2000000);
        mount_tree();
        open_machine(&machine);
        apply(&machine, 3000000, 1);
        check_text(got(text, CPU "/cpufreq/policy0/scaling_governor"), "userspace");
        check_int(limit(0, "scaling_setspeed"), 3000000);
        check_int(limit(0, "scaling_min_freq"), 1000000); /* the whole range, and the speed within it */
        check_int(limit(0, "scaling_max_freq"), 3000000);
        check_text(got(text, CPU "/cpufreq/boost"), "0");
        check_text(got(text, CPU "/cpufreq/policy0/boost"), "0");
        apply(&machine, 1000000, 1);
        check_int(limit(0, "scaling_setspeed"), 1000000);
        check_int(crossed, 0);
        check_int(writes, 2); /* once */
        machine.part->ops->stop(machine.part);
        settings_close(machine.settings);
        machine.settings = NULL;
        check_int(settings_restore(machine.root_fd, machine.journal, NULL, &(struct restore_report){ 0 }), 0);
        check_text(got(text, CPU "/cpufreq/policy0/scaling_governor"), "ondemand_");
        check_int(limit(0, "scaling_min_freq"), 2000000);
        check_int(limit(0, "scaling_max_freq"), 2000000);
        check_text(got(text, CPU "/cpufreq/boost"), "1");
        check_text(got(text, CPU "/cpufreq/policy0/boost"), "1");
        machine.part->ops->close(machine.part);
        close(machine.root_fd);
        check(umount2(CPU, MNT_DETACH) == 0);
        tree_remove(dir);
}

/* Makes writes fail, root's too, like a driver that refuses. */
static void refuse_writes(const char *name, bool refuse)
{
        char path[128];

        snprintf(path, sizeof(path), "%s" CPU "/%s", dir, name);
        if (refuse)
                check(mount(path, path, NULL, MS_BIND, NULL) == 0 &&
                      mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0);
        else
                check(umount2(path, MNT_DETACH) == 0);
}

/*
 * Boost that is off already, whose drivers refuse to switch it off again: intel_pstate on a processor without turbo
 * (until Linux 6.9), a policy's own boost while all boost is off (cpufreq, since Linux 6.7).
 */
static void boost_is_off(void)
{
        static const struct policy policies[] = { { 0, 2, NULL, 1000000, 3000000, "powersave performance\n", 0 } };
        static const struct {
                const char *name, *value;
        } boosts[] = { { "intel_pstate/no_turbo", "1\n" },
                       { "cpufreq/boost", "0\n" },
                       { "cpufreq/policy0/boost", "0\n" } };
        struct machine machine;

        begin(policies, 1);
        for (size_t i = 0; i < ARRAY_SIZE(boosts); i++) {
                put(boosts[i].value, "%s", boosts[i].name);
                refuse_writes(boosts[i].name, true);
        }
        mount_tree();
        open_machine(&machine);
        apply(&machine, 2700000, 1);
        check_int(limit(0, "scaling_max_freq"), 2700000);
        for (size_t i = 0; i < ARRAY_SIZE(boosts); i++)
                refuse_writes(boosts[i].name, false);
        close_machine(&machine);
}

/* Drivers without a list: a grid of steps of 100 MHz from the lowest to what boost adds nothing to. */
static void grid(const char *attribute, const char *value, uint32_t top_khz)
{
        static const struct policy policies[] = { { 0, 1, NULL, 1130000, 4780000, "powersave performance\n", 0 } };
        struct frequency_policy found[4] = { 0 };

        begin(policies, 1);
        if (attribute)
                put(value, "%s", attribute);
        mount_tree();
        check_int(frequency_policies(found, ARRAY_SIZE(found)), 1);
        check_int(found[0].shown.n_khz, 8);
        check_int(found[0].shown.khz[0], 1130000);
        check_int(found[0].shown.khz[7], top_khz);
        for (size_t i = 1; i < found[0].shown.n_khz; i++) {
                check(found[0].shown.khz[i] > found[0].shown.khz[i - 1]);
                check(i == 7 || found[0].shown.khz[i] % 100000 == 0);
        }
        check(!found[0].userspace);
        check_text(found[0].shown.governor, "powersave");
        check(umount2(CPU, MNT_DETACH) == 0);
        tree_remove(dir);
}

/* A list is used as it is, in any order. */
static void list(void)
{
        static const struct policy policies[] = {
                { 0, 4, "2000000 1000000 1500000\n", 1000000, 2000000, "schedutil userspace\n", 0 },
        };
        struct frequency_policy found[4] = { 0 };

        begin(policies, 1);
        mount_tree();
        check_int(frequency_policies(found, ARRAY_SIZE(found)), 1);
        check_int(found[0].shown.n_khz, 3);
        check_int(found[0].shown.khz[0], 1000000);
        check_int(found[0].shown.khz[2], 2000000);
        check_text(found[0].shown.cpus, "0-3");
        check(found[0].userspace);
        check(umount2(CPU, MNT_DETACH) == 0);
        tree_remove(dir);
}

/* CPUs that are offline get no load, and are offline afterwards; a policy without any CPU is none. */
static void offline(void)
{
        static const struct policy policies[] = {
                { 0, 2, NULL, 1000000, 2000000, "powersave performance\n", 0 },
                { 2, 3, NULL, 1000000, 3000000, "powersave performance\n", 1 },
        };
        const struct mode all = { .name = "all",
                                  .policy_khz = { 2000000, 3000000 },
                                  .policy_cores = { 2, 3 } };
        struct machine machine;
        char text[64];

        begin(policies, 2);
        mount_tree();
        open_machine(&machine);
        check_int(machine.description.n_policies, 2);
        check_text(machine.description.policies[1].cpus, "2-3");
        check_int(machine.description.policies[1].n_cpus, 2);
        check_int(machine.part->ops->apply(machine.part, &all), 0);
        check_text(loaded, "0-3");
        check_text(got(text, CPU "/cpu4/online"), "0");
        close_machine(&machine);
}

/* CPUs with a policy each form one group, in which those with a load are pinned and the others idle. */
static void group(void)
{
        struct policy policies[6];
        struct machine machine;

        for (uint32_t cpu = 0; cpu < 6; cpu++)
                policies[cpu] = (struct policy){ cpu, 1, NULL, 1000000, cpu < 4 ? 3000000 : 2000000,
                                                 "powersave performance\n", 0 };
        policies[1].max_khz = 3200000; /* a favoured core */
        begin(policies, 6);
        mount_tree();
        open_machine(&machine);
        check_int(machine.description.n_policies, 3); /* two of a kind are none */
        check_int(machine.description.policies[0].n_members, 4);
        check_text(machine.description.policies[0].cpus, "0-3");
        check_int(machine.description.policies[0].khz[machine.description.policies[0].n_khz - 1], 3000000);
        apply(&machine, 2700000, 1);
        check_text(loaded, "0");
        check_int(limit(0, "scaling_min_freq"), 2700000);
        for (uint32_t cpu = 1; cpu < 6; cpu++)
                check_int(limit(cpu, "scaling_max_freq"), 1000000);
        apply(&machine, 2700000, 4);
        check_text(loaded, "0-3");
        for (uint32_t cpu = 0; cpu < 4; cpu++)
                check_int(limit(cpu, "scaling_min_freq"), 2700000);
        check_int(limit(4, "scaling_max_freq"), 1000000);
        check_int(crossed, 0);
        close_machine(&machine);
}

/* Four cores of two threads each, side by side: two busy CPUs are two cores. */
static void threads(void)
{
        struct policy policies[8];
        struct machine machine;

        for (uint32_t cpu = 0; cpu < 8; cpu++)
                policies[cpu] = (struct policy){ cpu, 1, NULL, 1000000, 3000000, "powersave performance\n", 0 };
        begin(policies, 8);
        for (uint32_t cpu = 0; cpu < 8; cpu++) {
                char text[16];

                snprintf(text, sizeof(text), "%u-%u\n", cpu & ~1U, cpu | 1U);
                put(text, "cpu%u/topology/thread_siblings_list", cpu);
        }
        mount_tree();
        open_machine(&machine);
        check_int(machine.description.n_policies, 1);
        check_int(machine.description.policies[0].policy, 0);
        check_text(machine.description.policies[0].cpus, "0-7");
        apply(&machine, 2000000, 2);
        check_text(loaded, "0,2");
        check_int(limit(2, "scaling_min_freq"), 2000000);
        check_int(limit(1, "scaling_max_freq"), 1000000);
        apply(&machine, 2000000, 4);
        check_text(loaded, "0,2,4,6");
        apply(&machine, 2000000, 8);
        check_int(limit(7, "scaling_min_freq"), 2000000);
        close_machine(&machine);
}

/* Needs root, or a user who may create namespaces. */
static bool own_namespace(void)
{
        if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return false;
        return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

int main(void)
{
        if (access(CPU, X_OK) < 0 || !own_namespace()) {
                printf("no mount namespace of its own: %s\n", strerror(errno));
                return 77;
        }
        limits_meet();
        is_put_back();
        boost_is_off();
        grid(NULL, NULL, 4780000);
        grid("cpufreq/policy0/base_frequency", "2400000\n", 2400000);
        grid("cpu0/acpi_cppc/nominal_freq", "2700\n", 2700000);
        grid("cpufreq/policy0/base_frequency", "9000000\n", 4780000); /* nonsense */
        list();
        offline();
        group();
        threads();
        return check_result();
}
