/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Totals of all processes in one walk: the kernel sums the threads, nothing is
 * copied but one record a process, and no text is made or parsed.
 *
 * Two walkers, of which process-bpf.c loads the first that the kernel takes:
 * `walk` is one system call into a mapped array (open-coded iterator, 6.7),
 * `each_task` is an iterator file (5.8) with one record a thread.
 * What else counts (cpu.bpf.h, net.bpf.h, exit.bpf.h) is loaded where it works.
 */

#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "process-records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading; the verifier drops what is off. */
const volatile bool with_cpu;
const volatile bool with_net;
const volatile __u32 n_opps;
const volatile __u32 max_records;

__u64 last_walk_ns; /* boottime; a process older than this has been seen by a walk */

#include "cpu.bpf.h"
#include "net.bpf.h"
#include "totals.bpf.h"
#include "exit.bpf.h"

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task, unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1); /* max_records */
        __type(key, __u32);
        __type(value, struct process_record);
} records SEC(".maps");

/* CPU time by operating point, one row a record; the size of a row is set at load. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(__u64));
} record_opps SEC(".maps");

/* Indices of the records that this walk wrote; the others are as they were. (An array's elements are 8 bytes apart.) */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u64);
} changed SEC(".maps");

/* Which walk: `after_ns` leaves out processes that began before, for the next part where records are too few. */
struct {
        __u64 after_ns;
        __u32 n;
        __u32 n_changed;
        __u32 full;
} walk_state;

static __always_inline void add_threads(struct task_struct *leader, struct process_record *record, __u64 *opps)
{
        struct task_struct *trusted = bpf_task_acquire(leader), *thread;
        struct bpf_iter_task threads;

        if (!trusted)
                return;
        bpf_iter_task_new(&threads, trusted, TASK_ITER_PROC_THREADS);
        while ((thread = bpf_iter_task_next(&threads))) {
                add_thread(&record->totals, thread);
                if (with_cpu)
                        add_thread_opps(thread, opps);
        }
        bpf_iter_task_destroy(&threads);
        bpf_task_release(trusted);
}

/*
 * A thread that ends during the walk may be in neither sum; the total is short
 * by it, user space keeps the higher one it knows, and the next walk has it.
 */
static __always_inline void record_process(struct task_struct *task, struct process_record *record, __u64 *opps)
{
        start_record(record, task, RECORD_ALIVE);
        if (with_cpu)
                clear_opps(opps);
        if (task->signal->nr_threads == 1) {
                add_thread(&record->totals, task);
                if (with_cpu)
                        add_thread_opps(task, opps);
        } else {
                add_threads(task, record, opps);
        }
        if (with_net)
                read_net(task, &record->net);
}

/*
 * The list of processes keeps its order, so most are where they were. One whose only thread has not run since did
 * nothing at all: no time, no bytes, no new thread, name or user. Nor is it another of the same pid, which would have
 * run for the same nanoseconds: its start is not looked at, since each further line of the cache costs as much as
 * all the rest of this.
 */
static __always_inline bool is_unchanged(struct task_struct *task, const struct process_record *record)
{
        return record->n_threads == 1 && record->pid == (__u32)task->tgid &&
               record->leader_ns == task->se.sum_exec_runtime;
}

SEC("syscall")
int walk(void *ctx)
{
        struct bpf_iter_task processes;
        struct task_struct *task;
        __u64 now_ns = bpf_ktime_get_boot_ns();
        __u32 n = 0, n_changed = 0, full = 0;

        bpf_rcu_read_lock();
        bpf_iter_task_new(&processes, 0, TASK_ITER_ALL_PROCS);
        while ((task = bpf_iter_task_next(&processes))) {
                struct process_record *record;
                __u64 *opps = 0;
                __u64 *at;

                if (walk_state.after_ns && task->start_boottime < walk_state.after_ns)
                        continue;
                record = bpf_map_lookup_elem(&records, &n);
                if (!record) {
                        full = 1;
                        break;
                }
                if (!is_unchanged(task, record)) {
                        if (with_cpu)
                                opps = bpf_map_lookup_elem(&record_opps, &n);
                        at = bpf_map_lookup_elem(&changed, &n_changed);
                        if (!at || (with_cpu && !opps))
                                break;
                        record_process(task, record, opps);
                        *at = n;
                        n_changed++;
                }
                n++;
        }
        bpf_iter_task_destroy(&processes);
        bpf_rcu_read_unlock();
        walk_state.n = n;
        walk_state.n_changed = n_changed;
        walk_state.full = full;
        last_walk_ns = now_ns;
        return 0;
}

/* Each thread is a record of its own, the leader's with what is the process's; user space adds them up. */
SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
        struct task_struct *task = ctx->task;
        struct process_record record = {};

        if (!task)
                return 0;
        if (task->pid == task->tgid) {
                start_record(&record, task, RECORD_ALIVE);
                if (with_net)
                        read_net(task, &record.net);
        } else {
                record.kind = RECORD_THREAD;
                record.pid = task->tgid;
        }
        add_thread(&record.totals, task);
        bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
        return 0;
}
