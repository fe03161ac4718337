/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The processes and threads that ran, the code that each had mapped, and below which call each began. */

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

/* Where a stack belongs. */
struct placed {
        uint32_t cause;
        uint32_t frames[SPACE_FRAMES_MAX + 1]; /* below it, numbers of names, the outermost first */
        size_t n;
};

struct process_tree;

/* What is given must live as long. @frames: names of frames. 0; -ENOMEM. */
int process_tree_new(struct words *frames, struct places *places, const struct causes *causes, struct process_tree **ret);
void process_tree_free(struct process_tree *tree);
int process_tree_event(struct process_tree *tree, const struct record_event *event);
/* The process, also one that was not seen to begin. 0; -ENOMEM. */
int process_tree_find(struct process_tree *tree, pid_t pid, struct process **ret);
/* The frames of a thread below the cause of it, which is that of the thread if the stack has no anchor. */
void process_tree_place(struct process_tree *tree, const struct process *process, pid_t tid, const struct unwound *unwound,
                        struct placed *ret);
/* The thread @tid begins with this cause. 0; -ENOMEM. */
int process_tree_made(struct process_tree *tree, pid_t tid, uint32_t cause);
/* How many threads and processes began, and of how many it is known where. */
void process_tree_counts(const struct process_tree *tree, uint64_t *threads, uint64_t *placed);
