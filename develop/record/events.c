/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One ring for each CPU; all events of a CPU write into it. */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "registers.h"
#include "util/units.h"
#include "util/util.h"

#define RING_PAGES_MOST 1024 /* 4 MB for each CPU: half a second of samples */
#define RING_PAGES_LEAST 64  /* 256 kB for each CPU; by default users may lock 516 kB for each */

struct ring {
        struct perf_event_mmap_page *page;
        size_t pages; /* number of data pages, without the header page */
        int fd;       /* descriptor of the event that owns the ring */
};

struct opened {
        int fd;
        enum event_kind kind;
};

struct events {
        struct ring *rings;
        size_t n_rings;
        struct opened *opened;
        size_t n_opened, opened_capacity;
        struct event_ids ids;
        int epoll_fd, spool_fd;
        unsigned stack_kb;
        bool sees_kernel;
        /* Start of the present second, and number of events from EVENT_ATTACH on until then. */
        uint64_t second_ns, passed, passed_stacks;
        size_t page_bytes;
};

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
        int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

static void fill_attr(enum event_kind kind, unsigned stack_kb, struct perf_event_attr *attr)
{
        *attr = (struct perf_event_attr){
                .size = sizeof(*attr),
                .sample_freq = kind == EVENT_CPU ? EVENTS_PER_S : EVENTS_IO_PER_S,
                .freq = 1,
                .sample_type = EVENTS_KEEP,
                .disabled = 1,
                .inherit = 1,
                .enable_on_exec = 1,
                .sample_id_all = 1,
                .exclude_hv = 1,
                .sample_regs_user = REGISTERS_MASK,
                .sample_stack_user = stack_kb * 1024,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC, /* as the clocks of CPUs are noted */
        };
}

