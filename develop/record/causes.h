/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Causes: stacks of calls that asked for work which is done elsewhere, as they made a thread, or gave work to an event
 * loop or to a queue. The work belongs below them. Such a call may itself be part of work that others asked for,
 * so causes form a tree.
 */

#include <stddef.h>
#include <stdint.h>

#define CAUSE_NONE UINT32_MAX
#define CAUSES_DEEP_MAX 16     /* most causes above each other; deeper work belongs to the last one */
#define CAUSES_FRAMES_MAX 1536 /* most frames in all causes of a stack together */

struct causes;
struct words;

/* @stacks: numbers of frames, the outermost first; must outlive it. 0; -ENOMEM. */
int causes_new(struct words *stacks, struct causes **ret);
void causes_free(struct causes *causes);
/*
 * causes_add() - adds a call that asks for work
 * @above:  the cause of this call itself; CAUSE_NONE: none
 * @frames: from there to the call, the outermost first
 * @ret:    the cause of that work. If the same call is above already, it is that one: work that asks for
 *          its own repetition, as each step of an animation does for the next, stays where it is. 0; -ENOMEM.
 */
int causes_add(struct causes *causes, uint32_t above, const uint32_t *frames, size_t n, uint32_t *ret);
/* Makes the whole stack of @frames below @above, as a number of the stacks. 0; -ENOMEM. */
int causes_stack(struct causes *causes, uint32_t above, const uint32_t *frames, size_t n, uint32_t *ret);
/* The outermost frame of a cause's stack. */
uint32_t causes_root(const struct causes *causes, uint32_t cause);
