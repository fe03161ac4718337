/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes the table's processes to a sample. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process-table-private.h"
#include "util/util.h"

/*
 * Splits the runtime since the last split in proportion to the increases by operating point. These lag behind
 * the runtime while the process is on a CPU, so time that is not yet in any of them waits for the next poll.
 */
static void split_cpu(struct process_table *table, struct known *known)
{
        uint64_t *weight = table->weights, ran_ns = known->shown.cpu_ns - known->split_ns, sum = 0,
                 given = 0;

        for (size_t i = 0; i < table->n_opps; i++) {
                uint64_t raw = known->opp_raw_ns[i], old = known->opp_old_ns[i];

                weight[i] = raw > old ? raw - old : 0;
                sum += weight[i];
        }
        if (sum == 0 || ran_ns == 0)
                return;
        for (size_t i = 0, last = 0; i < table->n_opps; i++) {
                double share = (double)ran_ns * ((double)weight[i] / (double)sum);
                uint64_t left_ns = ran_ns - given, part = share < (double)left_ns ? (uint64_t)share : left_ns;

                known->opp_shown_ns[i] += part;
                given += part;
                known->opp_old_ns[i] = MAX(known->opp_raw_ns[i], known->opp_old_ns[i]);
                if (weight[i] >= weight[last])
                        last = i;
                if (i + 1 == table->n_opps)
                        known->opp_shown_ns[last] += ran_ns - given; /* remainder of rounding */
        }
        known->split_ns = known->shown.cpu_ns;
}

/* The process is older than the split of its time, so its past stays out of the operating points. */
static void skip_past(struct process_table *table, struct known *known)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < table->n_opps; i++)
                sum += known->opp_raw_ns[i];
        if (known->shown.cpu_ns > sum)
                known->split_ns = known->shown.cpu_ns - sum;
}

static void fill(struct process_table *table, const struct known *known, struct sample *sample,
                 const size_t *opps, struct process *process)
{
        process->pid = known->pid;
        process->parent = known->parent;
        process->start_time = known->start_time;
        process->began_ns = known->began_ns;
        process->ended_ns = known->ended_ns;
        process->uid = known->uid;
        memcpy(process->comm, known->comm, sizeof(process->comm));
        memcpy(process->app, known->app, sizeof(process->app));
        process->have = known->have | (process->cpu_opp_ns ? PROCESS_CPU_OPPS : 0);
        process->cpu_ns = known->shown.cpu_ns;
        memcpy(process->amount, known->shown.amount, sizeof(process->amount));
        for (size_t i = 0; process->cpu_opp_ns && i < table->n_opps; i++)
                if (opps[i] < sample->n_opps)
                        process->cpu_opp_ns[opps[i]] = known->opp_shown_ns[i];
}

static int show(struct process_table *table, struct known *known, struct sample *sample, const size_t *opps,
                bool split)
{
        struct process *process;

        if (known->touched && known->opp_raw_ns) {
                if (!known->shown_once && known->began_ns == known->start_ns)
                        skip_past(table, known);
                split_cpu(table, known);
        }
        table->n_shown += !known->shown_once;
        known->shown_once = true;
        process = sample_add_process(sample, split);
        if (!process)
                return -ENOMEM;
        fill(table, known, sample, opps, process);
        return 0;
}

static int by_pid(const void *a, const void *b)
{
        const struct known *one = *(struct known *const *)a, *other = *(struct known *const *)b;

        if (one->pid != other->pid)
                return one->pid < other->pid ? -1 : 1;
        return one->start_time < other->start_time ? -1 : one->start_time > other->start_time;
}

/* For a collector that reported all living processes: finds those that it did not report. */
static int find_untold(struct process_table *table)
{
        int err = 0;

        for (size_t i = 0; !err && i < table->all.n; i++) {
                struct known *known = table->all.list[i];

                known->there = known->told_poll == table->poll;
                if (!known->there)
                        err = table_wait(table, known);
        }
        return err;
}

static bool is_waited_for(const struct process_table *table, struct known *known, uint64_t now_ns)
{
        if (!table->exits)
                return false;
        if (known->polls_missing++ == 0)
                known->missing_since_ns = now_ns;
        return known->polls_missing <= POLLS_TO_WAIT ||
               (known->shown_once && now_ns - known->missing_since_ns < NS_TO_WAIT);
}

