/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Loads all programs that are wanted, or as many of them as the kernel supports. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "util/portable.h"
#include "util/util.h"
#include "process.skel.h"
#include "process_iter.skel.h"

/* More processes than this need a second walk. 8192 records are about 1 MB of kernel memory. */
#define MAX_RECORDS 8192
#define RECORDS_FIRST 1024 /* number of records mapped at first */

#define CACHE_LINE 64

/* In the order of their bits; the network is tried last. */
static const uint32_t optional[] = { COUNTS_NET, COUNTS_OPPS, COUNTS_EXITS };

/* The wanted parts, one bit each, and the way to count network bytes. */
struct wanted {
        uint32_t counts;
        enum net_by net_by;
        bool iterator;
        bool cycles_for_test;
        int root_fd;
        const struct bpf_opps *opps;
        struct process_collector *collector;
        int n_counters; /* how many of enum counted_event to open */
};

static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
        return 0;
}

static void choose_programs(struct process_bpf *bpf, uint32_t counts, bool iterator, bool by_cycles)
{
        struct bpf_program *const of_opps[] = { bpf->progs.count_switch, bpf->progs.count_frequency,
                                                bpf->progs.count_thread_exit, bpf->progs.count_offline,
                                                bpf->progs.feed_frequency };

        for (size_t i = 0; i < ARRAY_SIZE(of_opps); i++)
                bpf_program__set_autoload(of_opps[i], counts & COUNTS_OPPS);
        if (by_cycles) {
                bpf_program__set_autoload(bpf->progs.count_frequency, false);
                bpf_program__set_autoload(bpf->progs.feed_frequency, false);
        }
        bpf_program__set_autoload(bpf->progs.record_exec, counts & COUNTS_EXITS);
        bpf_program__set_autoload(bpf->progs.task_freed, counts & (COUNTS_EXITS | COUNTS_OPPS | COUNTS_NET));
        bpf_program__set_autoload(bpf->progs.walk, !iterator);
        bpf_program__set_autoload(bpf->progs.each_task, iterator);
        bpf_program__set_autoattach(bpf->progs.each_task, false);
        bpf_program__set_autoload(bpf->progs.find_carrier, counts & COUNTS_NET);
        bpf_program__set_autoattach(bpf->progs.find_carrier, false);
        bpf_program__set_autoattach(bpf->progs.each_program, false);
}

/*
 * Entries for threads: 0.8 MB, or 1.2 MB with many operating points. A thread whose entry is in use by
 * another costs more time.
 */
static uint32_t places_bits(const struct bpf_opps *opps)
{
        return opps->n <= BPF_OPPS_FEW ? 12 : 11;
}

static void choose_maps(struct process_bpf *bpf, uint32_t counts, bool iterator, const struct bpf_opps *opps)
{
        bool few = opps->n <= BPF_OPPS_FEW;
        uint32_t row = (few ? BPF_OPPS_FEW : BPF_OPPS_MAX) * (uint32_t)sizeof(uint64_t),
                 lines = ((uint32_t)sizeof(struct thread_opps) + row + CACHE_LINE - 1) / CACHE_LINE;

        bpf_map__set_autocreate(bpf->maps.exits, counts & COUNTS_EXITS);
        bpf_map__set_autocreate(bpf->maps.users, counts & COUNTS_EXITS);
        bpf_map__set_autocreate(bpf->maps.opps_scratch, (counts & COUNTS_EXITS) && (counts & COUNTS_OPPS));
        bpf_map__set_autocreate(bpf->maps.told_cgroups, counts & COUNTS_EXITS);
        bpf_map__set_autocreate(bpf->maps.cgroup_scratch, counts & COUNTS_EXITS);
        bpf_map__set_autocreate(bpf->maps.records, !iterator);
        bpf_map__set_autocreate(bpf->maps.record_opps, counts & COUNTS_OPPS);
        bpf_map__set_autocreate(bpf->maps.exited_opps, counts & COUNTS_OPPS);
        bpf_map__set_autocreate(bpf->maps.opps_places, counts & COUNTS_OPPS);
        bpf_map__set_autocreate(bpf->maps.opps_few, (counts & COUNTS_OPPS) && few);
        bpf_map__set_autocreate(bpf->maps.opps_many, (counts & COUNTS_OPPS) && !few);
        bpf_map__set_autocreate(bpf->maps.counters, (counts & COUNTS_KINDS) || opps->by_cycles);
        bpf_map__set_autocreate(bpf->maps.counted, counts & COUNTS_KINDS);
        bpf_map__set_autocreate(bpf->maps.changed, !iterator);
        bpf_map__set_autocreate(bpf->maps.gone, !iterator);
        bpf_map__set_autocreate(bpf->maps.walked, !iterator);
        bpf_map__set_autocreate(bpf->maps.free_places, !iterator);
        bpf_map__set_max_entries(bpf->maps.records, MAX_RECORDS);
        bpf_map__set_max_entries(bpf->maps.changed, MAX_RECORDS);
        bpf_map__set_max_entries(bpf->maps.gone, MAX_RECORDS);
        bpf_map__set_max_entries(bpf->maps.walked, MAX_RECORDS);
        bpf_map__set_max_entries(bpf->maps.free_places, MAX_RECORDS);
        if (counts & COUNTS_OPPS) {
                bpf_map__set_value_size(bpf->maps.record_opps, row);
                bpf_map__set_value_size(bpf->maps.exited_opps, row);
                bpf_map__set_value_size(bpf->maps.opps_scratch, row);
                bpf_map__set_value_size(bpf->maps.users, (uint32_t)sizeof(struct user_ends) + row);
                bpf_map__set_max_entries(bpf->maps.record_opps, MAX_RECORDS);
                bpf_map__set_value_size(bpf->maps.opps_places, lines * CACHE_LINE);
                bpf_map__set_max_entries(bpf->maps.opps_places, 1U << places_bits(opps));
        }
}

