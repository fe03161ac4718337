/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moves bursts of packets by process and radio (bpf/net-bursts.bpf.h) from the ring to a sample. */

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "process-bpf.h"
#include "process.skel.h"

_Static_assert(BURST_GAP_NS == RADIO_BURST_GAP_NS && BURST_LARGE_BYTES == RADIO_LARGE_BYTES, "bursts are others");
_Static_assert((int)BURST_WIFI == AIR_WIFI && (int)BURST_CELLULAR == AIR_CELLULAR && (int)BURST_RADIOS == AIR_COUNT,
               "radios are others");

int process_bpf_tell_bursts(struct process_collector *collector)
{
        int fd = bpf_program__fd(collector->bpf->progs.tell_bursts);

        for (size_t i = 0; i < BURSTS_OPEN_MAX / BURSTS_A_CALL; i++) {
                struct bpf_test_run_opts run = { .sz = sizeof(run) };

                if (bpf_prog_test_run_opts(fd, &run))
                        return -errno;
                if (run.retval < BURSTS_A_CALL)
                        return 0;
        }
        collector->bursts_missed = true; /* the rest is reported at the next poll */
        return 0;
}

int process_bpf_take_burst(struct process_collector *collector, const struct burst_record *record)
{
        struct process_burst *burst;

        if (record->radio >= BURST_RADIOS || record->first_ns > record->last_ns || record->last_ns > INT64_MAX)
                return 0;
        burst = sample_add_burst(collector->sample);
        if (!burst)
                return -ENOMEM;
        burst->air = (enum air)record->radio;
        burst->process.pid = (pid_t)record->pid;
        if (record->pid)
                burst->process.start_time =
                        process_table_start_time(collector->table, (pid_t)record->pid, record->start_ns);
        burst->burst.first_ns = (int64_t)record->first_ns;
        burst->burst.last_ns = (int64_t)record->last_ns;
        burst->burst.large = record->large;
        for (size_t i = 0; i < RADIO_DIRECTIONS; i++) {
                burst->burst.packets[i] = record->packets[i];
                burst->burst.bytes[i] = record->bytes[i];
        }
        return 0;
}

void process_bpf_finish_bursts(struct process_collector *collector, bool failed, struct sample *sample)
{
        uint64_t lost = collector->bpf->bss->bursts_room.lost;

        if (lost != collector->bursts_lost)
                log_warning(collector->log,
                            "%llu bursts of packets since the last poll were lost (full buffer); for how long apps "
                            "kept radios up is unknown for that time; a shorter interval helps",
                            (unsigned long long)(lost - collector->bursts_lost));
        if (lost == collector->bursts_lost && !collector->bursts_missed && !failed)
                sample->have |= SAMPLE_BURSTS;
        collector->bursts_lost = lost;
        collector->bursts_missed = failed;
}
