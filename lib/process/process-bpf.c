/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads all processes with one system call: the kernel walks its own list (bpf/) and writes to mapped
 * records.
 */

#include "process-bpf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "util/tuning.h"
#include "util/util.h"
#include "process.skel.h"

static void process_bpf_close(struct source *source)
{
        struct process_collector *collector = (struct process_collector *)source;

        if (collector->apps)
                apps_set_exe(collector->apps, (struct app_exe){ 0 });
        process_bpf_unload(collector);
        process_bpf_forget_programs(collector);
        process_bpf_free_cgroups(collector);
        process_bpf_free_iterated(&collector->iterated);
        process_table_free(collector->table);
        free(collector->users);
        if (collector->interfaces_fd >= 0)
                close(collector->interfaces_fd);
        if (collector->root_fd >= 0)
                close(collector->root_fd);
        free(collector);
}

static void see(const struct process_record *record, const uint64_t *opps, uint32_t have,
                struct process_seen *ret)
{
        const struct process_totals *totals = &record->totals;
        const struct net_totals *net = &record->net;

        *ret = (struct process_seen){
                .pid = (pid_t)record->pid,
                .ppid = (pid_t)record->parent_pid,
                .uid = record->uid,
                .start_ns = record->start_ns,
                .comm = record->comm,
                .kernel_thread = record->kernel_thread,
                .have = have,
                .cpu_opp_ns = opps,
                .total = {
                        .cpu_ns = totals->cpu_ns,
                        .read_bytes = totals->read_bytes,
                        .write_bytes = totals->write_bytes - MIN(totals->cancelled_write_bytes, totals->write_bytes),
                        .wifi_rx_bytes = net->wifi_rx_bytes,
                        .wifi_tx_bytes = net->wifi_tx_bytes,
                        .wifi_wakes = net->wifi_wakes,
                        .other_rx_bytes = net->other_rx_bytes,
                        .other_tx_bytes = net->other_tx_bytes,
                        .wifi_rx_packets = net->wifi_rx_packets,
                        .wifi_tx_packets = net->wifi_tx_packets,
                        .other_rx_packets = net->other_rx_packets,
                        .other_tx_packets = net->other_tx_packets,
                },
        };
}

static uint32_t have_of(const struct process_collector *collector)
{
        uint32_t counts = collector->source.counts;
        bool packets = collector->source.net_by == NET_BY_PACKETS ||
                       ((counts & COUNTS_BURSTS) && collector->bpf->bss->has_radio);

        return USAGE_CPU | (counts & COUNTS_DISK ? USAGE_DISK : 0) |
               (counts & COUNTS_NET ? USAGE_WIFI | USAGE_OTHER_NET : 0) |
               (counts & COUNTS_NET && packets ? USAGE_PACKETS : 0);
}

int process_bpf_take_event(void *data, const void *bytes, size_t size)
{
        struct process_collector *collector = data;
        struct process_record record;
        struct process_seen seen;
        bool split = collector->source.counts & COUNTS_OPPS;
        const uint64_t *opps = NULL;
        int err;

        if (size >= offsetof(struct cgroup_record, names) &&
            ((const struct cgroup_record *)bytes)->kind == RECORD_CGROUP)
                return process_bpf_take_cgroup(collector, bytes, size);
        if (size >= sizeof(struct burst_record) && ((const struct burst_record *)bytes)->kind == RECORD_BURST)
                return process_bpf_take_burst(collector, bytes);
        if (size < sizeof(record) + (split ? collector->opps.n * sizeof(*opps) : 0))
                return 0;
        memcpy(&record, bytes, sizeof(record));
        record.comm[sizeof(record.comm) - 1] = '\0';
        if (split)
                opps = (const void *)((const uint8_t *)bytes + sizeof(record));
        see(&record, opps, have_of(collector), &seen);
        if (record.kind == RECORD_EXEC)
                return process_table_execed(collector->table, &seen, record.event_ns);
        seen.cgroup = process_bpf_cgroup(collector, record.cgroup_id);
        err = process_table_ended(collector->table, &seen, record.event_ns, NULL);
        if (err || record.parent_start_ns == 0)
                return err;
        return process_table_reaped(collector->table, (pid_t)record.parent_pid, record.parent_start_ns,
                                    seen.total.read_bytes, seen.total.write_bytes);
}

