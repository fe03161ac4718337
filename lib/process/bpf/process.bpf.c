/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Totals of all processes in one walk: the kernel sums the threads, and one record per process is copied.
 *
 * There are two walkers; process-bpf.c loads the first that the kernel supports. `walk` is one system call
 * that writes to a mapped array (open-coded iterator, Linux 6.7). `each_task` is an iterator file (5.8) with
 * one record per thread. The other programs (cpu.bpf.h, net.bpf.h, exit.bpf.h) are loaded where the kernel
 * supports them.
 */

#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "process-records.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading; the verifier removes code that is switched off. */
const volatile bool with_cpu;
const volatile bool with_exits;
const volatile bool with_net;
const volatile bool with_bursts;
const volatile bool by_calls; /* bytes are counted by calls; packets are only used for bursts */
const volatile __u32 n_opps;
const volatile __u32 max_records; /* a power of two */

__u64 last_walk_ns; /* boottime; a walk has seen each process older than this */

#define FIBONACCI 0x9e3779b97f4a7c15ULL /* 2^64 divided by the golden ratio, for multiplicative hashing */

/*
 * Converts an address to a number, as its distance from one of our variables: the verifier allows no other
 * arithmetic with a pointer, and reading the pointer as data takes a helper.
 */
static __always_inline __u64 number_of(const void *address)
{
        __u64 ret = (__u64)address;

        asm volatile("%0 -= %1" : "+r"(ret) : "r"(&last_walk_ns));
        return ret;
}

#ifndef WITHOUT_WALK
extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
                             unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym __weak;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym __weak;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym __weak;
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern struct task_struct *bpf_task_acquire(struct task_struct *task) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;
#else
/*
 * Variant for kernels that lack these functions. libbpf 1.1 looks up functions even for programs that are not
 * loaded, in the BTF of all modules if necessary, which takes CAP_SYS_ADMIN. The rest is the same, so that
 * maps and variables have the same addresses.
 */
static __always_inline void *nothing(const void *from)
{
        const void *ret = from;

        asm volatile("" : "+r"(ret));
        return (void *)ret;
}
#define bpf_iter_task_new(it, task, flags) ((void)nothing(it))
#define bpf_iter_task_next(it) ((struct task_struct *)nothing(it))
#define bpf_iter_task_destroy(it) ((void)nothing(it))
#define bpf_iter_num_new(it, start, end) ((void)nothing((const void *)(long)(end)))
#define bpf_iter_num_next(it) ((int *)nothing(it))
#define bpf_iter_num_destroy(it) ((void)nothing(it))
#define bpf_rdonly_cast(object, type) nothing(object)
#define bpf_rcu_read_lock() ((void)0)
#define bpf_rcu_read_unlock() ((void)0)
#define bpf_task_acquire(task) ((struct task_struct *)nothing(task))
#define bpf_task_release(task) ((void)0)
#endif

/*
 * Plain reads. For each pointer that is read through a trusted one, the verifier searches the names of all the kernel's
 * types, in each state of the program, which took 15 times as long as everything else. Helpers need the trusted one.
 */
static __always_inline struct task_struct *read_only(const struct task_struct *task)
{
        return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

static __always_inline struct sock *read_only_socket(const struct sock *sk)
{
        return bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct sock));
}

#include "ring.bpf.h"
#include "cpu.bpf.h"
#include "net.bpf.h"
#include "totals.bpf.h"
#include "user.bpf.h"
#include "cgroup.bpf.h"
#include "exit.bpf.h"

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1); /* max_records */
        __type(key, __u32);
        __type(value, struct process_record);
} records SEC(".maps");

/* CPU time by operating point, one row per record; the row size is set at load. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(__u64));
} record_opps SEC(".maps");

/*
 * Indices of the records that this walk wrote; the others are unchanged. (Array elements are 8 bytes apart.)
 */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u64);
} changed SEC(".maps");

