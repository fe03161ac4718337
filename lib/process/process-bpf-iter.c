/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The walk on older kernels: a file with one record per thread, in the order of thread ids. A thread that
 * started later is not next to its process, and comes before it if the ids have wrapped around.
 */

#include "process-bpf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "util/util.h"

#define RECORDS_A_READ 64

struct iterated_thread {
        uint32_t pid; /* its process */
        struct process_totals totals;
};

static int keep(struct iterated *iterated, const struct process_record *record)
{
        int err;

        if (record->kind == RECORD_THREAD) {
                err = util_grow(&iterated->threads, &iterated->threads_capacity, iterated->n_threads + 1,
                                sizeof(*iterated->threads));
                if (!err)
                        iterated->threads[iterated->n_threads++] =
                                (struct iterated_thread){ record->pid, record->totals };
                return err;
        }
        err = util_grow(&iterated->processes, &iterated->processes_capacity, iterated->n_processes + 1,
                        sizeof(*iterated->processes));
        if (!err)
                iterated->processes[iterated->n_processes++] = *record;
        return err;
}

static int compare_threads(const void *a, const void *b)
{
        uint32_t one = ((const struct iterated_thread *)a)->pid,
                 other = ((const struct iterated_thread *)b)->pid;

        return one < other ? -1 : one > other;
}

static void add_threads(const struct iterated *iterated, struct process_record *process)
{
        const struct iterated_thread wanted = { .pid = process->pid };
        size_t first = util_lower_bound(&wanted, iterated->threads, iterated->n_threads, sizeof(wanted),
                                        compare_threads);

        for (size_t i = first; i < iterated->n_threads && iterated->threads[i].pid == process->pid; i++) {
                const struct process_totals *totals = &iterated->threads[i].totals;

                process->totals.cpu_ns += totals->cpu_ns;
                process->totals.read_bytes += totals->read_bytes;
                process->totals.write_bytes += totals->write_bytes;
                process->totals.cancelled_write_bytes += totals->cancelled_write_bytes;
        }
}

int process_bpf_iterate(const struct bpf_link *iterator, struct iterated *iterated)
{
        struct process_record records[RECORDS_A_READ];
        _cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(iterator));
        ssize_t length;
        int err = 0;

        if (fd < 0)
                return -errno;
        iterated->n_processes = iterated->n_threads = 0;
        while (!err && (length = read(fd, records, sizeof(records))) > 0)
                for (size_t i = 0; !err && i < (size_t)length / sizeof(records[0]); i++)
                        err = keep(iterated, &records[i]);
        if (err || length < 0)
                return err ? err : -errno;
        if (iterated->n_threads > 1)
                qsort(iterated->threads, iterated->n_threads, sizeof(*iterated->threads), compare_threads);
        for (size_t i = 0; i < iterated->n_processes; i++)
                add_threads(iterated, &iterated->processes[i]);
        return 0;
}

void process_bpf_free_iterated(struct iterated *iterated)
{
        free(iterated->processes);
        free(iterated->threads);
}
