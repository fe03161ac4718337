/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Adds the usage of each process to the tally of its app.
 *
 * A process is (pid, start time). A new process started at 0, unless its totals
 * are larger than the interval allows: then it was only hidden, and counts from
 * here. The last moments of a process that is gone are in the machine's totals
 * and so in the base.
 *
 * Foreground and background: the usage of a process goes to each state by the
 * part of its life that its app spent in it, rounded, the rest to the
 * background: nothing is lost. A source that knows the begin and end of a
 * process sets them, and shows it once more after its end.
 *
 * Only written bytes may decrease for a good reason (cancelled writes): they
 * count again from their highest value on.
 */

#include <errno.h>
#include <string.h>

#include "interval-private.h"
#include "util/units.h"
#include "util/util.h"

static uint64_t most_cpu_ns(const struct making *making)
{
        uint64_t n_cpus = making->maker->cpu.n_cpus ? making->maker->cpu.n_cpus : MOST_CPUS;

        return (making->awake_ns + 2 * NS_PER_S) * n_cpus;
}

/* The use of one process in the interval. */
struct difference {
        bool any;
        uint64_t amount[OWNER_AMOUNT_COUNT];
        uint64_t cpu_ns;

};

/* A new process that was only hidden has no "before" that we know of. */
static void subtract_amounts(const struct held *held, uint32_t have, struct difference *ret)
{
        static const struct process born;
        const struct process *old = held->fresh ? &born : &held->process;
        struct process *now = held->now;

        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                if (have & amount_kinds[i].have)
                        ret->amount[i] = growth(old->amount[i], now->amount[i], MOST_BYTES);
        if (have & USAGE_DISK) {
                ret->amount[AMOUNT_read_bytes] -= held->reaped.read_bytes;
                ret->amount[AMOUNT_write_bytes] -= held->reaped.write_bytes;
                now->write_bytes = MAX(now->write_bytes, old->write_bytes);
        }
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++)
                ret->any = ret->any || ret->amount[i] > 0;
}

/* The part of the interval that a process lived through, as far as its source knows; an old one from its start. */
void interval_life(const struct making *making, const struct held *held, uint64_t *from_ns, uint64_t *until_ns)
{
        const struct process *process = held_now(held);

        *from_ns = making->before->boottime_ns;
        *until_ns = making->now->boottime_ns;
        if (held->fresh)
                *from_ns = MAX(*from_ns, process->began_ns);
        if (process->ended_ns > 0)
                *until_ns = MIN(*until_ns, process->ended_ns);
}

static uint64_t alive_ns(const struct making *making, const struct held *held)
{
        uint64_t from_ns, until_ns;

        interval_life(making, held, &from_ns, &until_ns);
        return until_ns > from_ns ? MIN(until_ns - from_ns, making->awake_ns) : 0;
}

/* Takes @part / @whole of each amount for one state. The rest is the other's. */
static int add_to_tally(const struct making *making, struct tally *tally, uint32_t have, struct difference *rest,
                        uint64_t *rest_opp_ns, uint64_t part, uint64_t whole)
{
        size_t n = making->maker->cpu.n;
        uint64_t cpu_ns = mul_div(rest->cpu_ns, part, whole);

        tally->have = tally->used ? tally->have & have : have;
        tally->used = true;
        for (size_t i = 0; i < OWNER_AMOUNT_COUNT; i++) {
                uint64_t amount = mul_div(rest->amount[i], part, whole);

                tally->amount[i] += amount;
                rest->amount[i] -= amount;
        }
        tally->cpu_ns += cpu_ns;
        rest->cpu_ns -= cpu_ns;
        if (!rest_opp_ns)
                return 0;
        if (!tally->opp_ns)
                tally->opp_ns = calloc(n, sizeof(*tally->opp_ns));
        if (!tally->opp_ns)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                uint64_t ns = mul_div(rest_opp_ns[i], part, whole);

                tally->opp_ns[i] += ns;
                rest_opp_ns[i] -= ns;
        }
        return 0;
}

