/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * CPU time of each thread by operating point, and busy time of each policy.
 *
 * Method: at a switch between two tasks no clock is read. The scheduler has just updated the runtime of the
 * task that leaves, and its increase is added to the CPU's present operating point. A clock is read only if
 * the operating point changed during that run, to divide it, and at switches to and from idle, which show how
 * many cores of a policy were busy and how long.
 *
 * If the kernel reports no frequency but the CPU counts cycles, the cycle counter is read at switches to and
 * from idle, and when tasks have run for long enough since the last reading. Cycles divided by runtime give a
 * frequency, and the runtime is split between the two operating points around it. The present run of a task
 * is counted at its next switch only, since its cycles are not known before.
 */

/* Limits an index in a way that the verifier can follow, however the compiler moves the checks around it. */
#define WITHIN(index, size)                                                                                  \
        ({                                                                                                   \
                __u32 within_ = (index) & ((size) - 1);                                                      \
                asm volatile("" : "+r"(within_));                                                            \
                within_;                                                                                     \
        })

/*
 * One entry per thread, by the address of its task: one or two cache lines, found without a search. Rows are
 * whole cache lines, aligned where the kernel allows an array to be mapped.
 */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1); /* 1 << places_bits */
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(struct thread_opps)); /* plus one __u64 per operating point, set at load */
} opps_places SEC(".maps");

const volatile __u32 places_bits;

/*
 * Threads whose array entry is in use by another. Only one of the two map sizes is created: most machines
 * have few operating points.
 */
struct thread_opps_few {
        __u64 room[sizeof(struct thread_opps) / sizeof(__u64) + BPF_OPPS_FEW];
};

struct thread_opps_many {
        __u64 room[sizeof(struct thread_opps) / sizeof(__u64) + BPF_OPPS_MAX];
};

struct {
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __type(key, int);
        __type(value, struct thread_opps_few);
} opps_few SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __type(key, int);
        __type(value, struct thread_opps_many);
} opps_many SEC(".maps");

/*
 * Times of a process's ended threads, by its pid. They are not in the leader's entry, since threads may
 * outlive their leader.
 */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, 16384);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(__u64)); /* one __u64 per operating point, set at load */
} exited_opps SEC(".maps");

const volatile __u64 no_time[BPF_OPPS_MAX];

/* Operating points ascend by policy, then kHz; a policy's are [first, first + n). Set before loading. */
const volatile __u32 opp_khz[BPF_OPPS_MAX];
const volatile struct opp_range opp_ranges[BPF_POLICIES_MAX];
const volatile __u8 policy_of_cpu[BPF_CPUS_MAX];
const volatile __u32 opp_mask; /* BPF_OPPS_FEW or BPF_OPPS_MAX, less 1 */

struct cpu_state cpus[BPF_CPUS_MAX];             /* user space sets the first `opp` */
struct policy_state policies[BPF_POLICIES_MAX];  /* as above */
__u64 loaded_ns; /* boottime; the earlier time of older threads was not split */

const volatile bool by_cycles; /* each policy's first operating point is then for time of unknown frequency */

/* least runtime from which a frequency is computed; below, the delay between the two readings matters */
#define SOME_NS 50000
#define NEAR_A_POINT 64  /* a frequency within 1/64 of an operating point is taken for that point */

#include "counters.bpf.h"

#define OPP_INDEX(opp) WITHIN(opp, opp_mask + 1)

static __always_inline struct thread_opps *stored_opps(struct task_struct *task, __u64 flags)
{
        struct thread_opps *opps;

        if (opp_mask >= BPF_OPPS_FEW)
                return bpf_task_storage_get(&opps_many, task, 0, flags);
        opps = bpf_task_storage_get(&opps_few, task, 0, flags);
        /* keeps two calls apart: a single call on either map would refer to the one that was not created */
        asm volatile("" : "+r"(opps));
        return opps;
}

/* Two tasks never begin within the same 64 bytes. */
static __always_inline struct thread_opps *place_of(__u64 number)
{
        __u32 index = (number >> 6) * FIBONACCI >> (64 - places_bits);

        return bpf_map_lookup_elem(&opps_places, &index);
}