static int keep_fd(struct events *events, int fd, enum event_kind kind)
{
        struct event_ids *ids = &events->ids;
        uint64_t id, *list;
        int err = util_grow(&events->opened, &events->opened_capacity, events->n_opened + 1, sizeof(*events->opened));

        if (err || ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
                err = err ? err : -errno;
                close(fd);
                return err;
        }
        events->opened[events->n_opened++] = (struct opened){ fd, kind };
        list = reallocarray(ids->list[kind], ids->n[kind] + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        ids->list[kind] = list;
        list[ids->n[kind]++] = id;
        return 0;
}

/* Maps a ring of as many pages as this user may lock. */
static int map_ring(struct events *events, int fd, struct ring *ring)
{
        struct epoll_event wake = { .events = EPOLLIN };

        for (size_t pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST; pages /= 2) {
                void *at = mmap(NULL, (pages + 1) * events->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

                if (at == MAP_FAILED)
                        continue;
                *ring = (struct ring){ at, pages, fd };
                return epoll_ctl(events->epoll_fd, EPOLL_CTL_ADD, fd, &wake) < 0 ? -errno : 0;
        }
        return -errno;
}

/*
 * The first event of a CPU also tells of programs, mappings and threads. Without the right to see the
 * kernel: only the user's.
 */
static int open_cpu(struct events *events, pid_t pid, int cpu)
{
        struct ring ring;
        struct perf_event_attr attr;
        int fd, err;

        fill_attr(EVENT_CPU, events->stack_kb, &attr);
        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_CPU_CLOCK;
        attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
        attr.watermark = 1;
        attr.wakeup_watermark = RING_PAGES_LEAST * 1024;
        attr.exclude_kernel = !events->sees_kernel;
        fd = open_event(&attr, pid, cpu);
        if (fd == -EACCES && events->sees_kernel) {
                events->sees_kernel = false;
                attr.exclude_kernel = 1;
                fd = open_event(&attr, pid, cpu);
        }
        if (fd < 0)
                return fd;
        err = keep_fd(events, fd, EVENT_CPU);
        if (!err)
                err = map_ring(events, fd, &ring);
        if (!err)
                events->rings[events->n_rings++] = ring;
        return err;
}

/* A tracepoint that cannot be opened is one that is not seen: run.json says so. */
static int open_tracepoint(struct events *events, pid_t pid, int cpu, const struct tracepoint *point,
                           enum event_kind kind)
{
        const struct ring *ring = &events->rings[events->n_rings - 1];
        struct perf_event_attr attr;
        int fd;

        fill_attr(kind, events->stack_kb, &attr);
        attr.type = PERF_TYPE_TRACEPOINT;
        attr.config = point->id;
        if (kind >= EVENT_CHILD) { /* each of them, as others hang below it */
                attr.freq = 0;
                attr.sample_period = 1;
        }
        if (event_is_step(kind))
                attr.sample_stack_user = 0;
        fd = open_event(&attr, pid, cpu);
        if (fd < 0)
                return 0;
        if ((point->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, point->filter) < 0) ||
            ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0) {
                close(fd);
                return 0;
        }
        return keep_fd(events, fd, kind);
}

int events_open(pid_t pid, unsigned stack_kb, int spool_fd, const struct tracepoints *tracepoints, struct events **ret)
{
        _cleanup_(events_freep) struct events *events = calloc(1, sizeof(*events));
        long n = sysconf(_SC_NPROCESSORS_CONF);

        if (!events)
                return -ENOMEM;
        events->spool_fd = spool_fd;
        events->stack_kb = stack_kb;
        events->sees_kernel = true;
        events->ids.passed_until_ns = UINT64_MAX;
        events->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        events->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (events->epoll_fd < 0)
                return -errno;
        events->rings = calloc((size_t)n, sizeof(*events->rings));
        if (!events->rings)
                return -ENOMEM;
        if (!REGISTERS_MASK)
                return -ENOSYS;
        for (int cpu = 0; cpu < n; cpu++) {
                int err = open_cpu(events, pid, cpu);

                if (err == -ENODEV) /* offline */
                        continue;
                for (size_t kind = 0; !err && kind < EVENT_COUNT; kind++)
                        if (tracepoints && tracepoints->list[kind].id)
                                err = open_tracepoint(events, pid, cpu, &tracepoints->list[kind],
                                                      (enum event_kind)kind);
                if (err)
                        return err;
        }
        *ret = TAKE_PTR(events);
        return 0;
}

static int write_all(int fd, const char *data, size_t length)
{
        while (length > 0) {
                ssize_t written = write(fd, data, length);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                data += written;
                length -= (size_t)written;
        }
        return 0;
}

static int drain_ring(struct events *events, struct ring *ring)
{
        const char *data = (const char *)ring->page + events->page_bytes;
        uint64_t size = ring->pages * events->page_bytes, tail = ring->page->data_tail;
        atomic_u64 *produced = (atomic_u64 *)&ring->page->data_head, *consumed = (atomic_u64 *)&ring->page->data_tail;
        uint64_t head = __atomic_load_n(produced, __ATOMIC_ACQUIRE);
        int err = 0;

        while (!err && tail < head) {
                uint64_t from = tail % size, length = MIN(head - tail, size - from);

                err = write_all(events->spool_fd, data + from, length);
                tail += length;
        }
        __atomic_store_n(consumed, tail, __ATOMIC_RELEASE);
        return err;
}

int events_drain(struct events *events)
{
        int err = 0;

        for (size_t i = 0; !err && i < events->n_rings; i++)
                err = drain_ring(events, &events->rings[i]);
        return err;
}

int events_poll_fd(const struct events *events)
{
        return events->epoll_fd;
}

const struct event_ids *events_ids(const struct events *events)
{
        return &events->ids;
}

uint64_t events_total(const struct events *events, enum event_kind kind)
{
        uint64_t total = 0, count;

        for (size_t i = 0; i < events->n_opened; i++)
                if (events->opened[i].kind == kind &&
                    read(events->opened[i].fd, &count, sizeof(count)) == sizeof(count))
                        total += count;
        return total;
}

static void close_passed(struct events *events)
{
        for (size_t i = 0; i < events->n_opened; i++)
                if (events->opened[i].kind >= EVENT_ATTACH) {
                        closep(&events->opened[i].fd);
                        events->opened[i].fd = -1;
                }
}

void events_limit(struct events *events, uint64_t now_ns)
{
        uint64_t stacks = 0, all = 0;

        if (events->ids.passed_until_ns != UINT64_MAX)
                return;
        for (int kind = EVENT_ATTACH; kind < EVENT_COUNT; kind++) {
                uint64_t total = events_total(events, (enum event_kind)kind);

                all += total;
                stacks += event_is_step((enum event_kind)kind) ? 0 : total;
        }
        if (all - events->passed > EVENTS_PASSED_PER_S || stacks - events->passed_stacks > EVENTS_PASSED_STACKS_PER_S) {
                close_passed(events);
                events->ids.passed_until_ns = now_ns;
        } else if (now_ns - events->second_ns >= NS_PER_S) {
                events->second_ns = now_ns;
                events->passed = all;
                events->passed_stacks = stacks;
        }
}

bool events_see_kernel(const struct events *events)
{
        return events->sees_kernel;
}

void events_free(struct events *events)
{
        if (!events)
                return;
        for (size_t i = 0; i < events->n_rings; i++)
                munmap(events->rings[i].page, (events->rings[i].pages + 1) * events->page_bytes);
        for (size_t i = 0; i < events->n_opened; i++)
                closep(&events->opened[i].fd);
        for (size_t i = 0; i < EVENT_COUNT; i++)
                free(events->ids.list[i]);
        closep(&events->epoll_fd);
        free(events->rings);
        free(events->opened);
        free(events);
}