static int take_record(struct process_collector *collector, size_t index, size_t place)
{
        bool split = collector->source.counts & COUNTS_OPPS;
        struct process_seen seen;

        see(&collector->records[index],
            split ? (const void *)(collector->record_opps + index * collector->opps_row) : NULL,
            have_of(collector), &seen);
        return process_table_alive(collector->table, place, &seen);
}

static int run_walk(struct process_collector *collector, uint64_t after_ns, bool fresh)
{
        struct bpf_test_run_opts run = { .sz = sizeof(run) };
        struct process_bpf *bpf = collector->bpf;

        bpf->bss->walk_state.after_ns = after_ns;
        bpf->bss->walk_state.fresh = fresh;
        if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.walk), &run))
                return -errno;
        if (bpf->bss->walk_state.n_changed > collector->max_records ||
            bpf->bss->walk_state.n_gone > collector->max_records ||
            bpf->bss->walk_state.n_places > collector->max_records)
                return -EIO;
        return process_bpf_map(collector, bpf->bss->walk_state.n_places);
}

/*
 * Start of the next walk if there are too few records: a second before the youngest process seen, since two
 * processes that begin at the same time may be listed in either order. It is later if that second has more
 * processes than there are records.
 */
static uint64_t next_walk_ns(uint64_t after_ns, uint64_t youngest_ns)
{
        return MAX(youngest_ns - NS_PER_S, after_ns + (youngest_ns - after_ns) / 2);
}

/* If there are more processes than records, reads the rest in further walks, each of which begins anew. */
static int walk_in_parts(struct process_collector *collector)
{
        const struct process_bpf *bpf = collector->bpf;
        uint64_t after_ns = 0;
        size_t place = 0;
        int err = run_walk(collector, 0, true);

        while (!err) {
                size_t n = bpf->bss->walk_state.n_changed;
                uint64_t next_ns;

                for (size_t i = 0; !err && i < n; i++)
                        if (after_ns == 0 ||
                            !process_table_is_seen(collector->table, (pid_t)collector->records[i].pid,
                                                   collector->records[i].start_ns))
                                err = take_record(collector, i, place++);
                if (err || !bpf->bss->walk_state.full || n == 0)
                        return err;
                next_ns = next_walk_ns(after_ns, collector->records[n - 1].start_ns);
                if (next_ns <= after_ns)
                        return -EOVERFLOW;
                after_ns = next_ns;
                err = run_walk(collector, after_ns, true);
        }
        return err;
}

static int take_changes(struct process_collector *collector)
{
        const struct process_bpf *bpf = collector->bpf;
        int err = 0;

        for (size_t i = 0; !err && i < bpf->bss->walk_state.n_gone; i++)
                err = process_table_gone(collector->table, collector->gone[i]);
        for (size_t i = 0; !err && i < bpf->bss->walk_state.n_changed; i++)
                if (collector->changed[i] < collector->n_mapped)
                        err = take_record(collector, collector->changed[i], collector->changed[i]);
        return err;
}

static int walk(struct process_collector *collector)
{
        int err = run_walk(collector, 0, collector->fresh);

        if (err)
                return err;
        collector->told_all = collector->fresh || collector->bpf->bss->walk_state.full;
        collector->fresh = collector->bpf->bss->walk_state.full;
        return collector->fresh ? walk_in_parts(collector) : take_changes(collector);
}

/* Reads the walk of older kernels. */
static int read_iterator(struct process_collector *collector)
{
        struct process_seen seen;
        int err;

        collector->told_all = true;
        collector->bpf->bss->last_walk_ns = util_clock_ns(CLOCK_BOOTTIME);
        err = process_bpf_iterate(collector->iterator, &collector->iterated);
        for (size_t i = 0; !err && i < collector->iterated.n_processes; i++) {
                see(&collector->iterated.processes[i], NULL, have_of(collector), &seen);
                err = process_table_alive(collector->table, i, &seen);
        }
        return err;
}

/* Takes the sum of the ended processes without room as one process that lived since the last poll. */
static int take_sum(struct process_collector *collector, const struct process_record *record, const uint64_t *opps)
{
        struct process_seen seen;

        see(record, opps, have_of(collector), &seen);
        seen.others = true;
        return process_table_ended(collector->table, &seen, util_clock_ns(CLOCK_BOOTTIME), NULL);
}

