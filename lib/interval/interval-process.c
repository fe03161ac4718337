/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What each process used.
 *
 * A process is (pid, start time). One that was not there before started at 0,
 * unless its totals are more than fits into the interval: then it was only
 * hidden, and counts from here. One that is gone took its last moments with it;
 * they are in the machine's totals and so in nobody's row.
 *
 * Foreground and background: what a process used goes to each state by the
 * part of its life that its app spent in it, rounded, the rest to the
 * background: nothing is lost. A source that knows when a process began and
 * ended says so, and shows it once more after its end.
 *
 * Only what a process wrote may go down for a reason (writes that were
 * cancelled): it counts again from its highest value on.
 */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

struct interval_row *making_add_row(struct making *making, const struct process *process, struct held *owner,
                                    enum app_state state)
{
        struct interval *interval = making->interval;
        struct interval_maker *maker = making->maker;
        struct interval_row *row;

        if (util_grow(&interval->rows, &interval->capacity.rows, interval->n_rows + 1, sizeof(*row)) < 0 ||
            util_grow(&maker->owner, &maker->owner_capacity, interval->n_rows + 1, sizeof(*maker->owner)) < 0)
                return NULL;
        maker->owner[interval->n_rows] = owner;
        row = &interval->rows[interval->n_rows++];
        memset(row, 0, sizeof(*row));
        row->state = state;
        row->uid = (uid_t)-1;
        if (process) {
                row->pid = process->pid;
                row->start_time = process->start_time;
                row->uid = process->uid;
                row->ended = process->ended_ns > 0;
                memcpy(row->comm, process->comm, sizeof(row->comm));
                memcpy(row->app, process->app, sizeof(row->app));
        }
        return row;
}

/* Two processes' bits, as bits of a usage. */
uint32_t making_usage_have(const struct process *before, const struct process *now)
{
        uint32_t have = now->have & (before ? before->have : now->have);

        return (have & PROCESS_CPU ? USAGE_CPU : 0) | (have & PROCESS_DISK ? USAGE_DISK : 0) |
               (have & PROCESS_WIFI ? USAGE_WIFI : 0) | (have & PROCESS_GPU ? USAGE_GPU : 0);
}

static uint64_t most_cpu_ns(const struct making *making)
{
        uint64_t n_cpus = making->maker->cpu.n_cpus ? making->maker->cpu.n_cpus : MOST_CPUS;

        return (making->awake_ns + 2 * NS_PER_S) * n_cpus;
}

/* Amounts that are not CPU time. A new process that was only hidden has no "before" that we know of. */
static void subtract_amounts(const struct process *before, struct process *now, const struct reaped *reaped,
                             struct usage *usage)
{
        static const struct process born;
        const struct process *old = before ? before : &born;
        uint32_t have = now->have & (before ? before->have : now->have);

        if (have & PROCESS_DISK) {
                usage->read_bytes = growth(old->read_bytes, now->read_bytes, MOST_BYTES) - reaped->read_bytes;
                usage->write_bytes = growth(old->write_bytes, now->write_bytes, MOST_BYTES) -
                                     reaped->write_bytes;
                now->write_bytes = MAX(now->write_bytes, old->write_bytes);
        }
        if (have & PROCESS_WIFI) {
                usage->wifi_rx_bytes = growth(old->wifi_rx_bytes, now->wifi_rx_bytes, MOST_BYTES);
                usage->wifi_tx_bytes = growth(old->wifi_tx_bytes, now->wifi_tx_bytes, MOST_BYTES);
                usage->wifi_wakes = growth(old->wifi_wakes, now->wifi_wakes, MOST_BYTES);
        }
        if (have & PROCESS_OTHER_NET) {
                usage->other_rx_bytes = growth(old->other_rx_bytes, now->other_rx_bytes, MOST_BYTES);
                usage->other_tx_bytes = growth(old->other_tx_bytes, now->other_tx_bytes, MOST_BYTES);
        }
        if (have & PROCESS_GPU)
                usage->gpu_busy_ns = growth(old->gpu_busy_ns, now->gpu_busy_ns, MOST_BYTES);
}

/* Takes @fg_ns / @awake_ns of each amount out of @usage. */
static int take_foreground(struct usage *usage, uint64_t fg_ns, uint64_t awake_ns, struct usage *foreground)
{
        uint64_t *const amounts[][2] = {
                { &usage->read_bytes, &foreground->read_bytes },
                { &usage->write_bytes, &foreground->write_bytes },
                { &usage->wifi_rx_bytes, &foreground->wifi_rx_bytes },
                { &usage->wifi_tx_bytes, &foreground->wifi_tx_bytes },
                { &usage->wifi_wakes, &foreground->wifi_wakes },
                { &usage->other_rx_bytes, &foreground->other_rx_bytes },
                { &usage->other_tx_bytes, &foreground->other_tx_bytes },
                { &usage->gpu_busy_ns, &foreground->gpu_busy_ns },
        };
        int err = usage_copy(foreground, usage);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
                *amounts[i][1] = mul_div(*amounts[i][0], fg_ns, awake_ns);
                *amounts[i][0] -= *amounts[i][1];
        }
        for (size_t i = 0; i < usage->n_cpu; i++) {
                foreground->cpu[i].busy_ns = mul_div(usage->cpu[i].busy_ns, fg_ns, awake_ns);
                usage->cpu[i].busy_ns -= foreground->cpu[i].busy_ns;
        }
        return 0;
}

