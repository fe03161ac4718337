/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The base: usage of the machine that no process owns, as interrupts, processes
 * that came and went between two polls, the page cache. Never negative: if
 * processes sum to more than the machine (their ticks came earlier, their writes
 * have not reached the disk yet), the excess is remembered and subtracted from
 * the next intervals.
 */

#include "interval-private.h"
#include "util/util.h"

/* The machine's amount minus that of processes; an excess of the processes is a debt, paid by later intervals. */
static uint64_t rest_of(uint64_t machine, uint64_t owned, uint64_t most_debt, uint64_t *debt)
{
        uint64_t rest = machine - MIN(machine, owned), paid;

        *debt += owned - MIN(machine, owned);
        paid = MIN(rest, *debt);
        *debt = MIN(*debt - paid, most_debt);
        return rest - paid;
}

static uint64_t machine_growth(const struct making *making, size_t amount)
{
        return growth(making->before->amount[amount], making->now->amount[amount], MOST_BYTES);
}

static uint32_t base_have(const struct making *making)
{
        uint32_t have = making->interval->have;

        return (have & (SAMPLE_CORES | SAMPLE_PROCESSES) || making->maker->cpu.counted ? USAGE_CPU : 0) |
               (have & USAGE_ALL) | (making->maker->screen.screen_known ? USAGE_DISPLAY : 0);
}

/* Time that a radio was on, known only at both ends: on at one end only counts as half. */
static uint64_t on_ns(const struct making *making, bool before, bool now)
{
        return making->awake_ns * ((uint64_t)before + (uint64_t)now) / 2;
}

/* Fills the base's row, which exists from the start, when all owners are known. */
int interval_fill_base(struct making *making)
{
        struct interval_maker *maker = making->maker;
        struct usage *usage = &making->interval->rows[0].usage;
        uint32_t have = making->interval->have;
        uint64_t owned[OWNER_AMOUNT_COUNT] = { 0 };
        int err;

        for (size_t i = 1; i < making->interval->n_rows; i++)
                for (size_t a = 0; a < OWNER_AMOUNT_COUNT; a++)
                        owned[a] += making->interval->rows[i].usage.amount[a];
        for (size_t a = 0; a < OWNER_AMOUNT_COUNT; a++)
                if (have & amount_kinds[a].machine)
                        usage->amount[a] = rest_of(machine_growth(making, a), owned[a], amount_kinds[a].most_debt,
                                                   &maker->debt[a]);
        if (have & USAGE_WIFI)
                usage->wifi_on_ns = on_ns(making, making->before->wifi_on, making->now->wifi_on);
        if (have & USAGE_BLUETOOTH)
                usage->bluetooth_on_ns = on_ns(making, making->before->bluetooth_on, making->now->bluetooth_on);
        if (have & USAGE_GPS)
                usage->gps_sleep_ns = making->awake_ns -
                                      MIN(making->awake_ns, machine_growth(making, AMOUNT_gps_on_ns));
        usage->time_ns = making->awake_ns;
        usage->suspend_ns = making->interval->suspend_ns;
        usage->have = base_have(making);
        err = cpu_split_rest(&maker->cpu, &maker->cpu_debt_ns,
                             making->awake_ns * (maker->cpu.n_cpus ? maker->cpu.n_cpus : 1), &usage->cpu);
        return err ? err : cpu_split_idle(&maker->cpu, making->awake_ns, &usage->idle);
}

/* Processes cannot have used more than the machine, even if they are not counted one by one. */
uint32_t interval_idle_have(const struct making *making)
{
        uint32_t idle = making->interval->have & USAGE_ALL;

        for (size_t a = 0; a < OWNER_AMOUNT_COUNT; a++)
                if (amount_kinds[a].machine == amount_kinds[a].have && machine_growth(making, a) > 0)
                        idle &= ~amount_kinds[a].have;
        return idle;
}