/* Indices of processes that this walk did not find again. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u64);
} gone SEC(".maps");

/*
 * The list of the previous walk. This walk overwrites it in place, since no process moves towards the end of
 * the kernel's list.
 */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct walked);
} walked SEC(".maps");

/* Stack of free record indices. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, __u64);
} free_places SEC(".maps");

/*
 * `fresh`: begin with no records in use. `after_ns`: leave out processes that began earlier, for the next
 * part if there are too few records.
 */
struct {
        __u64 after_ns;
        __u64 task;   /* task to look for */
        __u64 end_ns; /* boottime; a process that began later is new */
        __u32 fresh;
        __u32 n;
        __u32 n_changed;
        __u32 n_gone;
        __u32 full;
        __u32 n_free;   /* free records below n_places */
        __u32 n_places;
        /*
         * Counters of the walk. They are in memory, since the verifier would track those in registers through
         * each round.
         */
        __u32 at, n_before;
        __u32 unused; /* the size is the same where 64 bits are aligned to 4 bytes */
} walk_state;

static __always_inline void add_threads(struct task_struct *leader, struct process_record *record,
                                        __u64 *opps)
{
        struct task_struct *trusted = bpf_task_acquire(leader), *thread;
        struct bpf_iter_task threads;

        if (!trusted)
                return;
        bpf_iter_task_new(&threads, trusted, TASK_ITER_PROC_THREADS);
        while ((thread = bpf_iter_task_next(&threads))) {
                add_thread(&record->totals, read_only(thread));
                if (with_cpu)
                        add_thread_opps(thread, opps);
        }
        bpf_iter_task_destroy(&threads);
        bpf_task_release(trusted);
}

/*
 * A thread that ends during the walk may be in neither sum, and the total is then too small. User space keeps
 * the higher total, and the next walk includes the thread.
 */
static __always_inline void record_process(struct task_struct *task, struct process_record *record,
                                           __u64 *opps)
{
        const struct task_struct *seen = read_only(task);

        start_record(record, seen, RECORD_ALIVE);
        if (with_cpu)
                clear_opps(opps);
        if (seen->signal->nr_threads == 1) {
                add_thread(&record->totals, seen);
                if (with_cpu)
                        add_thread_opps(task, opps);
        } else {
                add_threads(task, record, opps);
        }
        if (with_net)
                read_net(task, &record->net);
}

/* Sums over all threads. A process that did nothing has the same sum as before. */
static __always_inline __u64 sum_threads(struct task_struct *leader)
{
        struct task_struct *trusted = bpf_task_acquire(leader), *thread;
        struct bpf_iter_task threads;
        __u64 sum;

        if (!trusted)
                return 0;
        sum = read_only(trusted)->signal->sum_sched_runtime;
        bpf_iter_task_new(&threads, trusted, TASK_ITER_PROC_THREADS);
        while ((thread = bpf_iter_task_next(&threads)))
                sum += read_only(thread)->se.sum_exec_runtime;
        bpf_iter_task_destroy(&threads);
        bpf_task_release(trusted);
        return sum;
}

#define MANY (1ULL << 63) /* flag in walked.cpu_ns: it had several threads */

static __always_inline __u64 cpu_of_all(struct task_struct *task)
{
        const struct task_struct *seen = read_only(task);

        return seen->signal->nr_threads == 1 ? seen->se.sum_exec_runtime : sum_threads(task) | MANY;
}

/*
 * A process that has not run since did nothing at all: no time, bytes, new thread, name or user. For one
 * thread, the runtime shows that, and nothing else is read: each further cache line costs as much as the rest
 * of this function.
 */
static __always_inline bool is_unchanged(struct task_struct *task, const struct walked *old)
{
        return old && !(old->cpu_ns & MANY) && old->cpu_ns == task->se.sum_exec_runtime;
}

/*
 * Finds @task in the list of the previous walk, from the present position on. It is the first one there,
 * unless processes before it are gone. Not inline, so that the verifier checks it once; the same holds for
 * the next function.
 */
