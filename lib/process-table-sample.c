/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the table to the processes of a sample; what did not change since an earlier poll stays as it stands there. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process-table-private.h"
#include "util.h"

/*
 * Splits what the process ran since the split before by what its operating
 * points grew. They lag behind the runtime while it is on a CPU, so time that
 * no operating point has yet waits for the next poll.
 */
static void split_cpu(struct process_table *table, struct known *known)
{
        uint64_t *weight = table->weights, ran_ns = known->shown[AMOUNT_CPU_NS] - known->split_ns, sum = 0, given = 0;

        for (size_t i = 0; i < table->n_opps; i++) {
                uint64_t raw = known->opp_raw_ns[i], old = known->opp_old_ns[i];

                weight[i] = raw > old ? raw - old : 0;
                sum += weight[i];
        }
        if (sum == 0 || ran_ns == 0)
                return;
        for (size_t i = 0, last = 0; i < table->n_opps; i++) {
                uint64_t part = (uint64_t)((double)ran_ns * ((double)weight[i] / (double)sum));

                part = MIN(part, ran_ns - given);
                known->opp_shown_ns[i] += part;
                given += part;
                known->opp_old_ns[i] = MAX(known->opp_raw_ns[i], known->opp_old_ns[i]);
                if (weight[i] >= weight[last])
                        last = i;
                if (i + 1 == table->n_opps)
                        known->opp_shown_ns[last] += ran_ns - given; /* what rounding left */
        }
        known->split_ns = known->shown[AMOUNT_CPU_NS];
}

/* Lived before anybody split its time: its past stays out of the operating points. */
static void skip_past(struct process_table *table, struct known *known)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < table->n_opps; i++)
                sum += known->opp_raw_ns[i];
        if (known->shown[AMOUNT_CPU_NS] > sum)
                known->split_ns = known->shown[AMOUNT_CPU_NS] - sum;
}

static void fill(struct process_table *table, const struct known *known, struct sample *sample, const size_t *opps,
                 struct process *process)
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
        process->cpu_ns = known->shown[AMOUNT_CPU_NS];
        process->read_bytes = known->shown[AMOUNT_READ_BYTES];
        process->write_bytes = known->shown[AMOUNT_WRITE_BYTES];
        process->wifi_rx_bytes = known->shown[AMOUNT_WIFI_RX_BYTES];
        process->wifi_tx_bytes = known->shown[AMOUNT_WIFI_TX_BYTES];
        process->wifi_wakes = known->shown[AMOUNT_WIFI_WAKES];
        process->other_rx_bytes = known->shown[AMOUNT_OTHER_RX_BYTES];
        process->other_tx_bytes = known->shown[AMOUNT_OTHER_TX_BYTES];
        process->gpu_busy_ns = known->shown[AMOUNT_GPU_BUSY_NS];
        for (size_t i = 0; process->cpu_opp_ns && i < table->n_opps; i++)
                if (opps[i] < sample->n_opps)
                        process->cpu_opp_ns[opps[i]] = known->opp_shown_ns[i];
}

/* As many entries as stand in @sample where an earlier poll of ours put them. */
static size_t common_part(const struct process_table *table, const struct sample *sample, bool split)
{
        size_t common = sample->written;

        if (sample->written_by != table || table->poll - sample->written_poll >= POLLS_REMEMBERED || common == 0 ||
            (sample->processes[0].cpu_opp_ns != NULL) != split)
                return 0;
        for (uint64_t poll = sample->written_poll + 1; poll <= table->poll; poll++)
                common = MIN(common, table->low[poll % POLLS_REMEMBERED]);
        return common;
}

static int show(struct process_table *table, const struct entry *entry, struct sample *sample, const size_t *opps,
                bool split)
{
        struct known *known = entry->known;
        struct process *process;

        if (entry->changed_poll == table->poll && known->opp_raw_ns) {
                if (!known->shown_once && known->began_ns == known->start_ns)
                        skip_past(table, known);
                split_cpu(table, known);
        }
        known->shown_once = true;
        process = sample_add_process(sample, split);
        if (!process)
                return -ENOMEM;
        fill(table, known, sample, opps, process);
        return 0;
}

static void sort_list(struct process_table *table)
{
        if (!table->unsorted)
                return;
        qsort(table->list, table->n, sizeof(*table->list), entry_compare);
        for (size_t i = 0; i < table->n; i++) {
                if (table->list[i].known->at == i)
                        continue;
                table_moved_from(table, i);
                table->list[i].known->at = i;
        }
        table->unsorted = false;
}

static bool is_in_place(const struct process_table *table, const struct entry *entry)
{
        return entry->place < table->n_places && table->places[entry->place] == entry->known;
}

/* Gone for good: ended and shown, or missing for too long, or a parent that nobody ever saw. */
static bool is_over(const struct process_table *table, const struct entry *entry)
{
        return entry->ended || entry->polls_missing > (table->exits ? POLLS_TO_WAIT : 0);
}

/* Those that are over go after this sample; in the next one, what follows them has moved. */
static int forget_over(struct process_table *table, size_t n_over)
{
        size_t kept = 0, *low = &table->low[(table->poll + 1) % POLLS_REMEMBERED];

        if (n_over == 0)
                return 0;
        for (size_t i = 0; i < table->n; i++) {
                struct entry *entry = &table->list[i];

                if (!is_over(table, entry)) {
                        if (kept != i) {
                                entry->known->at = kept;
                                table->list[kept] = *entry;
                        }
                        kept++;
                        continue;
                }
                if (kept == i)
                        *low = MIN(*low, i);
                if (is_in_place(table, entry))
                        table->places[entry->place] = NULL;
                known_free(entry->known);
        }
        table->n = kept;
        return table_rebuild_slots(table, kept);
}

static bool is_shown(const struct process_table *table, const struct entry *entry)
{
        return entry->named && (entry->ended || !is_over(table, entry));
}

static int write_sample(struct process_table *table, struct sample *sample, const size_t *opps, size_t *n_over,
                        size_t *first_left_out)
{
        bool split = opps && table->n_opps > 0 && sample->n_opps > 0;
        size_t common = common_part(table, sample, split);
        uint64_t written_poll = sample->written_poll;
        int err = 0;

        for (size_t i = 0; !err && i < table->n; i++) {
                struct entry *entry = &table->list[i];

                if (!entry->ended && !is_in_place(table, entry))
                        entry->polls_missing++;
                else if (!entry->ended && entry->named && known_find_app(table, entry->known))
                        entry->changed_poll = table->poll;
                *n_over += is_over(table, entry);
                if (!is_shown(table, entry))
                        *first_left_out = MIN(*first_left_out, i);
                else if (i < common && sample->n_processes == i && entry->changed_poll <= written_poll)
                        sample->n_processes++;
                else
                        err = show(table, entry, sample, opps, split);
        }
        if (table->apps)
                apps_sweep(table->apps);
        return err;
}

int process_table_finish(struct process_table *table, size_t n_places, struct sample *sample, const size_t *opps)
{
        size_t n_over = 0, first_left_out = SIZE_MAX;
        int err;

        sort_list(table);
        table->n_places = MIN(table->n_places, n_places);
        err = write_sample(table, sample, opps, &n_over, &first_left_out);
        if (err)
                return err;
        table_moved_from(table, first_left_out); /* samples have one less from here on, */
        table->low[(table->poll + 1) % POLLS_REMEMBERED] = first_left_out; /* or none in the next */
        sample->written_by = table;
        sample->written_poll = table->poll;
        sample->written = sample->n_processes;
        sample->have |= SAMPLE_PROCESSES;
        return forget_over(table, n_over);
}
