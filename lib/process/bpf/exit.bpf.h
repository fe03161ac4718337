/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/*
 * Final totals of processes that no later walk will see.
 *
 * The program is attached to sched_process_free, not to sched_process_exit: at exit the runtime lags by up to
 * a tick (for a thousand runs of `true`, 73 of 533 ms were missing), while at free the leader's signal struct
 * is complete. User space is not woken up; it reads the records at the next poll.
 */

/* Records that did not fit into the ring and are in no user's sum. */
struct {
        __u64 n;
        __u64 cpu_ns;
} lost_exits;

static __always_inline void fill_opps(struct task_struct *task, __u64 *opps)
{
        clear_opps(opps);
        add_thread_opps(task, opps);
}

static __always_inline struct process_record *reserve_record(struct user_ends *user, bool fresh)
{
        struct process_record *record;
        __u64 size = sizeof(*record) + n_opps * sizeof(__u64);

        return take_share(user, size, fresh) ? bpf_ringbuf_reserve(&exits, size, 0) : 0;
}

static __always_inline void finish_record(struct process_record *record, struct task_struct *task)
{
        record->event_ns = bpf_ktime_get_boot_ns();
        if (with_cpu)
                fill_opps(task, (__u64 *)(record + 1));
        if (with_net)
                read_net(task, &record->net);
        else
                __builtin_memset(&record->net, 0, sizeof(record->net));
        bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/*
 * The kernel adds a child's io to a parent that waits for it, but not if the parent ignores SIGCHLD. User
 * space subtracts it again. Returns the parent's start, or 0 if no parent gets the io.
 */
static __always_inline __u64 find_heir(struct task_struct *task)
{
        struct task_struct *parent = read_only(task)->real_parent;
        const struct k_sigaction *action = &parent->sighand->action[SIGCHLD - 1];
        void *handler = BPF_CORE_READ(action, sa.sa_handler);
        unsigned long flags = BPF_CORE_READ(action, sa.sa_flags);

        if (handler == (void *)SIG_IGN || (flags & SA_NOCLDWAIT))
                return 0;
        return parent->group_leader->start_boottime;
}

/* A part of an older process's totals was counted already, so they cannot be added to a sum. */
static __always_inline void lose_end(struct user_ends *user, struct task_struct *task)
{
        if (user && is_new(task)) {
                sum_end(user, task, !find_heir(task));
                return;
        }
        __sync_fetch_and_add(&lost_exits.n, 1);
        __sync_fetch_and_add(&lost_exits.cpu_ns, read_only(task)->signal->sum_sched_runtime);
}

static __always_inline void tell_exit(struct task_struct *task)
{
        struct user_ends *user = user_of(task);
        __u64 cgroup_id = tell_cgroup(task, user);
        struct process_record *record = reserve_record(user, is_new(task));

        if (!record) {
                lose_end(user, task);
                return;
        }
        start_record(record, read_only(task), RECORD_EXIT);
        record->parent_pid = read_only(task)->real_parent->tgid;
        record->cgroup_id = cgroup_id;
        record->parent_start_ns = find_heir(task);
        finish_record(record, task);
}

/*
 * Clears all state under the process's pid or address, whether it was reported or not, so that the next
 * process there begins at 0.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(task_freed, struct task_struct *task)
{
        /* false: a thread, or a leader replaced by another thread's exec */
        bool leader = task->pid == task->tgid;

        if (with_bursts && leader)
                tell_bursts_of(who_is(task));
        if (with_exits && leader)
                tell_exit(task);
        if (with_cpu)
                forget_opps(task);
        if (with_net && leader)
                forget_net(who_is(task));
        return 0;
}

/*
 * At an exec, totals so far belong to the old program. For a process that began after the last walk, user
 * space knows no old program.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(record_exec, struct task_struct *task)
{
        struct process_record *record;

        if (is_new(task))
                return 0;
        if (with_bursts)
                tell_bursts_of(who_is(task));
        record = reserve_record(user_of(task), 0);
        if (!record) {
                __sync_fetch_and_add(&lost_exits.n, 1);
                return 0;
        }
        start_record(record, read_only(task), RECORD_EXEC);
        record->parent_pid = read_only(task)->real_parent->tgid;
        record->parent_start_ns = 0;
        record->cgroup_id = 0;
        add_thread(&record->totals, task);
        finish_record(record, task);
        return 0;
}
