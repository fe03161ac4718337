/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The counters of each CPU while it works, as perf_event_open(2) events for the BPF programs: cycles, instructions and
 * one cache event. bpf/counters.bpf.h says when they are read.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/util.h"
#include "process.skel.h"

_Static_assert(BPF_COUNTERS == COUNTED_COUNT && BPF_COUNTER_CYCLES == COUNTED_CYCLES, "counters are others");

#define EVENT_SOURCES "/sys/bus/event_source/devices"

/*
 * Accesses of the second cache, where the PMU of an ARM counts them; else the kernel's cache misses: on ARM refills of
 * the first cache, on Intel misses of the last one, on AMD misses of the second.
 */
#define EVENT_L2 "l2d_cache"
#define EVENT_MISSES "cache-misses"

static const uint64_t hardware_events[COUNTED_COUNT] = {
        [COUNTED_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
        [COUNTED_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
        [COUNTED_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
};

/* They stand in for the events above: a GHz, as many instructions, and page faults. */
static const uint64_t test_events[COUNTED_COUNT] = {
        [COUNTED_CYCLES] = PERF_COUNT_SW_CPU_CLOCK,
        [COUNTED_INSTRUCTIONS] = PERF_COUNT_SW_TASK_CLOCK,
        [COUNTED_MISSES] = PERF_COUNT_SW_PAGE_FAULTS,
};

/* -EBUSY: others hold the counters that it could use. */
static int open_event(uint32_t cpu, uint32_t type, uint64_t config)
{
        struct perf_event_attr event = {
                .size = sizeof(event),
                .type = type,
                .config = config,
                .pinned = 1, /* count all the time, or report an error */
        };
        _cleanup_close_ int fd = (int)syscall(SYS_perf_event_open, &event, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
        uint64_t counted;

        if (fd < 0)
                return -errno;
        return read(fd, &counted, sizeof(counted)) == 0 ? -EBUSY : take_fd(&fd);
}

static int read_unit(const char *unit, const char *name, char *buf, size_t size)
{
        char path[PATH_MAX];

        snprintf(path, sizeof(path), EVENT_SOURCES "/%s/%s", unit, name);
        return util_read_at(AT_FDCWD, path, buf, size) > 0 ? 0 : -ENOENT;
}

static int unit_type(const char *unit, uint64_t *ret)
{
        char text[32];
        int err = read_unit(unit, "type", text, sizeof(text));

        return err ? err : util_parse_u64(text, ret);
}

/* On a hybrid x86, the kernel counts P cores only, unless the event has the number of another unit. */
static int open_small(uint32_t cpu, uint64_t config)
{
        static const char *const units[] = { "cpu_atom", "cpu_lowpower" };
        int fd = -ENOENT;

        for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(units); i++) {
                uint64_t unit;

                if (unit_type(units[i], &unit) == 0)
                        fd = open_event(cpu, PERF_TYPE_HARDWARE, unit << 32 | config);
        }
        return fd;
}

/* The event's number of a file like "event=0x16". */
static int parse_event(const char *text, uint64_t *ret)
{
        char *end;

        if (strncmp(text, "event=0x", 8) != 0)
                return -EINVAL;
        *ret = strtoull(text + 8, &end, 16);
        return end > text + 8 && (*end == '\0' || *end == '\n') ? 0 : -EINVAL;
}

/* A PMU counts on its own CPUs only; perf_event_open() fails for a CPU of another PMU. */
static int open_l2(uint32_t cpu)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(AT_FDCWD, EVENT_SOURCES);
        const struct dirent *entry;
        int fd = -ENOENT;

        while (dir && fd < 0 && (entry = readdir(dir))) {
                uint64_t type, config;
                char text[64];

                if (entry->d_name[0] != '.' && read_unit(entry->d_name, "events/" EVENT_L2, text, sizeof(text)) == 0 &&
                    parse_event(text, &config) == 0 && unit_type(entry->d_name, &type) == 0)
                        fd = open_event(cpu, (uint32_t)type, config);
        }
        return fd;
}

static int open_hardware(uint32_t cpu, enum counted_event event)
{
        int fd = open_event(cpu, PERF_TYPE_HARDWARE, hardware_events[event]);

        return fd < 0 && fd != -EBUSY ? open_small(cpu, hardware_events[event]) : fd;
}

/* @misses: the name of a cache event. */
static int open_counter(uint32_t cpu, enum counted_event event, bool for_test, const char **misses)
{
        int fd = -ENOENT;

        if (for_test)
                return open_event(cpu, PERF_TYPE_SOFTWARE, test_events[event]);
        if (event == COUNTED_MISSES)
                fd = open_l2(cpu);
        if (fd >= 0)
                *misses = EVENT_L2;
        return fd < 0 ? open_hardware(cpu, event) : fd;
}

struct opened {
        uint8_t n[BPF_CPUS_MAX]; /* counters of each CPU */
        const char *misses;
        int err; /* why the next one did not open, on the CPU with the most counters */
};

/* Opens the first @most counters of a CPU, until one fails. The map keeps them open. */
static int open_of_cpu(struct process_bpf *bpf, uint32_t cpu, int most, bool for_test, struct opened *opened)
{
        for (int event = 0; event < most; event++) {
                _cleanup_close_ int fd = open_counter(cpu, event, for_test, &opened->misses);
                uint32_t at = (uint32_t)event * BPF_CPUS_MAX + cpu;

                if (fd < 0)
                        return fd;
                if (bpf && bpf_map_update_elem(bpf_map__fd(bpf->maps.counters), &at, &fd, BPF_ANY) < 0)
                        return -errno;
                opened->n[cpu]++;
        }
        return 0;
}

/* @bpf: gets the events; NULL: only tests whether they can be opened. Returns how many any CPU has. */
static int open_all(struct process_bpf *bpf, int most, bool for_test, struct opened *ret)
{
        long n = sysconf(_SC_NPROCESSORS_CONF);
        int best = 0;

        *ret = (struct opened){ .misses = EVENT_MISSES, .err = -ENOENT };
        for (uint32_t cpu = 0; cpu < (uint32_t)MIN(n, BPF_CPUS_MAX); cpu++) {
                int err = open_of_cpu(bpf, cpu, most, for_test, ret);

                if (err && ret->n[cpu] >= best)
                        ret->err = err;
                best = MAX(best, ret->n[cpu]);
        }
        return best;
}

void process_bpf_try_counters(bool for_test, struct process_counters *ret)
{
        struct opened opened;

        ret->n = open_all(NULL, COUNTED_COUNT, for_test, &opened);
        ret->err = ret->n < COUNTED_COUNT ? opened.err : 0;
        ret->misses = ret->n > COUNTED_MISSES ? opened.misses : NULL;
}

/* All CPUs of a policy count what its poorest CPU can, so that sums match. A CPU without cycles is offline. */
static uint32_t allot(const struct opened *opened, struct process_collector *collector, struct process_bpf *bpf)
{
        const struct bpf_opps *opps = &collector->opps;
        uint8_t least[BPF_POLICIES_MAX + 1];
        uint32_t counts = 0;

        memset(least, COUNTED_COUNT, sizeof(least));
        for (size_t cpu = 0; cpu < BPF_CPUS_MAX; cpu++)
                if (opened->n[cpu])
                        least[opps->policy_of_cpu[cpu]] = MIN(least[opps->policy_of_cpu[cpu]], opened->n[cpu]);
        for (size_t cpu = 0; cpu < BPF_CPUS_MAX; cpu++) {
                uint32_t policy = opps->policy_of_cpu[cpu];

                if (policy >= BPF_POLICIES_MAX || opened->n[cpu] <= COUNTED_INSTRUCTIONS ||
                    least[policy] <= COUNTED_INSTRUCTIONS)
                        continue;
                bpf->bss->cpus[cpu].n_counters = least[policy];
                collector->misses_of_policy |= least[policy] > COUNTED_MISSES ? 1U << policy : 0;
                counts |= COUNTS_KINDS | (least[policy] > COUNTED_MISSES ? COUNTS_MISSES : 0);
        }
        return counts;
}

int process_bpf_open_counters(struct process_collector *collector, struct process_bpf *bpf, int most, bool for_test)
{
        struct opened opened;
        int n = open_all(bpf, most, for_test, &opened);

        if (n == 0)
                return collector->opps.by_cycles ? opened.err : 0;
        collector->kinds = most > COUNTED_INSTRUCTIONS ? allot(&opened, collector, bpf) : 0;
        collector->source.misses = collector->kinds & COUNTS_MISSES ? opened.misses : NULL;
        return 0;
}

static int add_sums(struct process_collector *collector, const struct counted_key *key,
                    const struct counted_sums *sums, struct sample *sample)
{
        struct process_counted *counted;

        if (key->policy >= collector->opps.n_policies || sums->amount[COUNTED_CYCLES] == 0)
                return 0;
        counted = sample_add_counted(sample);
        if (!counted)
                return -ENOMEM;
        counted->process.pid = (pid_t)key->pid;
        counted->process.start_time = process_table_start_time(collector->table, (pid_t)key->pid, key->start_ns);
        counted->policy = collector->opps.policy[key->policy];
        counted->misses = collector->misses_of_policy & 1U << key->policy;
        memcpy(counted->amount, sums->amount, sizeof(counted->amount));
        return 0;
}

#define AT_ONCE 256

int process_bpf_read_counted(struct process_collector *collector, struct sample *sample)
{
        struct counted_key keys[AT_ONCE];
        struct counted_sums sums[AT_ONCE];
        int fd = bpf_map__fd(collector->bpf->maps.counted), err = 0;
        uint32_t place = 0, n;
        bool begun = false, more = true;

        while (!err && more) {
                n = AT_ONCE;
                more = bpf_map_lookup_and_delete_batch(fd, begun ? &place : NULL, &place, keys, sums, &n, NULL) == 0;
                if (!more && errno != ENOENT) /* the end */
                        return -errno;
                begun = true;
                for (uint32_t i = 0; !err && i < n; i++)
                        err = add_sums(collector, &keys[i], &sums[i], sample);
        }
        sample->have |= err ? 0 : SAMPLE_COUNTED;
        return err;
}