#define MOST_GONE 128
__noinline __u32 find_walked(void)
{
        __u32 found = walk_state.n_before;
        struct bpf_iter_num numbers;
        int *number;

        bpf_iter_num_new(&numbers, 0, MOST_GONE);
        while ((number = bpf_iter_num_next(&numbers))) {
                __u32 at = walk_state.at + *number;
                const struct walked *old;

                if (at >= walk_state.n_before)
                        break;
                old = bpf_map_lookup_elem(&walked, &at);
                if (!old)
                        break;
                if (old->task == walk_state.task) {
                        found = at;
                        break;
                }
        }
        bpf_iter_num_destroy(&numbers);
        return found;
}

/* The processes of the previous walk up to @to are gone: reports them and frees their records. */
__noinline int tell_gone(__u32 to)
{
        struct bpf_iter_num numbers;

        bpf_iter_num_new(&numbers, 0, max_records);
        while (bpf_iter_num_next(&numbers)) {
                __u32 index = walk_state.at, n_gone = walk_state.n_gone, n_free = walk_state.n_free;
                const struct walked *old;
                __u64 *at, *place;

                if (walk_state.at >= to)
                        break;
                old = bpf_map_lookup_elem(&walked, &index);
                at = bpf_map_lookup_elem(&gone, &n_gone);
                place = bpf_map_lookup_elem(&free_places, &n_free);
                if (!old || !at || !place)
                        break;
                *at = *place = old->place;
                walk_state.n_gone = n_gone + 1;
                walk_state.n_free = n_free + 1;
                walk_state.at++;
        }
        bpf_iter_num_destroy(&numbers);
        return 0;
}

/* Position of the task in the list of the previous walk, mostly the next one; n_before: the task is new. */
__noinline __u32 find_old(void)
{
        __u32 at = walk_state.at;
        const struct walked *old;

        if (at >= walk_state.n_before)
                return walk_state.n_before;
        old = bpf_map_lookup_elem(&walked, &at);
        if (old && old->task == walk_state.task)
                return at;
        /* it began after all listed ones */
        if (read_only((void *)walk_state.task)->start_boottime > walk_state.end_ns) {
                tell_gone(walk_state.n_before);
                return walk_state.n_before;
        }
        at = find_walked();
        if (at < walk_state.n_before)
                tell_gone(at);
        return at;
}

/* A new process takes the record that was freed last; max_records: there is none. */
static __always_inline __u64 take_place(void)
{
        __u32 n_free = walk_state.n_free - 1;
        __u64 *place;

        if (walk_state.n_free == 0)
                return walk_state.n_places < max_records ? walk_state.n_places++ : max_records;
        place = bpf_map_lookup_elem(&free_places, &n_free);
        walk_state.n_free = n_free;
        return place ? *place : max_records;
}

/*
 * Writes the task's record and its index. The parent is only read for a new process, as it is another task to
 * fetch.
 */
static __always_inline bool write_record(struct task_struct *task, __u64 place, bool fresh)
{
        __u32 index = place, n_changed = walk_state.n_changed;
        struct process_record *record = bpf_map_lookup_elem(&records, &index);
        __u64 *at = bpf_map_lookup_elem(&changed, &n_changed), *opps = 0;

        if (with_cpu)
                opps = bpf_map_lookup_elem(&record_opps, &index);
        if (!record || !at || (with_cpu && !opps))
                return 0;
        record_process(task, record, opps);
        record->parent_pid = fresh ? read_only(task)->real_parent->tgid : 0;
        *at = place;
        walk_state.n_changed = n_changed + 1;
        return 1;
}

/*
 * A walk mostly waits for memory: two cache lines per process, and the second address is known only when the
 * first line is there. The previous walk has the addresses of the next processes, so several are prefetched.
 * The memory of a process that is gone is read as well, and ignored.
 */