static __always_inline struct thread_opps *opps_of(struct task_struct *task, __u64 flags)
{
        __u64 number = number_of(task), whose;
        struct thread_opps *place = place_of(number), *stored;

        if (!place || place->task == number)
                return place;
        stored = stored_opps(task, 0);
        if (stored || !flags)
                return stored;
        whose = __sync_val_compare_and_swap(&place->task, 0, number);
        if (whose == 0 || whose == number)
                return place;
        return stored_opps(task, flags);
}

/*
 * Busy time of a policy, without a lock.
 *
 * Operating point and number of busy cores are changed together, in one word. A core that becomes busy
 * subtracts the present time from the sums, and adds the time when it stops; so the order in which two CPUs
 * add does not matter.
 */
static __always_inline void add_time(struct policy_state *policy, __u64 word, __u64 now_ns, bool begin)
{
        __u32 opp = WORD_OPP(word), n = WORD_BUSY(word);

        if (opp >= BPF_OPPS_MAX || n == 0)
                return;
        if (!by_cycles)
                __sync_fetch_and_add(&policy->times.busy_ns[WITHIN(opp, BPF_OPPS_MAX)],
                                     begin ? -(now_ns * n) : now_ns * n);
        __sync_fetch_and_add(&policy->times.any_ns[WITHIN(opp, BPF_OPPS_MAX)], begin ? -now_ns : now_ns);
}

/* Changes the word of a policy: ends the period of the old word and begins one of the new word. */
static __always_inline void change_policy(struct policy_state *policy, __u64 now_ns, bool set_opp, __u32 opp,
                                          int busy)
{
#pragma unroll
        for (int attempt = 0; attempt < 16; attempt++) {
                __u64 old = policy->word, word;

                word = WORD_MAKE(set_opp ? opp : WORD_OPP(old), WORD_BUSY(old) + busy);
                if (word == old)
                        return;
                if (__sync_val_compare_and_swap(&policy->word, old, word) != old)
                        continue;
                add_time(policy, old, now_ns, 0);
                add_time(policy, word, now_ns, 1);
                return;
        }
        policy->lost++;
}

static __always_inline void idle_changed(struct cpu_state *state, __u32 cpu, bool busy)
{
        __u32 policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)];

        state->busy = busy;
        if (policy < BPF_POLICIES_MAX)
                change_policy(&policies[WITHIN(policy, BPF_POLICIES_MAX)], bpf_ktime_get_ns(), 0, 0,
                              busy ? 1 : -1);
}

/*
 * A CPU that was offline missed frequency changes of its policy. It comes back from idle, so the frequency is
 * read then.
 */
static __always_inline void leave_idle(struct cpu_state *state, __u32 cpu)
{
        __u32 policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)];

        if (policy < BPF_POLICIES_MAX && !by_cycles)
                state->opp = WORD_OPP(policies[WITHIN(policy, BPF_POLICIES_MAX)].word);
}

/* Finds the operating points around a frequency, and how near it is to the upper one. */
static __always_inline void find_opp(struct cpu_state *state, __u32 policy, __u64 khz)
{
        __u32 first = opp_ranges[WITHIN(policy, BPF_POLICIES_MAX)].first,
              n = opp_ranges[WITHIN(policy, BPF_POLICIES_MAX)].n, low = first + 1, next;
        __u64 below_khz, above_khz;

        for (__u32 i = 2; i < BPF_OPPS_MAX; i++) {
                if (i >= n || opp_khz[WITHIN(first + i, BPF_OPPS_MAX)] > khz)
                        break;
                low = first + i;
        }
        next = low + 1 < first + n ? low + 1 : low;
        below_khz = opp_khz[WITHIN(low, BPF_OPPS_MAX)];
        above_khz = opp_khz[WITHIN(next, BPF_OPPS_MAX)];
        state->opp = low;
        if (next == low || khz <= below_khz + below_khz / NEAR_A_POINT)
                state->above = 0;
        else if (khz >= above_khz - above_khz / NEAR_A_POINT)
                state->above = 1024;
        else
                state->above = (khz - below_khz) * 1024 / (above_khz - below_khz);
}