static void set_constants(struct process_bpf *bpf, uint32_t counts, enum net_by by, const struct bpf_opps *opps)
{
        struct timespec tick = { 0 };

        clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
        bpf->rodata->max_records = MAX_RECORDS;
        bpf->rodata->tick_ns = (uint64_t)tick.tv_nsec;
        bpf->rodata->with_net = counts & COUNTS_NET;
        bpf->rodata->with_bursts = counts & COUNTS_BURSTS;
        bpf->rodata->by_calls = by == NET_BY_CALLS;
        bpf->rodata->with_exits = counts & COUNTS_EXITS;
        bpf->rodata->with_cpu = counts & COUNTS_OPPS;
        if (!(counts & COUNTS_OPPS))
                return;
        bpf->rodata->n_opps = opps->n;
        bpf->rodata->by_cycles = opps->by_cycles;
        bpf->rodata->with_counters = counts & COUNTS_KINDS;
        bpf->rodata->places_bits = places_bits(opps);
        bpf->rodata->opp_mask = opps->n <= BPF_OPPS_FEW ? BPF_OPPS_FEW - 1 : BPF_OPPS_MAX - 1;
        memcpy((void *)bpf->rodata->opp_khz, opps->khz, sizeof(opps->khz));
        memcpy((void *)bpf->rodata->opp_ranges, opps->range, sizeof(opps->range));
        memcpy((void *)bpf->rodata->policy_of_cpu, opps->policy_of_cpu, sizeof(opps->policy_of_cpu));
}

/* Sets the operating point of each CPU before the first switch is counted. */
static void seed_opps(struct process_bpf *bpf, const struct bpf_opps *opps)
{
        bpf->bss->loaded_ns = util_clock_ns(CLOCK_BOOTTIME);
        for (uint32_t p = 0; p < opps->n_policies; p++)
                bpf->bss->policies[p].word = WORD_MAKE(opps->now[p], 0);
        for (size_t cpu = 0; cpu < BPF_CPUS_MAX; cpu++) {
                uint32_t policy = opps->policy_of_cpu[cpu];

                bpf->bss->cpus[cpu].opp = policy < BPF_POLICIES_MAX ? opps->now[policy] : BPF_OPPS_MAX;
        }
}

