/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * The kind of work of each process: instructions and cache events beside cycles.
 *
 * Only ratios are needed, so stretches of work are sampled. Each millisecond that tasks run on a CPU allows one
 * stretch: the counters are read at the switch to the next task, and again at the switch from that task. Other
 * switches read nothing. A few stretches can be saved up; else a long run, which a short one follows each time, would
 * always leave the stretch to that one. The three sums of a process and policy are of the same stretches.
 */

/* One perf event for each CPU and kind, which count while the CPU works: at kind * BPF_CPUS_MAX + cpu. */
struct {
        __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
        __uint(max_entries, BPF_COUNTERS * BPF_CPUS_MAX);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, sizeof(__u32));
} counters SEC(".maps");

/* User space removes the sums at each poll. If the map is full, the kind of work of further processes is unknown. */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __uint(max_entries, COUNTED_MAX);
        __type(key, struct counted_key);
        __type(value, struct counted_sums);
} counted SEC(".maps");

const volatile bool with_counters;

const volatile struct counted_sums no_sums;

#define STRETCH_EVERY_NS 1000000 /* runtime that allows a stretch */
#define SAVED_MAX 4              /* stretches */

static __always_inline __s64 read_counter(__u32 kind, __u32 cpu)
{
        return (__s64)bpf_perf_event_read(&counters, kind * BPF_CPUS_MAX + cpu);
}

static __always_inline bool read_counters(__u32 cpu, __u32 n, __u64 *ret)
{
#pragma unroll
        for (__u32 kind = 0; kind < BPF_COUNTERS; kind++) {
                __s64 value = kind < n ? read_counter(kind, cpu) : 0;

                if (value < 0)
                        return 0;
                ret[kind] = value;
        }
        return 1;
}

static __always_inline void add_stretch(const struct cpu_state *state, __u32 cpu, struct task_struct *task)
{
        struct counted_key key = { .start_ns = read_only(task)->group_leader->start_boottime,
                                   .pid = task->tgid,
                                   .policy = policy_of_cpu[WITHIN(cpu, BPF_CPUS_MAX)] };
        struct counted_sums *sums;
        __u64 now[BPF_COUNTERS];

        if (!read_counters(cpu, state->n_counters, now))
                return;
        sums = bpf_map_lookup_elem(&counted, &key);
        if (!sums) {
                bpf_map_update_elem(&counted, &key, (const void *)&no_sums, BPF_NOEXIST);
                sums = bpf_map_lookup_elem(&counted, &key);
        }
        for (__u32 kind = 0; sums && kind < BPF_COUNTERS; kind++)
                __sync_fetch_and_add(&sums->amount[kind], now[kind] - state->counted[kind]);
}

/* @task ran for @ran_ns and leaves. Short runs are dropped: the switch itself would be a part of them. */
static __always_inline void end_run(struct cpu_state *state, __u32 cpu, struct task_struct *task, __u64 ran_ns)
{
        state->unsampled_ns += ran_ns;
        if (__builtin_expect(state->sampled_pid == 0, 1))
                return;
        if (state->sampled_pid == (__u32)task->pid && ran_ns >= SOME_NS)
                add_stretch(state, cpu, task);
        state->sampled_pid = 0;
}

static __always_inline void begin_run(struct cpu_state *state, __u32 cpu, struct task_struct *task)
{
        if (__builtin_expect(state->unsampled_ns < STRETCH_EVERY_NS, 1) || state->n_counters == 0)
                return;
        state->unsampled_ns -= STRETCH_EVERY_NS;
        if (state->unsampled_ns > SAVED_MAX * STRETCH_EVERY_NS)
                state->unsampled_ns = SAVED_MAX * STRETCH_EVERY_NS;
        if (read_counters(cpu, state->n_counters, state->counted))
                state->sampled_pid = task->pid;
}
