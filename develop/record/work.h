/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Work that a program passes on through GLib: what asked for each piece, and which one a thread is at. A
 * piece is known by the address of its GSource, or of what is in a GAsyncQueue; threads of a GThreadPool
 * take theirs from one. What is attached for a GTask was asked for by who made that, whoever attaches it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "space.h"

struct work;

int work_new(struct work **ret); /* 0; -ENOMEM */
void work_free(struct work *work);
/* @cause: a number of the causes. 0; -ENOMEM. */
int work_attached(struct work *work, pid_t pid, pid_t tid, uint64_t source, uint32_t cause);
/*
 * work_dispatch() - an event loop begins a source
 * @function: of the source, as the loop keeps it
 * @sp:       the stack pointer of the function that calls it
 */
int work_dispatch(struct work *work, pid_t pid, pid_t tid, uint64_t source, uint64_t function, uint64_t sp);
int work_dispatched(struct work *work, pid_t pid, pid_t tid, uint64_t function, uint64_t sp); /* that has ended */
int work_pushed(struct work *work, pid_t pid, uint64_t queue, uint64_t data, uint32_t cause);
/*
 * work_asked() - a thread asks a queue for its next piece, so it is at none
 * @sp:   the stack pointer of the function that asks
 * @back: where in it the answer goes
 * @pool: it is GLib's, and the thread one of its pool: all that it does until it asks again is for that piece
 */
int work_asked(struct work *work, pid_t pid, pid_t tid, uint64_t queue, uint64_t sp, uint64_t back, bool pool);
int work_taken(struct work *work, pid_t pid, pid_t tid, uint64_t data);
/*
 * work_task() - a thread is making a GTask
 * @cause: of all that will be done for it
 * @sp:    the stack pointer of the function that makes it
 * @back:  where in it the task goes
 */
int work_task(struct work *work, pid_t pid, pid_t tid, uint32_t cause, uint64_t sp, uint64_t back);
int work_task_made(struct work *work, pid_t pid, pid_t tid, uint64_t task);
/* Before work_attached(). */
int work_task_attach(struct work *work, pid_t pid, pid_t tid, uint64_t task, uint64_t source);
/*
 * The thread has got a message that @cause sent (CAUSE_NONE: unknown). What it attaches before it begins
 * other work is for that.
 */
int work_message(struct work *work, pid_t pid, pid_t tid, uint32_t cause);
/*
 * Where a stack of this thread may begin with work of others; valid until the next call of any of these.
 * NULL: no memory.
 */
const struct anchors *work_anchors(struct work *work, pid_t pid, pid_t tid);
/* @anchor: at which its stack begins; negative: none. CAUSE_NONE: nobody asked for it. */
uint32_t work_cause(const struct work *work, pid_t tid, int anchor);
/* Another program, or nothing more is seen of @pid; 0: of all. */
void work_forget(struct work *work, pid_t pid);
/* How many pieces were begun, and of how many it is known who asked for them. */
void work_counts(const struct work *work, uint64_t *pieces, uint64_t *placed);