#define SAME(section, member)                                                                                \
        _Static_assert(offsetof(struct process_bpf__##section, member) ==                                    \
                       offsetof(struct process_iter_bpf__##section, member), #member " lies elsewhere")

SAME(rodata, with_cpu);
SAME(rodata, with_exits);
SAME(rodata, with_net);
SAME(rodata, with_bursts);
SAME(rodata, by_calls);
SAME(rodata, n_opps);
SAME(rodata, max_records);
SAME(rodata, places_bits);
SAME(rodata, opp_khz);
SAME(rodata, opp_ranges);
SAME(rodata, policy_of_cpu);
SAME(rodata, opp_mask);
SAME(rodata, by_cycles);
SAME(rodata, with_counters);
SAME(rodata, tick_ns);
SAME(bss, last_walk_ns);
SAME(bss, loaded_ns);
SAME(bss, cpus);
SAME(bss, policies);
SAME(bss, net_machine);
SAME(bss, lost_exits);
SAME(bss, for_test);
SAME(bss, interfaces);
SAME(bss, bursts_room);
SAME(bss, default_kind);
SAME(bss, own_namespace);
SAME(bss, has_radio);
SAME(bss, carriers);
SAME(bss, carriers_found);
SAME(bss, n_carriers_found);
SAME(bss, summed_ends);
SAME(bss, n_polls);
SAME(bss, walk_state);

/* Both variants have the same maps, variables and programs. */
static struct process_bpf *open_skeleton(bool iterator)
{
        struct process_bpf *bpf;

        if (!iterator)
                return process_bpf__open();
        bpf = calloc(1, sizeof(*bpf));
        if (!bpf || process_bpf__create_skeleton(bpf) < 0) {
                process_bpf__destroy(bpf);
                return NULL;
        }
        bpf->skeleton->data = process_iter_bpf__elf_bytes(&bpf->skeleton->data_sz);
        if (bpf_object__open_skeleton(bpf->skeleton, NULL) == 0)
                return bpf;
        process_bpf__destroy(bpf);
        return NULL;
}

/* Bursts need the owners of sockets and the ring; kinds of work need the times of threads. */
static uint32_t without_parts(uint32_t counts)
{
        if (!(counts & COUNTS_NET) || !(counts & COUNTS_EXITS))
                counts &= ~(uint32_t)COUNTS_BURSTS;
        return counts & COUNTS_OPPS ? counts : counts & ~(uint32_t)COUNTS_KINDS;
}

static int load_counts(const struct wanted *wanted, uint32_t counts, struct process_bpf **ret)
{
        enum net_by net_by = counts & COUNTS_NET ? wanted->net_by : NET_BY_BEST;
        struct process_bpf *bpf = open_skeleton(wanted->iterator);
        int err;

        if (!bpf)
                return -errno;
        choose_programs(bpf, counts, wanted->iterator, wanted->opps->by_cycles);
        choose_maps(bpf, counts, wanted->iterator, wanted->opps);
        net_way_choose(bpf, net_by, counts & COUNTS_BURSTS);
        set_constants(bpf, counts, net_by, wanted->opps);
        err = process_bpf__load(bpf);
        if (!err && (counts & COUNTS_OPPS))
                seed_opps(bpf, wanted->opps);
        if (!err && (counts & COUNTS_OPPS) && (wanted->opps->by_cycles || (counts & COUNTS_KINDS)))
                err = process_bpf_open_counters(wanted->collector, bpf, counts & COUNTS_KINDS ? wanted->n_counters : 1,
                                                wanted->cycles_for_test);
        if (!err)
                err = process_bpf__attach(bpf);
        if (!err && (net_by == NET_BY_PACKETS || (counts & COUNTS_BURSTS)))
                err = net_way_attach_packets(bpf, wanted->root_fd);
        if (err) {
                process_bpf__destroy(bpf);
                return err < 0 ? err : -EIO;
        }
        *ret = bpf;
        return 0;
}

static bool loads(const struct wanted *wanted, uint32_t counts)
{
        struct process_bpf *bpf;

        if (load_counts(wanted, counts, &bpf) < 0)
                return false;
        process_bpf__destroy(bpf);
        return true;
}

/* Finds the first way to count network bytes that loads. */
static bool find_net_way(struct wanted *wanted, enum net_by only)
{
        for (enum net_by by = NET_BY_CALLS; by <= NET_BY_PACKETS; by++) {
                if (only != NET_BY_BEST && by != only)
                        continue;
                wanted->net_by = by;
                if (loads(wanted, COUNTS_NET))
                        return true;
        }
        return false;
}

/* Tries all parts at once. If that fails, each part is tried alone, which shows what the kernel supports. */
static int load_most(struct wanted *wanted, enum net_by only, struct process_collector *collector)
{
        static const uint32_t parts[] = { COUNTS_BURSTS, COUNTS_KINDS, COUNTS_BURSTS | COUNTS_KINDS };
        uint32_t counts = without_parts(wanted->counts), works = 0, all;
        int err = -EOPNOTSUPP;

        wanted->net_by = NET_BY_CALLS;
        if (only == NET_BY_BEST || only == NET_BY_CALLS || !(counts & COUNTS_NET))
                err = load_counts(wanted, counts, &collector->bpf);
        if (err) {
                for (size_t i = 1; i < ARRAY_SIZE(optional); i++)
                        if ((counts & optional[i]) && loads(wanted, optional[i]))
                                works |= optional[i];
                if ((counts & COUNTS_NET) && find_net_way(wanted, only))
                        works |= COUNTS_NET;
                counts = without_parts(works | (counts & (COUNTS_BURSTS | COUNTS_KINDS)));
                err = load_counts(wanted, counts, &collector->bpf);
        }
        all = counts;
        for (size_t i = 0; err && i < ARRAY_SIZE(parts); i++) {
                counts = all & ~parts[i];
                if (counts != all)
                        err = load_counts(wanted, counts, &collector->bpf);
        }
        if (err)
                return err;
        collector->source.counts = (counts & ~(uint32_t)COUNTS_KINDS) | (counts & COUNTS_KINDS ? collector->kinds : 0);
        collector->source.net_by = counts & COUNTS_NET ? wanted->net_by : NET_BY_BEST;
        return 0;
}

/*
 * If a frequency changed after it was read and before the programs ran, the old one would be used until the
 * next change. So it is read again until it does not change meanwhile.
 */
static void catch_up(struct process_collector *collector)
{
        const struct cpu_state *cpus = collector->bpf->bss->cpus;
        bool same = false;

        for (int tries = 0; tries < 3 && !same; tries++) {
                struct bpf_opps seen = collector->opps;

                bpf_opps_look(collector->root_fd, &collector->opps);
                same = true;
                for (uint32_t cpu = 0; cpu < BPF_CPUS_MAX; cpu++) {
                        uint32_t policy = seen.policy_of_cpu[cpu], now;

                        if (policy >= BPF_POLICIES_MAX || seen.now[policy] == collector->opps.now[policy])
                                continue;
                        same = false;
                        now = collector->opps.now[policy];
                        if (cpus[cpu].opp == seen.now[policy]) /* otherwise the change was reported */
                                process_bpf_feed_frequency(&collector->source, cpu, collector->opps.khz[now]);
                }
        }
}

static void unmap(const void *at, size_t size)
{
        const void *mapped = *(void *const *)at;

        if (mapped)
                munmap((void *)mapped, size);
}

/*
 * The kernel maps the requested size at once, and unused parts count as our memory; so only as much is mapped
 * as needed.
 */
static int map_array(const struct bpf_map *map, size_t old_size, size_t size, const void *at)
{
        void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

        if (mapped == MAP_FAILED)
                return -errno;
        unmap(at, old_size);
        *(void **)at = mapped;
        return 0;
}

struct mapped_array {
        const struct bpf_map *map;
        size_t row;
        const void *at; /* address of the pointer to it */
};

#define MAPPED_ARRAYS 4

static size_t mapped_arrays(struct process_collector *collector, struct mapped_array *arrays)
{
        const struct process_bpf *bpf = collector->bpf;

        arrays[0] = (struct mapped_array){ bpf->maps.records, sizeof(struct process_record),
                                           &collector->records };
        arrays[1] = (struct mapped_array){ bpf->maps.changed, sizeof(uint64_t), &collector->changed };
        arrays[2] = (struct mapped_array){ bpf->maps.gone, sizeof(uint64_t), &collector->gone };
        arrays[3] = (struct mapped_array){ bpf->maps.record_opps, collector->opps_row,
                                           &collector->record_opps };
        return collector->opps_row > 0 ? MAPPED_ARRAYS : MAPPED_ARRAYS - 1;
}

int process_bpf_map(struct process_collector *collector, size_t n)
{
        struct mapped_array arrays[MAPPED_ARRAYS];
        size_t n_arrays = mapped_arrays(collector, arrays),
               wanted = MAX(collector->n_mapped, (size_t)RECORDS_FIRST);

        while (wanted < n)
                wanted *= 2;
        wanted = MIN(wanted, (size_t)MAX_RECORDS);
        if (wanted == collector->n_mapped)
                return 0;
        for (size_t i = 0; i < n_arrays; i++) {
                int err = map_array(arrays[i].map, collector->n_mapped * arrays[i].row,
                                    wanted * arrays[i].row, arrays[i].at);

                if (err)
                        return err;
        }
        collector->n_mapped = wanted;
        return 0;
}

/* Uses the frequencies that the kernel reports, or else cycles. */
static int find_opps(const struct collector_options *options, const struct process_counters *counters,
                     struct bpf_opps *ret)
{
        int err = bpf_opps_read(options->root_fd, ret);

        if (err == -ENODATA && counters->n > COUNTED_CYCLES)
                err = bpf_opps_read_hidden(options->root_fd, ret);
        return err;
}

static int load(const struct collector_options *options, bool iterator, struct process_collector *collector)
{
        struct wanted wanted = {
                .counts = (COUNTS_NET | COUNTS_OPPS | COUNTS_EXITS | COUNTS_BURSTS | COUNTS_KINDS) &
                          ~options->leave_out,
                .iterator = iterator,
                .cycles_for_test = options->cycles_for_test,
                .root_fd = options->root_fd,
                .opps = &collector->opps,
                .collector = collector,
                .n_counters = options->leave_out & COUNTS_MISSES ? COUNTED_MISSES : COUNTED_COUNT,
        };
        struct process_counters counters = { 0 };
        int err;

        collector->root_fd = fcntl(options->root_fd, F_DUPFD_CLOEXEC, 0);
        /* The iterator's records have no room for times by operating point. */
        if (!iterator && !options->no_counters)
                process_bpf_try_counters(options->cycles_for_test, &counters);
        if (iterator || find_opps(options, &counters, &collector->opps) < 0)
                wanted.counts &= ~(uint32_t)COUNTS_OPPS;
        if (counters.n <= COUNTED_INSTRUCTIONS)
                wanted.counts &= ~(uint32_t)COUNTS_KINDS;
        err = load_most(&wanted, options->net_by, collector);
        if (err)
                return err == -EINVAL ? -EOPNOTSUPP : err; /* the kernel's error for unsupported features */
        if ((collector->source.counts & COUNTS_OPPS) && collector->opps.by_cycles)
                collector->source.counts |= COUNTS_CYCLES;
        else if (collector->source.counts & COUNTS_OPPS)
                catch_up(collector);
        collector->source.counts |= COUNTS_CPU | COUNTS_DISK;
        collector->programs_iterator = bpf_program__attach_iter(collector->bpf->progs.each_program, NULL);
        if (!collector->programs_iterator)
                return -errno;
        if (iterator) {
                collector->iterator = bpf_program__attach_iter(collector->bpf->progs.each_task, NULL);
                if (!collector->iterator)
                        return -errno;
        } else {
                collector->max_records = MAX_RECORDS;
                if (collector->source.counts & COUNTS_OPPS)
                        collector->opps_row = bpf_map__value_size(collector->bpf->maps.record_opps);
                err = process_bpf_map(collector, 0);
                if (err)
                        return err;
        }
        if (!(collector->source.counts & COUNTS_NET))
                return 0;
        collector->carriers_iterator = bpf_program__attach_iter(collector->bpf->progs.find_carrier, NULL);
        if (!collector->carriers_iterator)
                return -errno;
        return process_bpf_watch_interfaces(collector, options->radio_for_test,
                                            options->air_for_test == AIR_CELLULAR ? KIND_CELLULAR : KIND_WIFI);
}

/* Gives back the memory of the BPF object, which is needed for loading alone; the file still has it. */
static void drop_pages(const void *data, size_t size)
{
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = ((uintptr_t)data + size) / page * page;
        uintptr_t begin = ((uintptr_t)data + page - 1) / page * page;

        if (begin < end)
                madvise((void *)begin, end - begin, MADV_DONTNEED);
}

int process_bpf_load(const struct collector_options *options, bool iterator,
                     struct process_collector *collector)
{
        libbpf_print_fn_t print = libbpf_set_print(be_quiet);
        int err = load(options, iterator, collector);
        size_t size;
        const void *object = iterator ? process_iter_bpf__elf_bytes(&size) : process_bpf__elf_bytes(&size);

        libbpf_set_print(print);
        drop_pages(object, size);
        portable_trim(); /* 5 MB that libbpf needed for the kernel's BTF */
        return err;
}

void process_bpf_unload(struct process_collector *collector)
{
        struct mapped_array arrays[MAPPED_ARRAYS];
        size_t n_arrays = collector->bpf ? mapped_arrays(collector, arrays) : 0;

        process_ring_close(&collector->exits);
        for (size_t i = 0; i < n_arrays; i++)
                unmap(arrays[i].at, collector->n_mapped * arrays[i].row);
        bpf_link__destroy(collector->iterator);
        bpf_link__destroy(collector->programs_iterator);
        bpf_link__destroy(collector->carriers_iterator);
        process_bpf__destroy(collector->bpf);
}
