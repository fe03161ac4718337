/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process-bpf-ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Layout of the mapped ring (kernel/bpf/ringbuf.c): a page with the consumer's position, one with the
 * producer's, and the data twice in a row. A record has 8 bytes of header, of which the first 4 are its
 * length and two flags, then its data, rounded up to 8 bytes.
 */
#define HEADER 8
#define RECORD_BUSY (UINT32_C(1) << 31)    /* a program is still writing it */
#define RECORD_DROPPED (UINT32_C(1) << 30)
#define LENGTH(head) ((head) & ~(RECORD_BUSY | RECORD_DROPPED))

static size_t page_size(void)
{
        return (size_t)sysconf(_SC_PAGESIZE);
}

int process_ring_open(int fd, size_t size, struct process_ring *ret)
{
        size_t page = page_size();
        void *consumed = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        void *produced = consumed == MAP_FAILED ? MAP_FAILED : mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);

        if (produced == MAP_FAILED) {
                int err = -errno;

                if (consumed != MAP_FAILED)
                        munmap(consumed, page);
                return err;
        }
        *ret = (struct process_ring){ .fd = fd, .size = size, .consumed = consumed, .produced = produced };
        return 0;
}

void process_ring_close(struct process_ring *ring)
{
        if (!ring->consumed)
                return;
        munmap(ring->consumed, page_size());
        munmap((void *)ring->produced, page_size());
        *ring = (struct process_ring){ 0 };
}

/* Takes the records in @length bytes at @at, and advances the consumer's position. */
static int take_records(struct process_ring *ring, const char *at, size_t length,
                        int (*take)(void *data, const void *bytes, size_t size), void *data)
{
        int err = 0;

        while (!err && length >= HEADER) {
                uint32_t head = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
                size_t whole = (HEADER + LENGTH(head) + 7) & ~(size_t)7;

                if ((head & RECORD_BUSY) || whole > length)
                        break;
                if (!(head & RECORD_DROPPED))
                        err = take(data, at + HEADER, LENGTH(head));
                at += whole;
                length -= whole;
                __atomic_store_n(ring->consumed, *ring->consumed + whole, __ATOMIC_RELEASE);
        }
        return err < 0 ? err : 0;
}

int process_ring_read(struct process_ring *ring, int (*take)(void *data, const void *bytes, size_t size),
                      void *data)
{
        size_t length = (size_t)(__atomic_load_n(ring->produced, __ATOMIC_ACQUIRE) - *ring->consumed);
        size_t page = page_size(), from = (size_t)(*ring->consumed & (ring->size - 1)), skipped = from % page;
        char *mapped;
        int err;

        if (length == 0 || length > ring->size)
                return length == 0 ? 0 : -EIO;
        mapped = mmap(NULL, skipped + length, PROT_READ, MAP_SHARED, ring->fd,
                      (off_t)(2 * page + from - skipped));
        if (mapped == MAP_FAILED)
                return -errno;
        err = take_records(ring, mapped + skipped, length, take, data);
        munmap(mapped, skipped + length);
        return err;
}