/* How much of the interval a process lived through, as far as its source knows; an old one from its start. */
uint64_t making_alive_ns(const struct making *making, const struct held *held)
{
        const struct process *process = held_now(held);
        uint64_t from_ns = making->before->boottime_ns, until_ns = making->now->boottime_ns;

        if (held->fresh)
                from_ns = MAX(from_ns, process->began_ns);
        if (process->ended_ns > 0)
                until_ns = MIN(until_ns, process->ended_ns);
        return until_ns > from_ns ? MIN(until_ns - from_ns, making->awake_ns) : 0;
}

/* Background first, so that the foreground row may move into what is left. */
static int add_process_rows(struct making *making, struct held *held, struct usage *usage)
{
        const struct process *process = held->now;
        const struct screen_share *share = screen_split_find(&making->maker->screen, process->app);
        uint64_t fg_ns = share ? share->foreground_ns : 0, life_ns = making_alive_ns(making, held);
        struct interval_row *row;
        struct usage foreground = { 0 };
        int err;

        if (fg_ns > 0 && fg_ns < life_ns) {
                err = take_foreground(usage, fg_ns, life_ns, &foreground);
                if (err)
                        return err;
                row = making_add_row(making, process, held, STATE_FOREGROUND);
                if (!row) {
                        usage_clear(&foreground);
                        return -ENOMEM;
                }
                row->usage = foreground;
                fg_ns = 0;
        }
        row = making_add_row(making, process, held, fg_ns > 0 ? STATE_FOREGROUND : STATE_BACKGROUND);
        if (!row)
                return -ENOMEM;
        row->usage = *usage;
        *usage = (struct usage){ 0 };
        return 0;
}

/*
 * A process that is new to us may not be new to the machine: who was hidden, or could not be read for a poll,
 * counts from here on. It began long before, or has run for longer than fits.
 */
static bool was_hidden(const struct making *making, const struct process *process, uint64_t most_ns)
{
        return (process->began_ns > 0 && process->began_ns + NS_PER_S < making->before->boottime_ns) ||
               ((process->have & PROCESS_CPU) && process->cpu_ns > most_ns);
}

static int subtract_process(struct making *making, struct held *held)
{
        const struct process *before = held->fresh ? NULL : &held->process;
        struct process *now = held->now;
        uint64_t most_ns = most_cpu_ns(making);
        uint32_t screen_have = making->maker->screen.screen_known && making->maker->screen.foreground_known
                                       ? USAGE_DISPLAY : 0;
        struct usage usage = { 0 };
        int err = 0;

        if (!before && was_hidden(making, now, most_ns))
                return 0;
        usage.have = making_usage_have(before, now) | screen_have | making->idle_have;
        subtract_amounts(before, now, &held->reaped, &usage);
        if (usage.have & USAGE_CPU)
                err = cpu_split_process(&making->maker->cpu, before, now, making->maker->held.opp_of, most_ns,
                                        &usage);
        if (!err && !usage_is_zero(&usage))
                err = add_process_rows(making, held, &usage);
        usage_clear(&usage);
        return err;
}

/* What a process that is gone was still owed. */
static int settle_carried(struct making *making, struct held *held)
{
        struct interval_row *row;

        if (!held->carried)
                return 0;
        row = making_add_row(making, &held->process, NULL, STATE_BACKGROUND);
        if (!row)
                return -ENOMEM;
        row->usage = *held->carried;
        free(TAKE_PTR(held->carried));
        return 0;
}

int making_subtract_processes(struct making *making)
{
        const struct held_table *table = &making->maker->held;
        int err = 0;

        reaped_find(table, making->now);
        for (size_t i = 0; !err && i < table->n_gone; i++)
                err = settle_carried(making, table->gone[i]);
        for (size_t i = 0; !err && i < making->now->n_processes; i++)
                err = subtract_process(making, table->listed[i]);
        return err;
}

/* Its time alone is too little to write down, the screen is not its, and there is more to come. */
static bool is_too_little(const struct interval_row *row, const struct held *owner)
{
        struct usage other = row->usage;

        other.n_cpu = 0;
        return row->state == STATE_BACKGROUND && usage_is_zero(&other) &&
               usage_busy_ns(&row->usage) < TUNING_ROW_CPU_NS && !(owner->now && owner->now->ended_ns > 0);
}

/* Puts aside the rows that are too small, and adds what was put aside before to those that are not. */
int making_carry_small_rows(struct making *making)
{
        struct interval *interval = making->interval;
        size_t kept = 1;

        for (size_t i = 1; i < interval->n_rows; i++) {
                struct interval_row *row = &interval->rows[i];
                struct held *owner = making->maker->owner[i];
                struct usage **carried = owner ? &owner->carried : NULL;
                int err = 0;

                if (carried && row->state == STATE_BACKGROUND && *carried) {
                        err = usage_add(&row->usage, *carried);
                        usage_clear(*carried);
                        free(TAKE_PTR(*carried));
                }
                if (!err && carried && is_too_little(row, owner)) {
                        *carried = malloc(sizeof(**carried));
                        err = *carried ? 0 : -ENOMEM;
                        if (!err)
                                **carried = row->usage;
                } else if (!err) {
                        struct interval_row copy = *row;

                        interval->rows[i].usage = (struct usage){ 0 };
                        interval->rows[kept] = copy;
                        making->maker->owner[kept++] = owner;
                        continue;
                }
                if (!err)
                        row->usage = (struct usage){ 0 };
                if (err)
                        return err;
        }
        interval->n_rows = kept;
        return 0;
}