/* Reports the number of lost processes. Their totals are part of the machine's, but unattributed. */
static void tell_lost(struct process_collector *collector)
{
        uint64_t lost = collector->bpf->bss->lost_exits.n, summed = collector->bpf->bss->summed_ends;

        if (summed != collector->summed)
                log_warning(collector->log,
                            "%llu processes more ended since the last poll than there is room for; they are counted "
                            "as \"%s\" of their user; a shorter interval helps",
                            (unsigned long long)(summed - collector->summed), TUNING_OTHER_APPS);
        if (lost != collector->lost)
                log_warning(collector->log,
                            "%llu processes ended since the last poll and were lost (full buffer); what they used "
                            "is unattributed; a shorter interval helps",
                            (unsigned long long)(lost - collector->lost));
        collector->summed = summed;
        collector->lost = collector->source.lost = lost;
}

/* Events come before the walk: a name changed by an exec must not be given to the program before it. */
static int read_all(struct process_collector *collector, struct sample *sample)
{
        bool split = collector->source.counts & COUNTS_OPPS;
        int err = 0;

        process_bpf_forget_programs(collector);
        process_table_begin(collector->table);
        collector->sample = sample;
        collector->bpf->bss->n_polls++;
        if (collector->source.counts & COUNTS_BURSTS)
                err = process_bpf_tell_bursts(collector);
        if (err >= 0 && (collector->source.counts & COUNTS_KINDS))
                err = process_bpf_read_counted(collector, sample);
        if (err >= 0 && collector->exits.consumed)
                err = process_ring_read(&collector->exits, process_bpf_take_event, collector);
        if (err >= 0 && collector->summed != collector->bpf->bss->summed_ends)
                err = process_bpf_take_sums(collector, take_sum);
        process_bpf_forget_cgroups(collector);
        tell_lost(collector);
        if (err >= 0)
                err = collector->iterator ? read_iterator(collector) : walk(collector);
        if (err < 0) {
                collector->fresh = true; /* read all processes again, as some were not read */
                return err;
        }
        if (collector->source.counts & COUNTS_NET)
                process_bpf_read_net(collector, sample);
        err = split ? process_bpf_read_opps(collector, sample) : 0;
        if (err)
                return err;
        err = process_table_finish(collector->table, collector->told_all, sample,
                                   split ? collector->opps.place : NULL);
        process_bpf_forget_programs(collector);
        return err;
}

static int process_bpf_read(struct source *source, struct sample *sample)
{
        struct process_collector *collector = (struct process_collector *)source;
        int err = read_all(collector, sample);

        if (collector->source.counts & COUNTS_BURSTS)
                process_bpf_finish_bursts(collector, err != 0, sample);
        return err;
}

static const struct source_ops process_bpf_ops = {
        .name = "bpf",
        .read = process_bpf_read,
        .close = process_bpf_close,
};

static const struct source_ops process_bpf_iter_ops = {
        .name = "bpf-iter",
        .read = process_bpf_read,
        .close = process_bpf_close,
};

static int open_any(const struct collector_options *options, bool iterator, struct source **ret)
{
        struct process_collector *collector = calloc(1, sizeof(*collector));
        bool exits, split;
        int err;

        if (!collector)
                return -ENOMEM;
        collector->source.ops = iterator ? &process_bpf_iter_ops : &process_bpf_ops;
        collector->root_fd = collector->interfaces_fd = -1;
        collector->log = options->log;
        collector->fresh = true;
        err = process_bpf_load(options, iterator, collector);
        if (!err) {
                exits = collector->source.counts & COUNTS_EXITS;
                split = collector->source.counts & COUNTS_OPPS;
                err = process_table_new(options->root_fd, options->apps, exits, split ? collector->opps.n : 0,
                                        &collector->table);
        }
        if (!err && exits)
                err = process_ring_open(bpf_map__fd(collector->bpf->maps.exits),
                                        bpf_map__max_entries(collector->bpf->maps.exits), &collector->exits);
        if (err) {
                process_bpf_close(&collector->source);
                return err;
        }
        collector->apps = options->apps;
        if (options->apps)
                apps_set_exe(options->apps, (struct app_exe){ process_bpf_find_program, collector });
        *ret = &collector->source;
        return 0;
}

int process_bpf_open(const struct collector_options *options, struct source **ret)
{
        return open_any(options, false, ret);
}

int process_bpf_iter_open(const struct collector_options *options, struct source **ret)
{
        return open_any(options, true, ret);
}
