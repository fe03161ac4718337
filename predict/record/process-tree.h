/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The processes and threads that ran, the code that each had mapped, and below which call each began. */

#include <sys/types.h>
#include <uthash.h>

#include "record-parse.h"
#include "space.h"
#include "words.h"

struct process {
        pid_t pid;
        struct space *space;
        UT_hash_handle hh;
};

struct process_tree;

/* @frames: names of frames; @stacks: stacks as numbers of them; all three must live as long. 0; -ENOMEM. */
int process_tree_new(struct words *frames, struct places *places, struct words *stacks, struct process_tree **ret);
void process_tree_free(struct process_tree *tree);
int process_tree_event(struct process_tree *tree, const struct record_event *event);
/* The process, also one that was not seen to begin. 0; -ENOMEM. */
int process_tree_find(struct process_tree *tree, pid_t pid, struct process **ret);
/*
 * process_tree_stack() - the whole stack of a thread, with that below which it began
 * @frames: its own, the outermost last
 * @whole:  they begin with its first function
 * @ret:    a number of the stacks
 */
int process_tree_stack(struct process_tree *tree, const struct process *process, pid_t tid, const struct frame *frames, size_t n,
                       bool whole, uint32_t *ret);
/* The thread @tid begins below this stack. 0; -ENOMEM. */
int process_tree_made(struct process_tree *tree, pid_t tid, uint32_t stack);
/* How many threads and processes began, and of how many it is known where. */
void process_tree_counts(const struct process_tree *tree, uint64_t *threads, uint64_t *placed);
