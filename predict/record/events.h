/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Events of perf_event_open(2) for a program and its children, each with the user's stack. What the kernel writes goes into a
 * file without a name, as it is; replay.h reads it when the program has ended, so that unwinding does not disturb it.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracepoints.h"

#define EVENTS_PER_S 997        /* a prime: not in step with what a program does 100 or 1000 times a second */
#define EVENTS_IO_PER_S 3989    /* at most; where there are fewer, each is seen */
#define EVENTS_STACK_KB 8       /* deeper frames are lost; more slows the program down */
#define EVENTS_STACK_KB_MAX 56  /* a record of the kernel has less than 64 kB */
/* Of work that is passed on: beyond that in a second it is not looked at any more, as each costs the program microseconds. */
#define EVENTS_PASSED_PER_S 20000
#define EVENTS_PASSED_STACKS_PER_S 4000 /* thereof with a stack */
#define EVENTS_KEEP (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
                     PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* The registers that are kept, as bits of the kernel's numbers; 0: this architecture is not known to us. */
uint64_t events_registers(void);

/* What the samples of an event stand for. */
enum event_kind {
        EVENT_CPU,     /* its period is CPU time in ns */
        EVENT_DIRTY,   /* the first write to a page that must reach a storage */
        EVENT_READ,    /* a request to read from a storage */
        EVENT_SEND,    /* a packet that goes to an interface */
        EVENT_RECEIVE, /* what a socket gave its reader */
        EVENT_SLEEP,   /* a thread waits, and something will have to wake it */
        EVENT_DRAW,    /* a job goes to a GPU */
        EVENT_CHILD,   /* a thread or process begins */
        EVENT_ATTACH,   /* GLib: work is given to an event loop */
        EVENT_DISPATCH, /* an event loop begins such work */
        EVENT_DISPATCHED, /* and has ended it */
        EVENT_PUSH,     /* work is put into a queue for threads */
        EVENT_POP,      /* a thread asks a queue for work */
        EVENT_POPPED,   /* and has it, or nothing */
        EVENT_TASK,     /* GIO: a GTask is being made */
        EVENT_TASK_MADE, /* and is there */
        EVENT_TASK_ATTACH, /* what it does next is given to an event loop: EVENT_ATTACH follows */
        EVENT_CALL,     /* a method call over D-Bus is being made */
        EVENT_SIGNAL,   /* or a signal */
        EVENT_SERIAL,   /* a message gets its number, and is sent */
        EVENT_MESSAGE,  /* one has come; what is attached next is for it */
        EVENT_COUNT
};

_Static_assert(EVENT_COUNT <= TRACEPOINTS_MAX, "each event has its place in struct tracepoints");

/* It tells what its thread is at, and needs no stack for that. */
static inline bool event_is_step(enum event_kind kind)
{
        return kind > EVENT_ATTACH && kind != EVENT_PUSH && kind != EVENT_TASK && kind != EVENT_SERIAL;
}

struct event_ids {
        uint64_t *list[EVENT_COUNT]; /* the kernel's numbers, one a CPU */
        size_t n[EVENT_COUNT];
        uint64_t passed_until_ns; /* work that is passed on was seen until then */
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
/* To be called often: ends the looking at work that is passed on where there is too much of it. */
void events_limit(struct events *events, uint64_t now_ns);
const struct event_ids *events_ids(const struct events *events);
/* How many there were, also those without a sample: nanoseconds of EVENT_CPU. */
uint64_t events_total(const struct events *events, enum event_kind kind);
bool events_see_kernel(const struct events *events); /* false: time in system calls is not seen */
void events_free(struct events *events);
void events_freep(struct events **events);
