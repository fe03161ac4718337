/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "process/process-bpf.h"
#include "util/util.h"

/*
 * Records of the BPF ring: a file replaces the map, with any positions and any bytes in it, and records go to the table
 * of processes. The first byte is the position where the records begin, the second whether CPU time by operating point
 * follows each.
 */

#define RING_SIZE 8192
#define OPPS 3

static struct process_ring ring;
static char *map; /* two pages of positions, then the data twice */
static size_t page;

static void make_ring(void)
{
        int fd = memfd_create("ring", MFD_CLOEXEC);

        page = (size_t)sysconf(_SC_PAGESIZE);
        fuzz_assert(fd >= 0 && ftruncate(fd, (off_t)(2 * page + 2 * RING_SIZE)) == 0);
        map = mmap(NULL, 2 * page + 2 * RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        fuzz_assert(map != MAP_FAILED && process_ring_open(fd, RING_SIZE, &ring) == 0);
}

static void fill_ring(uint64_t from, const uint8_t *data, size_t size)
{
        char *bytes = map + 2 * page;

        *(uint64_t *)(void *)map = from;
        *(uint64_t *)(void *)(map + page) = from + size;
        for (size_t i = 0; i < size; i++) {
                size_t at = (size_t)(from + i) % RING_SIZE;

                bytes[at] = bytes[at + RING_SIZE] = (char)data[i];
        }
}

/* An exact copy on the heap, so that a sanitizer sees a read past the record's end. */
static int take(void *data, const void *bytes, size_t size)
{
        _cleanup_free_ void *copy = malloc(size ? size : 1);
        int err;

        fuzz_assert(copy);
        memcpy(copy, bytes, size);
        err = process_bpf_take_event(data, copy, size);
        fuzz_assert(err <= 0);
        return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct process_collector collector = { .source.counts = COUNTS_DISK | COUNTS_NET | COUNTS_EXITS };
        _cleanup_close_ int root_fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* a machine without /proc */
        struct sample sample = { 0 };
        uint64_t consumed;

        if (size < 2)
                return 0;
        if (!map)
                make_ring();
        if (data[1] & 1) {
                collector.source.counts |= COUNTS_OPPS;
                collector.opps.n = OPPS;
        }
        fuzz_assert(process_table_new(root_fd, NULL, true, collector.opps.n, &collector.table) == 0);
        fill_ring((uint64_t)data[0] * 512 + (data[1] & ~UINT64_C(7)), data + 2,
                  MIN(size - 2, (size_t)RING_SIZE) & ~(size_t)7);
        collector.sample = &sample;
        process_table_begin(collector.table);
        (void)process_ring_read(&ring, take, &collector);
        consumed = *ring.consumed;
        fuzz_assert(consumed <= *ring.produced && consumed % 8 == 0);
        fuzz_assert(process_table_finish(collector.table, true, &sample, collector.opps.place) == 0);
        for (size_t i = 0; i < sample.n_processes; i++)
                fuzz_assert(memchr(sample.processes[i].comm, '\0', sizeof(sample.processes[i].comm)));
        for (size_t i = 0; i < sample.n_bursts; i++)
                fuzz_assert(sample.bursts[i].air < AIR_COUNT && sample.bursts[i].burst.first_ns >= 0 &&
                            sample.bursts[i].burst.first_ns <= sample.bursts[i].burst.last_ns);
        process_table_free(collector.table);
        process_bpf_free_cgroups(&collector);
        sample_clear(&sample);
        return 0;
}