/* Removes processes that have been missing for too long, and parents that were never seen. */
static int give_up(struct process_table *table)
{
        uint64_t now_ns = table->waiting.n > 0 ? util_boottime_ns() : 0;
        size_t kept = 0;
        int err = 0;

        for (size_t i = 0; i < table->waiting.n; i++) {
                struct known *known = table->waiting.list[i];

                known->waiting = !known->there && known->ended_ns == 0 && !known->over;
                if (known->waiting && !is_waited_for(table, known, now_ns)) {
                        known->over = true;
                        if (!err)
                                err = table_touch(table, known);
                }
                if (known->waiting)
                        table->waiting.list[kept++] = known;
        }
        table->waiting.n = kept;
        return err;
}

static int ask(struct process_table *table, struct known *known)
{
        bool changed = known->named && known->ended_ns == 0 && table_find_app(table, known);

        return changed ? table_touch(table, known) : 0;
}

/*
 * Determines apps again: young processes may move to a group of their own, and a window may give new
 * information about any.
 */
static int find_apps(struct process_table *table)
{
        bool all = table->poll % POLLS_PER_SWEEP == 0 || apps_corrections(table->apps) != table->corrections;
        struct known_list *list = all ? &table->all : &table->young;
        size_t kept = 0;
        int err = 0;

        for (size_t i = 0; !err && i < list->n; i++)
                err = ask(table, list->list[i]);
        for (size_t i = 0; i < table->young.n; i++)
                if (--table->young.list[i]->young > 0)
                        table->young.list[kept++] = table->young.list[i];
        table->young.n = kept;
        table->corrections = apps_corrections(table->apps);
        if (all)
                apps_sweep(table->apps);
        else
                apps_next(table->apps);
        return err;
}

/* Writes processes that changed, if the reader of the sample knows the others; else all. */
static int write_processes(struct process_table *table, struct sample *sample, const size_t *opps)
{
        bool split = opps && table->n_opps > 0 && sample->n_opps > 0;
        struct known_list list = { 0 };
        int err = 0;

        sample->partial = sample->taken && sample->shown_by == table && sample->shown_poll + 1 == table->poll;
        for (size_t i = 0; !err && !sample->partial && i < table->all.n; i++)
                err = table_list_add(&list, table->all.list[i]);
        if (sample->partial)
                list = table->touched;
        if (list.n > 1)
                qsort(list.list, list.n, sizeof(struct known *), by_pid);
        for (size_t i = 0; !err && i < list.n; i++)
                if (list.list[i]->named && !list.list[i]->over)
                        err = show(table, list.list[i], sample, opps, split);
        if (!sample->partial)
                free(list.list);
        return err;
}

static int leave(struct process_table *table, const struct known *known)
{
        int err = util_grow(&table->left, &table->left_capacity, table->n_left + 1, sizeof(*table->left));

        if (!err)
                table->left[table->n_left++] = (struct process_id){ known->pid, known->start_time };
        return err;
}

/*
 * A process shown with its end is missing from the next sample; one that was given up is missing from this
 * one.
 */
static int write_gone(struct process_table *table, struct sample *sample)
{
        int err = 0;

        for (size_t i = 0; sample->partial && !err && i < table->n_left; i++)
                err = sample_add_gone(sample, table->left[i].pid, table->left[i].start_time);
        table->n_left = 0;
        for (size_t i = 0; !err && i < table->touched.n; i++) {
                struct known *known = table->touched.list[i];

                if (known->ended_ns > 0 && !known->over)
                        err = leave(table, known);
                else if (known->over && known->shown_once && sample->partial)
                        err = sample_add_gone(sample, known->pid, known->start_time);
                known->over = known->over || known->ended_ns > 0;
        }
        return err;
}

int process_table_finish(struct process_table *table, bool told_all, struct sample *sample,
                         const size_t *opps)
{
        size_t n_listed;
        int err = told_all ? find_untold(table) : 0;

        if (!err)
                err = give_up(table);
        if (!err && table->apps)
                err = find_apps(table);
        if (!err)
                err = write_processes(table, sample, opps);
        n_listed = sample->n_processes;
        if (!err)
                err = write_gone(table, sample);
        if (err)
                return err;
        for (size_t i = 0; i < table->touched.n; i++)
                n_listed += table->touched.list[i]->over && table->touched.list[i]->shown_once &&
                            table->touched.list[i]->ended_ns == 0;
        sample->n_unlisted = table->n_shown - MIN(n_listed, table->n_shown);
        table_drop_over(table);
        sample->shown_by = table;
        sample->shown_poll = table->poll;
        sample->taken = false;
        sample->have |= SAMPLE_PROCESSES;
        return 0;
}
