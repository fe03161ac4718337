/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A parent inherits the bytes of the children that it waits for: the kernel adds them to its own total when
 * it reaps them (wait_task_zombie() in kernel/exit.c), so that they would count twice, once for the child
 * while it lived and once more, all at once, for the shell or the build tool that started it. The child's totals when
 * we last saw it are subtracted from the parent's growth; bytes after that stay with the parent, as no other process is
 * left for them.
 */

#include "interval-private.h"
#include "util/util.h"

/* The nearest ancestor that is still there: if the parent went too, its own parent inherited both. */
static struct held *find_heir(const struct held_table *table, const struct process *gone)
{
        pid_t parent = gone->parent;

        for (int generation = 0; parent > 0 && generation < 64; generation++) {
                const struct held *old = NULL;

                for (struct held *held = held_find_pid(table, parent, NULL); held;
                     held = held_find_pid(table, parent, held)) {
                        const struct process *process = held_now(held);

                        if (!held->gone && process->ended_ns == 0 && process->start_time <= gone->start_time)
                                return held;
                        if (!held->fresh)
                                old = held;
                }
                if (!old)
                        return NULL;
                parent = old->process.parent;
        }
        return NULL;
}

/*
 * At most the real growth of the heir's total can have been inherited:
 * a child that nobody waits for leaves nothing.
 */
static void inherit(struct held *heir, const struct process *gone)
{
        static const struct process born;
        const struct process *old = heir->fresh ? &born : &heir->process, *now = held_now(heir);
        uint64_t read_bytes = growth(old->read_bytes, now->read_bytes, MOST_BYTES) - heir->reaped.read_bytes;
        uint64_t write_bytes = growth(old->write_bytes, now->write_bytes, MOST_BYTES) -
                               heir->reaped.write_bytes;

        if (read_bytes < gone->read_bytes || write_bytes < gone->write_bytes)
                return;
        heir->reaped.read_bytes += gone->read_bytes;
        heir->reaped.write_bytes += gone->write_bytes;
}

static void bequeath(const struct held_table *table, const struct process *gone)
{
        struct held *heir;

        if (!(gone->have & USAGE_DISK) || (gone->read_bytes == 0 && gone->write_bytes == 0))
                return;
        heir = find_heir(table, gone);
        if (heir)
                inherit(heir, gone);
}

void reaped_find(const struct held_table *table, const struct sample *now)
{
        for (size_t i = 0; i < table->n_gone; i++)
                if (table->gone[i]->process.parent > 0 && table->gone[i]->process.ended_ns == 0)
                        bequeath(table, &table->gone[i]->process);
        for (size_t i = 0; i < now->n_processes; i++) /* shown once more by a source that hears of the end */
                if (now->processes[i].parent > 0 && now->processes[i].ended_ns > 0)
                        bequeath(table, &now->processes[i]);
}