/* Cycle counter of this CPU; 0 if it has none (it was offline, or all counters are in use). */
static __always_inline __u64 counted_cycles(void)
{
        __s64 counted = read_counter(BPF_COUNTER_CYCLES, bpf_get_smp_processor_id());

        return counted < 0 ? 0 : (__u64)counted;
}

/* Computes the CPU's frequency while tasks ran, if they ran for long enough. */
static __always_inline void find_frequency(struct cpu_state *state, __u32 policy, __u64 ran_cycles)
{
        state->some_ns += state->unread_ns;
        state->some_cycles += ran_cycles;
        if (state->some_ns < SOME_NS)
                return;
        find_opp(state, policy, state->some_cycles * 1000000 / state->some_ns);
        state->some_ns = 0;
        state->some_cycles = 0;
}

/*
 * Reads the cycle counter after a run of @ran_ns (0: unknown, or idle). The reading takes longer than the
 * rest of a switch. So runs are added up until they are long enough for a frequency, or until the CPU becomes
 * idle, as idle cycles belong to no task.
 */
static __always_inline void read_cycles(struct cpu_state *state, __u32 cpu, __u64 ran_ns, bool busy)
{
        __u32 policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)];
        __u64 before = state->cycles;

        state->unread_ns += ran_ns;
        if (busy && before && ran_ns && state->some_ns + state->unread_ns < SOME_NS)
                return;
        if (policy >= BPF_POLICIES_MAX)
                return;
        state->cycles = counted_cycles();
        if (state->cycles == 0) {
                state->opp = opp_ranges[WITHIN(policy, BPF_POLICIES_MAX)].first;
                state->above = 0;
        } else if (before && ran_ns) {
                find_frequency(state, policy, state->cycles - before);
        }
        state->unread_ns = 0;
}

/* By cycles, the machine's time is the sum over its tasks. */
static __always_inline void give_machine(const struct cpu_state *state, __u32 cpu, __u64 ran_ns)
{
        __u32 policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)], opp = state->opp;
        __u64 above_ns = ran_ns * state->above >> 10, *busy_ns;

        if (policy >= BPF_POLICIES_MAX || opp >= n_opps)
                return;
        busy_ns = policies[WITHIN(policy, BPF_POLICIES_MAX)].times.busy_ns;
        __sync_fetch_and_add(&busy_ns[WITHIN(opp, BPF_OPPS_MAX)], ran_ns - above_ns);
        if (above_ns && opp + 1 < n_opps)
                __sync_fetch_and_add(&busy_ns[WITHIN(opp + 1, BPF_OPPS_MAX)], above_ns);
}

/*
 * Adds the part of a run before the operating point last changed. Returns the rest, which belongs to the
 * present one.
 */
static __always_inline __u64 give_parts(const struct cpu_state *state, __u64 *ns, __u64 slice_begin_ns,
                                        __u64 ran_ns)
{
        __u64 from_ns = slice_begin_ns;

        for (__u32 i = 0; i < BPF_PARTS_MAX; i++) {
                __u64 until_ns = state->parts[i].until_ns, part_ns;
                __u32 opp = state->parts[i].opp;

                if (i >= state->n_parts)
                        break;
                if (until_ns <= from_ns)
                        continue;
                part_ns = until_ns - from_ns;
                if (part_ns > ran_ns)
                        part_ns = ran_ns;
                if (opp < n_opps)
                        ns[OPP_INDEX(opp)] += part_ns;
                ran_ns -= part_ns;
                from_ns = until_ns;
        }
        return ran_ns;
}

static __always_inline void give(const struct cpu_state *state, __u64 *ns, __u64 ran_ns)
{
        __u32 opp = state->opp;

        if (by_cycles && state->above && opp + 1 < n_opps) {
                __u64 above_ns = ran_ns * state->above >> 10;

                ns[OPP_INDEX(opp + 1)] += above_ns;
                ran_ns -= above_ns;
        }
        if (state->n_parts)
                ran_ns = give_parts(state, ns, bpf_ktime_get_ns() - ran_ns, ran_ns);
        if (opp < n_opps)
                ns[OPP_INDEX(opp)] += ran_ns;
}

