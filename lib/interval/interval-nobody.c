/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the machine used and no process owns: interrupts, processes that came and
 * went between two polls, the page cache. Never negative: where processes sum
 * to more than the machine (their ticks came earlier, their writes have not
 * reached the disk yet), the excess is remembered and taken from the next
 * intervals.
 */

#include "interval-private.h"
#include "util/tuning.h"
#include "util/util.h"

/* The machine's bytes less what processes own; what they own in excess is a debt, paid by later intervals. */
static uint64_t rest_bytes(uint64_t machine, uint64_t owned, uint64_t *debt)
{
        uint64_t rest = machine - MIN(machine, owned), paid;

        *debt += owned - MIN(machine, owned);
        paid = MIN(rest, *debt);
        *debt = MIN(*debt - paid, TUNING_WRITE_DEBT_BYTES);
        return rest - paid;
}

static uint32_t nobodys_have(const struct making *making)
{
        uint32_t have = making->interval->have;

        return (have & (SAMPLE_CORES | SAMPLE_PROCESSES) || making->maker->cpu.counted ? USAGE_CPU : 0) |
               (have & SAMPLE_DISK ? USAGE_DISK : 0) | (have & SAMPLE_WIFI ? USAGE_WIFI : 0) |
               (have & SAMPLE_GPU ? USAGE_GPU : 0) | (making->maker->screen.screen_known ? USAGE_DISPLAY : 0);
}

static uint64_t associated_ns(const struct making *making)
{
        /* Without an event in between: at one end only counts half. */
        uint64_t ends = (uint64_t)making->before->wifi_on + (uint64_t)making->now->wifi_on;

        return making->awake_ns * ends / 2;
}

#define MACHINE_GROWTH(field) growth(making->before->field, making->now->field, MOST_BYTES)

/* Nobody's row is there from the start; this fills it when all owners are known. */
int making_fill_nobodys(struct making *making)
{
        struct interval_maker *maker = making->maker;
        struct usage owned = { 0 }, *usage = &making->interval->rows[0].usage;
        uint32_t have = making->interval->have;

        for (size_t i = 1; i < making->interval->n_rows; i++) {
                const struct usage *row = &making->interval->rows[i].usage;

                if (!maker->owner[i])
                        continue; /* carried from before, when it was taken out already */
                owned.read_bytes += row->read_bytes;
                owned.write_bytes += row->write_bytes;
                owned.wifi_rx_bytes += row->wifi_rx_bytes;
                owned.wifi_tx_bytes += row->wifi_tx_bytes;
                owned.wifi_wakes += row->wifi_wakes;
                owned.other_rx_bytes += row->other_rx_bytes;
                owned.other_tx_bytes += row->other_tx_bytes;
                owned.gpu_busy_ns += row->gpu_busy_ns;
        }
#define REST(bit, field)                                                                                     \
        if (have & (bit))                                                                                    \
        usage->field = MACHINE_GROWTH(field) - MIN(MACHINE_GROWTH(field), owned.field)
        REST(SAMPLE_WIFI, wifi_rx_bytes);
        REST(SAMPLE_WIFI, wifi_tx_bytes);
        REST(SAMPLE_WIFI_WAKES, wifi_wakes);
        REST(SAMPLE_OTHER_NET, other_rx_bytes);
        REST(SAMPLE_OTHER_NET, other_tx_bytes);
        REST(SAMPLE_GPU, gpu_busy_ns);
#undef REST
        if (have & SAMPLE_DISK) {
                usage->read_bytes = rest_bytes(MACHINE_GROWTH(read_bytes), owned.read_bytes,
                                               &maker->read_debt_bytes);
                usage->write_bytes = rest_bytes(MACHINE_GROWTH(write_bytes), owned.write_bytes,
                                                &maker->write_debt_bytes);
        }
        if (have & SAMPLE_WIFI)
                usage->wifi_on_ns = associated_ns(making);
        usage->time_ns = making->awake_ns;
        usage->suspend_ns = making->interval->suspend_ns;
        usage->have = nobodys_have(making);
        return cpu_split_rest(&maker->cpu, &maker->cpu_debt_ns,
                              making->awake_ns * (maker->cpu.n_cpus ? maker->cpu.n_cpus : 1), usage);
}

/* What the machine did not do, no process did, even where processes are not counted one by one. */
uint32_t making_idle_have(const struct making *making)
{
        uint32_t have = making->interval->have, idle = 0;

        if ((have & SAMPLE_DISK) && MACHINE_GROWTH(read_bytes) == 0 && MACHINE_GROWTH(write_bytes) == 0)
                idle |= USAGE_DISK;
        if ((have & SAMPLE_WIFI) && MACHINE_GROWTH(wifi_rx_bytes) == 0 && MACHINE_GROWTH(wifi_tx_bytes) == 0)
                idle |= USAGE_WIFI;
        if ((have & SAMPLE_GPU) && MACHINE_GROWTH(gpu_busy_ns) == 0)
                idle |= USAGE_GPU;
        return idle;
}
