/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/* The totals that the kernel maintains anyway. */

static __always_inline void add_io(struct process_totals *totals, const struct task_io_accounting *io)
{
        if (!bpf_core_field_exists(io->read_bytes))
                return;
        totals->read_bytes += io->read_bytes;
        totals->write_bytes += io->write_bytes;
        totals->cancelled_write_bytes += io->cancelled_write_bytes;
}

static __always_inline void add_thread(struct process_totals *totals, const struct task_struct *thread)
{
        totals->cpu_ns += thread->se.sum_exec_runtime;
        add_io(totals, &thread->ioac);
}

/*
 * Fills in the identity, without the parent (another task to fetch), and the totals of exited threads; io
 * includes reaped children.
 */
static __always_inline void start_record(struct process_record *record, const struct task_struct *task,
                                         __u32 kind)
{
        const struct signal_struct *signal = task->signal;

        record->kind = kind;
        record->pid = task->tgid;
        record->uid = task->cred->uid.val;
        record->kernel_thread = !!(task->flags & PF_KTHREAD);
        record->start_ns = task->start_boottime;
        __builtin_memcpy(record->comm, task->comm, sizeof(record->comm));
        record->totals.cpu_ns = signal->sum_sched_runtime;
        record->totals.read_bytes = 0;
        record->totals.write_bytes = 0;
        record->totals.cancelled_write_bytes = 0;
        add_io(&record->totals, &signal->ioac);
}