static int add_to_owner(struct making *making, const struct held *held, uint32_t have, struct difference *used,
                        uint64_t *opp_ns)
{
        const struct screen_share *share = screen_split_find(&making->maker->screen, held->now->app);
        uint64_t fg_ns = share ? share->foreground_ns : 0, life_ns = alive_ns(making, held);
        struct tally *tally = held->app->tally;
        int err;

        if (fg_ns > 0 && fg_ns >= life_ns)
                return add_to_tally(making, &tally[STATE_FOREGROUND], have, used, opp_ns, 1, 1);
        if (fg_ns > 0) {
                err = add_to_tally(making, &tally[STATE_FOREGROUND], have, used, opp_ns, fg_ns, life_ns);
                if (err)
                        return err;
        }
        return add_to_tally(making, &tally[STATE_BACKGROUND], have, used, opp_ns, 1, 1);
}

/*
 * A process that is new to us may not be new to the machine: one that was hidden, or could not be read for a
 * poll, counts from here on. It began long before, or has run for longer than fits.
 */
static bool was_hidden(const struct making *making, const struct process *process, uint64_t most_ns)
{
        return (process->began_ns > 0 && process->began_ns + NS_PER_S < making->before->boottime_ns) ||
               ((process->have & USAGE_CPU) && process->cpu_ns > most_ns);
}

static int subtract_process(struct making *making, struct held *held)
{
        const struct process *before = held->fresh ? NULL : &held->process;
        struct cpu_split *split = &making->maker->cpu;
        const struct screen_split *screen = &making->maker->screen;
        struct difference used = { 0 };
        uint64_t most_ns = most_cpu_ns(making), *opp_ns = NULL;
        uint32_t have = held->now->have & (before ? before->have : held->now->have);

        if (!before && was_hidden(making, held->now, most_ns))
                return 0;
        subtract_amounts(held, have, &used);
        if ((have & USAGE_CPU) && cpu_split_process(split, before, held->now, making->maker->held.opp_of, most_ns,
                                                    split->parts, &used.cpu_ns)) {
                used.any = true;
                opp_ns = used.cpu_ns ? NULL : split->parts;
        }
        if (!used.any)
                return 0;
        have = (have & USAGE_ALL) | making->idle_have |
               (screen->screen_known && screen->foreground_known ? (uint32_t)USAGE_DISPLAY : 0);
        return add_to_owner(making, held, have, &used, opp_ns);
}

int interval_subtract_processes(struct making *making)
{
        const struct held_table *table = &making->maker->held;
        int err = 0;

        reaped_find(table, making->now);
        for (size_t i = 0; !err && i < making->now->n_processes; i++)
                err = subtract_process(making, table->listed[i]);
        return err;
}

static int add_counted(const struct process_counted *counted, uint64_t part, uint64_t whole, struct points *to)
{
        int err = 0;

        for (uint32_t event = 0; !err && event < COUNTED_COUNT; event++)
                if (event != COUNTED_MISSES || counted->misses)
                        err = usage_points_add(to, &(struct point){ .policy = counted->policy, .key = event,
                                                                    .amount = mul_div(counted->amount[event], part,
                                                                                      whole) });
        return err;
}

/* To each state by the part of its life that the process spent in it; a ratio of sums loses nothing by rounding. */
static int add_counted_of(struct making *making, const struct held *held, const struct process_counted *counted)
{
        const struct screen_share *share = screen_split_find(&making->maker->screen, held->app->app);
        uint64_t life_ns = alive_ns(making, held), front_ns = share ? MIN(share->foreground_ns, life_ns) : 0;
        struct tally *tally = held->app->tally;
        int err = 0;

        if (front_ns > 0 && tally[STATE_FOREGROUND].used)
                err = add_counted(counted, front_ns, life_ns, &tally[STATE_FOREGROUND].counted);
        if (!err && front_ns < life_ns && tally[STATE_BACKGROUND].used)
                err = add_counted(counted, life_ns - front_ns, life_ns, &tally[STATE_BACKGROUND].counted);
        return err;
}

/* Adds counted events to their apps; those of a process that no sample listed belong to the base. */
int interval_share_counted(struct making *making)
{
        int err = 0;

        for (size_t i = 0; !err && i < making->now->n_counted; i++) {
                const struct process_counted *counted = &making->now->counted[i];
                const struct held *held = held_find_pid(&making->maker->held, counted->process.pid, NULL);

                while (held && held->process.start_time != counted->process.start_time)
                        held = held_find_pid(&making->maker->held, counted->process.pid, held);
                err = held ? add_counted_of(making, held, counted)
                           : add_counted(counted, 1, 1, &making->interval->rows[0].usage.counted);
        }
        return err;
}
