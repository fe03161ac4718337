/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reading end of a ring, against one in memory that is laid out as the kernel's:
 * every place at which records may end.
 */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "process/process-bpf-ring.h"
#include "util/util.h"

#define SIZE 16384
#define BUSY (UINT32_C(1) << 31)
#define DROPPED (UINT32_C(1) << 30)

static int fd = -1;
static size_t page;
static uint64_t produced;
static uint8_t next_write, next_read;
static size_t n_taken;

/* The kernel maps the data twice; here each byte is written at both places. */
static void put(uint64_t at, const void *bytes, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                off_t place = (off_t)(2 * page + (at + i) % SIZE);

                check_int(pwrite(fd, (const char *)bytes + i, 1, place), 1);
                check_int(pwrite(fd, (const char *)bytes + i, 1, place + SIZE), 1);
        }
}

static void set_head(uint64_t at, uint32_t head)
{
        put(at, &head, sizeof(head));
}

static uint64_t produce(uint32_t size, uint32_t flags)
{
        char text[256];
        uint64_t at = produced;

        memset(text, flags & DROPPED ? 0xff : next_write++, sizeof(text));
        set_head(at, size | flags);
        put(at + 8, text, size);
        produced += (8 + size + 7) & ~UINT64_C(7);
        check_int(pwrite(fd, &produced, sizeof(produced), (off_t)page), sizeof(produced));
        return at;
}

static int take(void *data, const void *bytes, size_t size)
{
        const uint8_t *at = bytes;

        for (size_t i = 0; i < size; i++)
                check_int(at[i], next_read);
        next_read++;
        n_taken++;
        return data ? *(int *)data : 0;
}

/* Record sizes that do not divide the ring's size, so that records wrap at every place. */
static void test_wraps(struct process_ring *ring)
{
        for (uint32_t round = 0; round < 400; round++) {
                size_t before = n_taken, n = round % 7;

                for (size_t i = 0; i < n; i++)
                        produce(round % 3 == 0 ? 144 : 1 + (round * 31 + (uint32_t)i * 7) % 200, 0);
                check_int(process_ring_read(ring, take, NULL), 0);
                check_int(n_taken - before, n);
                check_int(*ring->consumed, produced);
        }
        check(produced > 5 * SIZE);
}

static void test_full(struct process_ring *ring)
{
        size_t before = n_taken;

        for (int i = 0; i < SIZE / 128; i++)
                produce(120, 0);
        check_int(process_ring_read(ring, take, NULL), 0);
        check_int(n_taken - before, SIZE / 128);
}

/* A record that is being written holds up later ones; a dropped record is left out. */
static void test_busy_and_dropped(struct process_ring *ring)
{
        size_t before = n_taken;
        uint64_t busy;

        produce(40, 0);
        produce(40, DROPPED);
        busy = produce(40, BUSY);
        produce(40, 0);
        check_int(process_ring_read(ring, take, NULL), 0);
        check_int(n_taken - before, 1);
        check_int(*ring->consumed, busy);
        set_head(busy, 40);
        check_int(process_ring_read(ring, take, NULL), 0);
        check_int(n_taken - before, 3);
        check_int(process_ring_read(ring, take, NULL), 0);
        check_int(n_taken - before, 3);
}

/* A record whose callback failed is not delivered again; later ones are. */
static void test_failure(struct process_ring *ring)
{
        int failure = -ENOMEM;
        size_t before = n_taken;

        produce(16, 0);
        produce(16, 0);
        check_int(process_ring_read(ring, take, &failure), -ENOMEM);
        check_int(n_taken - before, 1);
        check_int(process_ring_read(ring, take, NULL), 0);
        check_int(n_taken - before, 2);
}

int main(void)
{
        struct process_ring ring = { 0 };

        page = (size_t)sysconf(_SC_PAGESIZE);
        fd = memfd_create("ring", MFD_CLOEXEC);
        check_int(ftruncate(fd, (off_t)(2 * page + 2 * SIZE)), 0);
        check_int(process_ring_open(fd, SIZE, &ring), 0);
        test_wraps(&ring);
        test_full(&ring);
        test_busy_and_dropped(&ring);
        test_failure(&ring);
        process_ring_close(&ring);
        process_ring_close(&ring);
        close(fd);
        return check_result();
}
