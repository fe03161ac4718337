/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process-tree.h"
#include "util/util.h"

struct origin { /* the cause of a thread or process: the call that made it */
        pid_t tid;
        uint32_t cause;
        UT_hash_handle hh;
};

struct process_tree {
        struct words *frames;
        struct places *places;
        const struct causes *causes;
        struct process *processes;
        struct origin *origins;
        uint64_t threads, placed;
        uint32_t truncated; /* the frame [truncated], which stands for frames that were lost */
};

int process_tree_new(struct words *frames, struct places *places, const struct causes *causes,
                     struct process_tree **ret)
{
        struct process_tree *tree = calloc(1, sizeof(*tree));
        int64_t truncated = words_number(frames, "[truncated]", strlen("[truncated]"));

        if (!tree || truncated < 0) {
                free(tree);
                return -ENOMEM;
        }
        tree->frames = frames;
        tree->places = places;
        tree->causes = causes;
        tree->truncated = (uint32_t)truncated;
        *ret = tree;
        return 0;
}

void process_tree_free(struct process_tree *tree)
{
        struct process *process, *next;
        struct origin *origin, *next_origin;

        if (!tree)
                return;
        HASH_ITER(hh, tree->processes, process, next) {
                HASH_DEL(tree->processes, process);
                space_free(process->space);
                free(process);
        }
        HASH_ITER(hh, tree->origins, origin, next_origin) {
                HASH_DEL(tree->origins, origin);
                free(origin);
        }
        free(tree);
}

/* Adds a process, which owns @space from then on. 0; -ENOMEM: @space is freed. */
static int add_process(struct process_tree *tree, pid_t pid, struct space *space, struct process **ret)
{
        struct process *process = calloc(1, sizeof(*process)), *old;

        if (!process) {
                space_free(space);
                return -ENOMEM;
        }
        HASH_FIND_INT(tree->processes, &pid, old);
        if (old) { /* its pid is used again */
                HASH_DEL(tree->processes, old);
                space_free(old->space);
                free(old);
        }
        process->pid = pid;
        process->space = space;
        space_set_pid(space, pid);
        HASH_ADD_INT(tree->processes, pid, process);
        *ret = process;
        return 0;
}

int process_tree_find(struct process_tree *tree, pid_t pid, struct process **ret)
{
        struct process *process;
        struct space *space;
        int err;

        HASH_FIND_INT(tree->processes, &pid, process);
        if (process) {
                *ret = process;
                return 0;
        }
        err = space_new(tree->frames, tree->places, &space);
        return err ? err : add_process(tree, pid, space, ret);
}

/* A new process has its parent's code until it runs another program. */
static int begin(struct process_tree *tree, const struct record_event *event)
{
        struct process *parent, *child;
        struct space *space;
        int err;

        tree->threads++;
        if (event->pid == event->parent_pid)
                return 0;
        err = process_tree_find(tree, (pid_t)event->parent_pid, &parent);
        if (!err)
                err = space_copy(parent->space, &space);
        return err ? err : add_process(tree, (pid_t)event->pid, space, &child);
}

int process_tree_event(struct process_tree *tree, const struct record_event *event)
{
        struct process *process;
        int err;

        if (event->type == PERF_RECORD_FORK)
                return begin(tree, event);
        if (event->type != PERF_RECORD_MMAP2 && !(event->type == PERF_RECORD_COMM && event->exec))
                return 0;
        err = process_tree_find(tree, (pid_t)event->pid, &process);
        if (err)
                return err;
        if (event->type == PERF_RECORD_MMAP2)
                return space_map(process->space, event->from, event->length, event->offset, event->path);
        space_clear(process->space);
        return 0;
}

int process_tree_made(struct process_tree *tree, pid_t tid, uint32_t cause)
{
        struct origin *origin;

        HASH_FIND_INT(tree->origins, &tid, origin);
        if (!origin) {
                origin = calloc(1, sizeof(*origin));
                if (!origin)
                        return -ENOMEM;
                origin->tid = tid;
                HASH_ADD_INT(tree->origins, tid, origin);
        }
        origin->cause = cause;
        tree->placed++;
        return 0;
}

static bool begins(const struct process_tree *tree, const struct frame *frame, const char *start)
{
        return strncmp(words_bytes(tree->frames, frame->name, NULL), start, strlen(start)) == 0;
}

static bool same_file(const struct process_tree *tree, const struct frame *a, const struct frame *b)
{
        const char *first = strrchr(words_bytes(tree->frames, a->name, NULL), '@');
        const char *second = strrchr(words_bytes(tree->frames, b->name, NULL), '@');

        return first && second && strcmp(first, second) == 0;
}

/* Number of frames without those that run before main() or a thread's function, as these differ between builds. */
static size_t skip_start(const struct process_tree *tree, const struct frame *frames, size_t n)
{
        static const char *const starts[] = { "_start@",   "clone3@",  "clone@",
                                              "__clone3@", "__clone@", "thread_start@" };

        for (size_t i = n > 3 ? n - 3 : 1; i < n; i++)
                if (begins(tree, &frames[i], "__libc_start_main@")) { /* and its helper that calls main() */
                        if (i > 1 && same_file(tree, &frames[i], &frames[i - 1]) &&
                            (begins(tree, &frames[i - 1], "[unknown]@") ||
                             begins(tree, &frames[i - 1], "__libc_start_call_main@")))
                                return i - 1;
                        return i;
                }
        for (size_t i = 0; n > 1 && i < ARRAY_SIZE(starts); i++)
                if (begins(tree, &frames[n - 1], starts[i]))
                        return n - 1;
        return n;
}

/* A child that runs its parent's code has the parent's frames on its own stack already. */
static bool is_own(const struct process_tree *tree, const struct frame *frames, size_t n, uint32_t cause)
{
        return n > 0 && frames[n - 1].name == causes_root(tree->causes, cause);
}

void process_tree_place(struct process_tree *tree, const struct process *process, pid_t tid,
                        const struct unwound *unwound, struct placed *ret)
{
        size_t n = unwound->whole && unwound->anchor < 0 ? skip_start(tree, unwound->frames, unwound->n) : unwound->n;
        struct origin *origin;

        HASH_FIND_INT(tree->origins, &tid, origin);
        if (!origin && tid != process->pid) /* a thread that was not seen to begin */
                HASH_FIND_INT(tree->origins, &process->pid, origin);
        ret->cause =
                origin && origin->cause != CAUSE_NONE && !is_own(tree, unwound->frames, n, origin->cause) ?
                        origin->cause :
                        CAUSE_NONE;
        ret->n = 0;
        if (!unwound->whole)
                ret->frames[ret->n++] = tree->truncated;
        for (size_t i = n; i > 0; i--)
                ret->frames[ret->n++] = unwound->frames[i - 1].name;
}

void process_tree_counts(const struct process_tree *tree, uint64_t *threads, uint64_t *placed)
{
        *threads = tree->threads;
        *placed = MIN(tree->placed, tree->threads);
}