static __always_inline __u64 *exited_of(__u32 pid, bool create)
{
        __u64 *ns = bpf_map_lookup_elem(&exited_opps, &pid);

        if (ns || !create)
                return ns;
        /* a thread may be faster */
        bpf_map_update_elem(&exited_opps, &pid, (const void *)no_time, 1 /* BPF_NOEXIST */);
        return bpf_map_lookup_elem(&exited_opps, &pid);
}

static __always_inline void give_thread(const struct cpu_state *state, struct task_struct *task,
                                        struct thread_opps *opps, __u64 ran_ns)
{
        __u64 *exited;

        if (!opps->exiting) {
                give(state, opps->own_ns, ran_ns);
                return;
        }
        exited = exited_of(task->tgid, 1);
        if (exited)
                give(state, exited, ran_ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(count_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
        __u32 cpu = bpf_get_smp_processor_id();
        bool busy = !(next->flags & PF_IDLE);
        struct cpu_state *state;

        if (cpu >= BPF_CPUS_MAX)
                return 0;
        state = &cpus[WITHIN(cpu, BPF_CPUS_MAX)];
        if (!(prev->flags & PF_IDLE)) {
                struct thread_opps *opps = opps_of(prev, BPF_LOCAL_STORAGE_GET_F_CREATE);
                __u64 total_ns = prev->se.sum_exec_runtime, ran_ns = 0;

                /*
                 * First case: the thread is first seen in the middle of its life, so the frequencies of its
                 * past are unknown. Second case: more time was counted than it ran, so the entry is left from
                 * a task that ended before all programs were attached.
                 */
                if (opps && total_ns > opps->seen_ns && (opps->seen_ns || prev->start_boottime >= loaded_ns))
                        ran_ns = total_ns - opps->seen_ns;
                if (by_cycles) {
                        read_cycles(state, cpu, ran_ns, busy);
                        give_machine(state, cpu, ran_ns);
                }
                if (opps && ran_ns)
                        give_thread(state, prev, opps, ran_ns);
                if (opps)
                        opps->seen_ns = total_ns;
                if (with_counters)
                        end_run(state, cpu, prev, ran_ns);
        } else if (busy) {
                if (by_cycles)
                        read_cycles(state, cpu, 0, 0);
                leave_idle(state, cpu);
        }
        state->n_parts = 0;
        if (with_counters && busy)
                begin_run(state, cpu, next);
        if (state->busy != busy)
                idle_changed(state, cpu, busy);
        return 0;
}

/*
 * A CPU that goes offline becomes idle, but its last switch is not seen; another CPU reports it afterwards.
 */
SEC("tp_btf/cpuhp_exit")
int BPF_PROG(count_offline, unsigned int cpu, int target, int step, int err)
{
        struct cpu_state *state = &cpus[WITHIN(cpu, BPF_CPUS_MAX)];

        if (step == (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU) && err == 0 &&
            cpu < BPF_CPUS_MAX && state->busy)
                idle_changed(state, cpu, 0);
        return 0;
}

/* Takes the nearest point: a reported frequency may be a measured one, and boost is above the table. */
static __always_inline __u32 opp_of(__u32 policy, __u32 khz)
{
        __u32 first = opp_ranges[WITHIN(policy, BPF_POLICIES_MAX)].first,
              n = opp_ranges[WITHIN(policy, BPF_POLICIES_MAX)].n, best = first, best_off = ~0U;

        for (__u32 i = 0; i < BPF_OPPS_MAX; i++) {
                __u32 at = first + i, point, off;

                if (i >= n || at >= BPF_OPPS_MAX)
                        break;
                point = opp_khz[WITHIN(at, BPF_OPPS_MAX)];
                off = point > khz ? point - khz : khz - point;
                if (off > best_off)
                        break;
                best = at;
                best_off = off;
        }
        return best;
}

static __always_inline void frequency_changed(__u32 khz, __u32 cpu)
{
        __u64 now_ns = bpf_ktime_get_ns();
        struct cpu_state *state;
        __u32 policy, opp, n;

        if (cpu >= BPF_CPUS_MAX)
                return;
        policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)];
        if (policy >= BPF_POLICIES_MAX)
                return;
        opp = opp_of(policy, khz);
        state = &cpus[WITHIN(cpu, BPF_CPUS_MAX)];
        if (opp == state->opp)
                return;
        /* kept for the policy's first CPU, where leave_idle() reads it */
        change_policy(&policies[WITHIN(policy, BPF_POLICIES_MAX)], now_ns, 1, opp, 0);
        n = state->n_parts;
        if (n >= BPF_PARTS_MAX)
                n = BPF_PARTS_MAX - 1; /* extend the last part */
        state->parts[WITHIN(n, BPF_PARTS_MAX)].opp = state->opp;
        state->parts[WITHIN(n, BPF_PARTS_MAX)].until_ns = now_ns;
        state->n_parts = n + 1;
        state->opp = opp;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(count_frequency, unsigned int khz, unsigned int cpu)
{
        frequency_changed(khz, cpu);
        return 0;
}

/* For tests on machines with one frequency: reports a change as a governor would. */
SEC("syscall")
int feed_frequency(struct fed_frequency *fed)
{
        frequency_changed(fed->khz, fed->cpu);
        return 0;
}

/* Moves the times of an ending thread to its process; its remaining runtime goes there directly. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(count_thread_exit, struct task_struct *task)
{
        struct task_struct *leader = task->group_leader;
        struct thread_opps *own, *heir;
        __u64 *exited;

        if (task->pid == task->tgid || !leader)
                return 0;
        own = opps_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
        heir = opps_of(leader, BPF_LOCAL_STORAGE_GET_F_CREATE);
        exited = exited_of(task->tgid, 1);
        if (!own || !heir || !exited)
                return 0;
        heir->had_threads = 1;
        own->exiting = 1;
        for (__u32 i = 0; i < BPF_OPPS_MAX; i++) {
                if (i >= n_opps)
                        break;
                if (own->own_ns[i])
                        __sync_fetch_and_add(&exited[i], own->own_ns[i]);
                own->own_ns[i] = 0;
        }
        return 0;
}

static __always_inline __u32 cpu_of(struct task_struct *task)
{
        if (bpf_core_field_exists(task->thread_info.cpu))
                return task->thread_info.cpu;
        return ((struct task_struct___cpu *)task)->cpu;
}

/* The thread will not run again: frees its entry. */
static __always_inline void forget_opps(struct task_struct *task)
{
        __u64 number = number_of(task);
        struct thread_opps *place = place_of(number);
        __u32 pid = task->tgid;

        if (task->pid == pid)
                bpf_map_delete_elem(&exited_opps, &pid);
        if (!place || place->task != number)
                return;
        place->seen_ns = 0;
        place->exiting = 0;
        place->had_threads = 0;
        for (__u32 i = 0; i <= opp_mask && i < BPF_OPPS_MAX; i++)
                place->own_ns[i] = 0;
        place->task = 0;
}

static __always_inline void add_exited(struct task_struct *leader, __u64 *sums)
{
        __u64 *exited = exited_of(leader->tgid, 0);

        for (__u32 i = 0; exited && i < BPF_OPPS_MAX; i++) {
                if (i >= n_opps)
                        break;
                sums[i] += exited[i];
        }
}

/* Adds a thread's times, including its present run, to those of its process. */
static __always_inline void add_thread_opps(struct task_struct *task, __u64 *sums)
{
        struct thread_opps *opps = opps_of(task, 0);
        __u64 total_ns = task->se.sum_exec_runtime;
        __u32 cpu;

        if (!opps)
                return;
        for (__u32 i = 0; i < BPF_OPPS_MAX; i++) {
                if (i >= n_opps)
                        break;
                sums[i] += opps->own_ns[i];
        }
        if (opps->had_threads)
                add_exited(task, sums);
        if (by_cycles || total_ns <= opps->seen_ns || !opps->seen_ns)
                return;
        cpu = cpu_of(task);
        if (cpu < BPF_CPUS_MAX)
                give(&cpus[WITHIN(cpu, BPF_CPUS_MAX)], sums, total_ns - opps->seen_ns);
}

static __always_inline void clear_opps(__u64 *sums)
{
        for (__u32 i = 0; i < BPF_OPPS_MAX; i++) {
                if (i >= n_opps)
                        break;
                sums[i] = 0;
        }
}
