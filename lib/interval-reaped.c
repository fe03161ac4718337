/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A parent inherits the bytes of the children that it waits for: the kernel adds them to its own total when it
 * reaps them (wait_task_zombie() in kernel/exit.c), so that they would count twice, once for the child while it
 * lived and once more, all at once, for the shell or the build tool that started it. What the child had counted
 * when we last saw it is taken out of the parent's growth; what it did after that stays with the parent, which
 * is the only one left to have done it.
 */

#include "interval-private.h"
#include "util.h"

static ssize_t find_pid(const struct sample *sample, pid_t pid)
{
        size_t from = 0, to = sample->n_processes;

        while (from < to) {
                size_t middle = from + (to - from) / 2;

                if (sample->processes[middle].pid == pid)
                        return (ssize_t)middle;
                if (sample->processes[middle].pid < pid)
                        from = middle + 1;
                else
                        to = middle;
        }
        return -1;
}

static bool is_same(const struct process *a, const struct process *b)
{
        return a->pid == b->pid && a->start_time == b->start_time;
}

static bool is_there(const struct sample *now, const struct process *process)
{
        ssize_t at = find_pid(now, process->pid);

        return at >= 0 && is_same(&now->processes[at], process);
}

/* The nearest ancestor that is still there: if the parent went too, its own parent inherited both. */
static ssize_t find_heir(const struct sample *before, const struct sample *now, const struct process *gone)
{
        pid_t parent = gone->parent;

        for (int generation = 0; parent > 0 && generation < 64; generation++) {
                ssize_t heir = find_pid(now, parent), old = find_pid(before, parent);

                if (heir >= 0 && now->processes[heir].ended_ns == 0 &&
                    now->processes[heir].start_time <= gone->start_time)
                        return heir;
                if (old < 0)
                        return -1;
                parent = before->processes[old].parent;
        }
        return -1;
}

/* Only what the heir's total really grew by can have been inherited: a child that nobody waits for leaves nothing. */
static void inherit(const struct sample *before, const struct process *heir, const struct process *gone,
                    struct reaped *reaped)
{
        static const struct process born;
        ssize_t at = find_pid(before, heir->pid);
        const struct process *old = at >= 0 && is_same(&before->processes[at], heir) ? &before->processes[at] : &born;
        uint64_t read_bytes = growth(old->read_bytes, heir->read_bytes, MOST_BYTES) - reaped->read_bytes;
        uint64_t write_bytes = growth(old->write_bytes, heir->write_bytes, MOST_BYTES) - reaped->write_bytes;

        if (read_bytes < gone->read_bytes || write_bytes < gone->write_bytes)
                return;
        reaped->read_bytes += gone->read_bytes;
        reaped->write_bytes += gone->write_bytes;
}

static void bequeath(const struct sample *before, const struct sample *now, const struct process *gone,
                     struct reaped *reaped)
{
        ssize_t heir;

        if (!(gone->have & PROCESS_DISK) || (gone->read_bytes == 0 && gone->write_bytes == 0))
                return;
        heir = find_heir(before, now, gone);
        if (heir >= 0)
                inherit(before, &now->processes[heir], gone, &reaped[heir]);
}

void reaped_find(const struct sample *before, const struct sample *now, struct reaped *reaped)
{
        for (size_t i = 0; i < before->n_processes; i++)
                if (before->processes[i].parent > 0 && before->processes[i].ended_ns == 0 &&
                    !is_there(now, &before->processes[i]))
                        bequeath(before, now, &before->processes[i], reaped);
        for (size_t i = 0; i < now->n_processes; i++) /* shown once more by a source that hears of the end */
                if (now->processes[i].parent > 0 && now->processes[i].ended_ns > 0)
                        bequeath(before, now, &now->processes[i], reaped);
}