#define AHEAD 8
static __always_inline void load_ahead(void)
{
        __u32 index = walk_state.at + AHEAD;
        const struct walked *later = bpf_map_lookup_elem(&walked, &index);
        const struct task_struct *task;

        if (!later || !later->task)
                return;
        task = read_only((void *)later->task);
        (void)*(volatile __u64 *)&task->se.sum_exec_runtime;
        (void)*(void *volatile *)&task->tasks.next;
}

/* Entry in which this walk stores @task; it overwrites one that is not needed any more. */
static __always_inline struct walked *remember(struct task_struct *task, const struct walked *old)
{
        __u32 index = walk_state.n;
        struct walked *mine;

        if (!old && index == walk_state.at && index < walk_state.n_before)
                tell_gone(index + 1); /* the task took the position of that process */
        mine = bpf_map_lookup_elem(&walked, &index);
        if (!mine)
                return 0;
        mine->place = old ? old->place : take_place();
        mine->cpu_ns = old ? old->cpu_ns : 0;
        mine->task = (__u64)task;
        return mine;
}

/*
 * The kernel's list keeps its order: an ended process leaves a gap, and a new one is at the end, so the
 * previous list is read along. If a thread other than the first executes a program, its process gets another
 * task at the same position; it then counts as gone and as new.
 */
SEC("syscall")
int walk(void *ctx)
{
        __u64 now_ns = bpf_ktime_get_boot_ns();
        struct bpf_iter_task processes;
        struct task_struct *task;

        walk_state.n_before = walk_state.n;
        if (walk_state.fresh)
                walk_state.n_before = walk_state.n_places = walk_state.n_free = 0;
        walk_state.at = walk_state.n = walk_state.n_changed = walk_state.n_gone = walk_state.full = 0;
        bpf_rcu_read_lock();
        bpf_iter_task_new(&processes, 0, TASK_ITER_ALL_PROCS);
        while ((task = bpf_iter_task_next(&processes))) {
                struct walked *old = 0, *mine;
                __u64 cpu_ns;
                __u32 at;

                if (walk_state.after_ns && task->start_boottime < walk_state.after_ns)
                        continue;
                load_ahead();
                walk_state.task = (__u64)task;
                at = find_old();
                if (at < walk_state.n_before)
                        old = bpf_map_lookup_elem(&walked, &at);
                mine = old;
                if (!old || walk_state.n != walk_state.at)
                        mine = remember(task, old);
                if (!mine) {
                        walk_state.full = 1;
                        break;
                }
                walk_state.n++;
                walk_state.at += !!old;
                cpu_ns = is_unchanged(task, old) ? mine->cpu_ns : cpu_of_all(task);
                if (old && cpu_ns == mine->cpu_ns)
                        continue;
                mine->cpu_ns = cpu_ns;
                if (!write_record(task, mine->place, !old)) {
                        walk_state.full = 1;
                        break;
                }
        }
        bpf_iter_task_destroy(&processes);
        bpf_rcu_read_unlock();
        if (!walk_state.full)
                tell_gone(walk_state.n_before);
        last_walk_ns = now_ns;
        walk_state.end_ns = bpf_ktime_get_boot_ns();
        return 0;
}

/* Each thread makes a record; the leader's includes the totals of the process. User space adds them up. */
SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
        struct task_struct *task = ctx->task;
        struct process_record record = {};

        if (!task)
                return 0;
        if (task->pid == task->tgid) {
                start_record(&record, task, RECORD_ALIVE);
                record.parent_pid = task->real_parent->tgid;
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

/*
 * Reports each process's executable file; read only when a name is needed. A kernel thread has no memory map
 * and so no file.
 */
SEC("iter/task")
int each_program(struct bpf_iter__task *ctx)
{
        struct task_struct *task = ctx->task;
        struct program_record record = {};
        struct mm_struct *mm;

        if (!task || task->pid != task->tgid)
                return 0;
        mm = task->mm;
        if (!mm || !mm->exe_file)
                return 0;
        record.pid = task->tgid;
        bpf_probe_read_kernel_str(record.name, sizeof(record.name), mm->exe_file->f_path.dentry->d_name.name);
        bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
        return 0;
}
