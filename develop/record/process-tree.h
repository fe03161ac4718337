/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Processes and threads that ran, the code that each had mapped, and the call that made each. */

#include <sys/types.h>
#include <uthash.h>

#include "causes.h"
#include "record-parse.h"
#include "space.h"
#include "words.h"

struct process {
        pid_t pid;
        struct space *space;
        UT_hash_handle hh;
};

/* A stack, with the cause that it belongs to. */
struct placed {
        uint32_t cause;
        uint32_t frames[SPACE_FRAMES_MAX + 1]; /* frames below the cause: numbers of names, the outermost first */
        size_t n;
};

struct process_tree;

/* @frames: names of frames. The arguments must outlive the tree. 0; -ENOMEM. */
int process_tree_new(struct words *frames, struct places *places, const struct causes *causes,
                     struct process_tree **ret);
void process_tree_free(struct process_tree *tree);
int process_tree_event(struct process_tree *tree, const struct record_event *event);
/* Finds a process; one that was not seen to begin is added. 0; -ENOMEM. */
int process_tree_find(struct process_tree *tree, pid_t pid, struct process **ret);
/* Fills in a thread's frames, and the thread's cause, which the caller replaces if the stack has an anchor. */
void process_tree_place(struct process_tree *tree, const struct process *process, pid_t tid,
                        const struct unwound *unwound, struct placed *ret);
/* Notes that the thread @tid begins with this cause. 0; -ENOMEM. */
int process_tree_made(struct process_tree *tree, pid_t tid, uint32_t cause);
/* Number of threads and processes that began, and of those whose cause is known. */
void process_tree_counts(const struct process_tree *tree, uint64_t *threads, uint64_t *placed);
