/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frequency policies of the same kind, on trees like those of real machines, and the split of a package's time. */

#include <fcntl.h>
#include <stdarg.h>

#include "check.h"
#include "source/cpu.h"
#include "source/sample.h"
#include "source/source.h"
#include "tree.h"

#define CPU "sys/devices/system/cpu/"

static char dir[64];

static void put(const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

__attribute__((format(printf, 3, 4)))
static void put_attribute(uint32_t policy, const char *name, const char *format, ...)
{
        char path[128], text[128];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        snprintf(path, sizeof(path), CPU "cpufreq/policy%u/%s", policy, name);
        put(path, text);
}

static void put_capacity(uint32_t cpu, unsigned capacity)
{
        char path[128], text[16];

        snprintf(path, sizeof(path), CPU "cpu%u/cpu_capacity", cpu);
        snprintf(text, sizeof(text), "%u\n", capacity);
        put(path, text);
}

static void put_policy(uint32_t policy, const char *cpus, unsigned min_khz, unsigned max_khz,
                       const char *list)
{
        put_attribute(policy, "related_cpus", "%s\n", cpus);
        put_attribute(policy, "cpuinfo_min_freq", "%u\n", min_khz);
        put_attribute(policy, "cpuinfo_max_freq", "%u\n", max_khz);
        if (list)
                put_attribute(policy, "scaling_available_frequencies", "%s\n", list);
}

static void put_single(uint32_t cpu, unsigned max_khz, const char *list)
{
        char cpus[16];

        snprintf(cpus, sizeof(cpus), "%u", cpu);
        put_policy(cpu, cpus, 400000, max_khz, list);
}

static void begin(void)
{
        snprintf(dir, sizeof(dir), "/tmp/joulecast-cpu-XXXXXX");
        check(mkdtemp(dir) != NULL);
}

/* The kinds of the policies in order, as "0 0 0 3". */
static const char *kinds(void)
{
        static char text[256];
        struct cpu_policy *list = NULL;
        size_t n = 0, length = 0;
        int root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        check_int(cpu_list(root_fd, &list, &n), 0);
        text[0] = '\0';
        for (size_t i = 0; i < n; i++)
                length += (size_t)snprintf(text + length, sizeof(text) - length, i ? " %u" : "%u",
                                           list[i].kind);
        free(list);
        close(root_fd);
        return text;
}

/* Eight equal CPUs, two of which boost a little higher. */
static void laptop(void)
{
        begin();
        for (uint32_t cpu = 0; cpu < 8; cpu++)
                put_single(cpu, cpu < 2 ? 4900000 : 4700000, NULL);
        check_text(kinds(), "0 0 0 0 0 0 0 0");
        put(CPU "cpufreq/policy5/base_frequency", "1800000\n");
        check_text(kinds(), "0 0 0 0 0 5 0 0");
        tree_remove(dir);
}

/* P and E cores are told apart by their frequency, and if that is similar, by the kernel's data about them. */
static void hybrid(void)
{
        begin();
        for (uint32_t cpu = 0; cpu < 8; cpu++)
                put_single(cpu, cpu < 4 ? 4700000 : 3500000, NULL);
        check_text(kinds(), "0 0 0 0 4 4 4 4");
        for (uint32_t cpu = 4; cpu < 8; cpu++)
                put_single(cpu, 4600000, NULL);
        check_text(kinds(), "0 0 0 0 0 0 0 0");
        put("sys/devices/cpu_core/cpus", "0-3\n");
        put("sys/devices/cpu_atom/cpus", "4-7\n");
        check_text(kinds(), "0 0 0 0 4 4 4 4");
        tree_remove(dir);
}

/* Where there is a list, all must be the same: it, the capacity, the cores' type. */
static void listed(void)
{
        begin();
        for (uint32_t cpu = 0; cpu < 6; cpu++)
                put_single(cpu, 1200000, "400000 800000 1200000");
        check_text(kinds(), "0 0 0 0 0 0");
        put_single(5, 1200000, "400000 900000 1200000");
        check_text(kinds(), "0 0 0 0 0 5");
        for (uint32_t cpu = 0; cpu < 6; cpu++)
                put_capacity(cpu, cpu == 4 ? 1000 : 1024);
        check_text(kinds(), "0 0 0 0 4 5");
        put(CPU "cpu3/regs/identification/midr_el1", "0x00000000411fd440\n");
        check_text(kinds(), "0 0 0 3 4 5");
        tree_remove(dir);
}

/* Phones have clusters of different size; two equal ones are told apart by measuring. */
static void clusters(void)
{
        begin();
        put_policy(0, "0 1 2 3", 400000, 1800000, "400000 1800000");
        put_policy(4, "4 5 6 7", 400000, 1800000, "400000 1800000");
        check_text(kinds(), "0 4");
        put_policy(8, "8 9", 400000, 1800000, "400000 1800000");
        check_text(kinds(), "0 4 8");
        put_policy(10, "10 11 12 13", 400000, 1800000, "400000 1800000");
        check_text(kinds(), "0 0 8 0");
        tree_remove(dir);
}

/* Those with a clock each share a package with their kind; clusters of a kind are packages of their own. */
static void packages(void)
{
        static const uint32_t want[] = { 1, 1, 1, 0, 0, 0, 0, 0, 0, 0 };
        struct sample sample = { 0 };
        struct source *source = NULL;
        int root_fd;

        begin();
        for (uint32_t cpu = 0; cpu < 3; cpu++)
                put_single(cpu, 3000000, NULL);
        for (uint32_t cpu = 3; cpu < 9; cpu += 2) {
                char cpus[16];

                snprintf(cpus, sizeof(cpus), "%u %u", cpu, cpu + 1);
                put_policy(cpu, cpus, 400000, 3000000, NULL);
        }
        put_single(9, 1000000, NULL);
        put("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 100 0 0 0 0 0 0 0 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\n"
                         "cpu2 1 0 0 0 0 0 0 0 0 0\ncpu3 1 0 0 0 0 0 0 0 0 0\ncpu4 1 0 0 0 0 0 0 0 0 0\n"
                         "cpu5 1 0 0 0 0 0 0 0 0 0\ncpu6 1 0 0 0 0 0 0 0 0 0\ncpu7 1 0 0 0 0 0 0 0 0 0\n"
                         "cpu8 1 0 0 0 0 0 0 0 0 0\ncpu9 1 0 0 0 0 0 0 0 0 0\nintr 0\n");
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(cpu_open(root_fd, &source), 0);
        check_int(source->ops->read(source, &sample), 0);
        check_int(sample.n_cores, ARRAY_SIZE(want));
        for (size_t i = 0; i < sample.n_cores; i++)
                check_int(sample.cores[i].package, want[i]);
        source->ops->close(source);
        sample_clear(&sample);
        close(root_fd);
        tree_remove(dir);
}

static void lists(void)
{
        static const uint32_t cpus[] = { 0, 2, 3, 4, 8 };
        uint32_t again[8];
        char text[32];

        check_text(cpu_print_list(cpus, 5, text, sizeof(text)), "0,2-4,8");
        check_int(cpu_parse_list(text, again, 8), 5);
        check(memcmp(cpus, again, sizeof(cpus)) == 0);
        check_text(cpu_print_list(cpus, 0, text, sizeof(text)), "");
        check_text(cpu_print_list(cpus, 5, text, 4), "0,2");
}

static void read_cpus(struct sample *sample)
{
        struct source *source = NULL;
        int root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        *sample = (struct sample){ .monotonic_ns = 5 };
        check_int(cpu_open(root_fd, &source), 0);
        check_int(source->ops->read(source, sample), 0);
        source->ops->close(source);
        close(root_fd);
}

/* One policy of more CPUs than a word has bits, and not starting at 0. */
static void many_cpus(void)
{
        char cpus[2048], stat[16384] = "";
        size_t n = 0, length = 0;
        struct sample sample;

        begin();
        for (unsigned cpu = 8; cpu < 308; cpu++) {
                n += (size_t)snprintf(cpus + n, sizeof(cpus) - n, "%u ", cpu);
                length += (size_t)snprintf(stat + length, sizeof(stat) - length, "cpu%u 1 0 0 0 0 0 0 0 0 0\n", cpu);
        }
        put(CPU "cpufreq/policy8/related_cpus", cpus);
        put("proc/stat", stat);
        read_cpus(&sample);
        check_int(sample.n_cores, 300);
        for (size_t i = 0; i < sample.n_cores; i++)
                check_int(sample.cores[i].policy, 8);
        sample_clear(&sample);
        tree_remove(dir);
}

/*
 * One counts, one is offline since the start, and one, of a guest, never counts; an idle time beyond reason
 * is unknown.
 */
static void times(void)
{
        static const struct opp want[] = { { 0, 400000, 10000000 }, { 0, 900000, 0 }, { 2, KHZ_UNKNOWN, 5 } };
        struct sample sample;

        begin();
        for (uint32_t cpu = 0; cpu < 3; cpu++)
                put_single(cpu, 900000, "400000 900000");
        put_attribute(0, "stats/time_in_state", "400000 1\n900000 0\n");
        put_attribute(2, "stats/time_in_state", "400000 0\n900000 0\n");
        put("proc/stat", "cpu0 7 0 0 18446744073709551615 0 0 0 0\ncpu2 1 0 0 3 1 0 0 0\n");
        read_cpus(&sample);
        check_int(sample.n_opps, ARRAY_SIZE(want));
        for (size_t i = 0; i < sample.n_opps && i < ARRAY_SIZE(want); i++) {
                check_int(sample.opps[i].policy, want[i].policy);
                check_int(sample.opps[i].khz, want[i].khz);
                check_int(sample.opps[i].time_ns, want[i].time_ns);
        }
        check_int(sample.n_cores, 2);
        check_int(sample.cores[0].busy_ns, 70000000);
        check_int(sample.cores[0].idle_ns, 0);
        check_int(sample.cores[1].idle_ns, 40000000);
        sample_clear(&sample);
        tree_remove(dir);
}

int main(void)
{
        laptop();
        hybrid();
        listed();
        clusters();
        packages();
        lists();
        many_cpus();
        times();
        return check_result();
}
