/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Events of perf_event_open(2) for a program and its children, each with the user's stack. The kernel's records are
 * copied to a file without a name, which replay.h reads when the program has ended, so that unwinding does not
 * disturb it.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracepoints.h"
#include "util/util.h"

#define EVENTS_PER_S 997        /* a prime: not in step with what a program does 100 or 1000 times a second */
#define EVENTS_IO_PER_S 3989    /* most samples a second; if there are fewer events, each is seen */
#define EVENTS_STACK_KB 8       /* deeper frames are lost; a larger copy slows the program down */
#define EVENTS_STACK_KB_MAX 56  /* a record of the kernel has less than 64 kB */
/*
 * Most events a second for work that is passed on. If there are more, work is not followed any more, as each event
 * costs the program microseconds.
 */
#define EVENTS_PASSED_PER_S 20000
#define EVENTS_PASSED_STACKS_PER_S 4000 /* most of these that have a stack */
#define EVENTS_KEEP (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
                     PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Kinds of events, by what a sample stands for. */
enum event_kind {
        EVENT_CPU,     /* its period is CPU time in ns */
        EVENT_DIRTY,   /* the first write to a page that must reach a storage */
        EVENT_READ,    /* a request to read from a storage */
        EVENT_SEND,    /* a packet that goes to an interface */
        EVENT_RECEIVE, /* bytes that a socket gave its reader */
        EVENT_SLEEP,   /* a thread waits, and something will have to wake it */
        EVENT_DRAW,    /* a job goes to a GPU */
        EVENT_CHILD,   /* a thread or process begins */
        EVENT_ATTACH,   /* GLib: work is given to an event loop */
        EVENT_DISPATCH, /* an event loop begins such work */
        EVENT_DISPATCHED, /* an event loop has ended such work */
        EVENT_PUSH,     /* work is put into a queue for threads */
        EVENT_POP,      /* a thread asks a queue for work */
        EVENT_POPPED,   /* the queue has answered it, with work or with nothing */
        EVENT_TASK,     /* GIO: a GTask is being made */
        EVENT_TASK_MADE, /* the GTask is made */
        EVENT_TASK_ATTACH, /* the next step of a GTask is given to an event loop: EVENT_ATTACH follows */
        EVENT_CALL,     /* a message for a D-Bus method call is being made */
        EVENT_SIGNAL,   /* a message for a D-Bus signal is being made */
        EVENT_SERIAL,   /* a message gets its serial number, and is sent */
        EVENT_MESSAGE,  /* a message has come; work that is attached next is for it */
        EVENT_COUNT
};

_Static_assert(EVENT_COUNT <= TRACEPOINTS_MAX, "each event has its place in struct tracepoints");

/* Is it an event that only tells what its thread does, and needs no stack? */
static inline bool event_is_step(enum event_kind kind)
{
        return kind > EVENT_ATTACH && kind != EVENT_PUSH && kind != EVENT_TASK && kind != EVENT_SERIAL;
}

struct event_ids {
        uint64_t *list[EVENT_COUNT]; /* the kernel's event ids, one for each CPU */
        size_t n[EVENT_COUNT];
        uint64_t passed_until_ns; /* until when work that is passed on was followed; UINT64_MAX: to the end */
};

struct events;

/*
 * events_open() - prepare to watch @pid from its next exec on
 * @stack_kb: how much of the stack is kept, at most EVENTS_STACK_KB_MAX
 * @spool_fd: gets the records; must be open as long as the events
 *
 * 0; -EACCES: perf_event_paranoid; -ENOSYS: no such system call, or unknown registers; another negative errno.
 */
int events_open(pid_t pid, unsigned stack_kb, int spool_fd, const struct tracepoints *tracepoints, struct events **ret);
int events_poll_fd(const struct events *events); /* readable: events_drain() has something to do */
int events_drain(struct events *events);         /* 0; a negative errno of the spool */
/* To be called often: ends following work that is passed on if there is too much of it. */
void events_limit(struct events *events, uint64_t now_ns);
const struct event_ids *events_ids(const struct events *events);
/* Number of events of a kind, with those that have no sample; nanoseconds for EVENT_CPU. */
uint64_t events_total(const struct events *events, enum event_kind kind);
bool events_see_kernel(const struct events *events); /* false: time in system calls is not seen */
void events_free(struct events *events);
DEFINE_CLEANUP(struct events, events_free)
