/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process-tree.h"
#include "util/util.h"

#define STACK_FRAMES_MAX (4 * SPACE_FRAMES_MAX) /* with those of what made the thread */

struct origin { /* below which stack a thread began */
        pid_t tid;
        uint32_t stack;
        UT_hash_handle hh;
};

struct process_tree {
        struct words *frames, *stacks;
        struct places *places;
        struct process *processes;
        struct origin *origins;
        uint64_t threads, placed;
        uint32_t truncated; /* the frame in place of those that were lost */
};

int process_tree_new(struct words *frames, struct places *places, struct words *stacks, struct process_tree **ret)
{
        struct process_tree *tree = calloc(1, sizeof(*tree));
        int64_t truncated = words_number(frames, "[truncated]", strlen("[truncated]"));

        if (!tree || truncated < 0) {
                free(tree);
                return -ENOMEM;
        }
        tree->frames = frames;
        tree->places = places;
        tree->stacks = stacks;
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

/* Takes @space. */
static int add_process(struct process_tree *tree, pid_t pid, struct space *space, struct process **ret)
{
        struct process *process = calloc(1, sizeof(*process)), *old;

        if (!process) {
                space_free(space);
                return -ENOMEM;
        }
        HASH_FIND_INT(tree->processes, &pid, old);
        if (old) { /* its number is used again */
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

int process_tree_made(struct process_tree *tree, pid_t tid, uint32_t stack)
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
        origin->stack = stack;
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

/* How many frames are left without what runs before main() or a thread's function, as it differs between builds. */
static size_t skip_start(const struct process_tree *tree, const struct frame *frames, size_t n)
{
        static const char *const starts[] = { "_start@", "clone3@", "clone@", "__clone3@", "__clone@", "thread_start@" };

        for (size_t i = n > 3 ? n - 3 : 1; i < n; i++)
                if (begins(tree, &frames[i], "__libc_start_main@")) { /* and what of the C library it calls main() by */
                        if (i > 1 && same_file(tree, &frames[i], &frames[i - 1]) &&
                            (begins(tree, &frames[i - 1], "[unknown]@") || begins(tree, &frames[i - 1], "__libc_start_call_main@")))
                                return i - 1;
                        return i;
                }
        for (size_t i = 0; n > 1 && i < ARRAY_SIZE(starts); i++)
                if (begins(tree, &frames[n - 1], starts[i]))
                        return n - 1;
        return n;
}

/* A child that runs its parent's code has the parent's frames on its own stack already. */
static bool is_own(const struct frame *frames, size_t n, const char *before, size_t n_before)
{
        uint32_t first; /* words are packed, and not aligned */

        if (n == 0 || n_before == 0)
                return false;
        memcpy(&first, before, sizeof(first));
        return frames[n - 1].name == first;
}

int process_tree_stack(struct process_tree *tree, const struct process *process, pid_t tid, const struct frame *frames, size_t n,
                       bool whole, uint32_t *ret)
{
        uint32_t stack[STACK_FRAMES_MAX];
        const char *before = NULL;
        size_t length = 0, kept = 0;
        struct origin *origin;
        int64_t number;

        n = whole ? skip_start(tree, frames, n) : n;
        HASH_FIND_INT(tree->origins, &tid, origin);
        if (!origin && tid != process->pid) /* a thread that was not seen to begin */
                HASH_FIND_INT(tree->origins, &process->pid, origin);
        if (origin)
                before = words_bytes(tree->stacks, origin->stack, &length);
        length /= sizeof(*stack);
        if (before && !is_own(frames, n, before, length)) {
                kept = MIN(length, (size_t)STACK_FRAMES_MAX - SPACE_FRAMES_MAX - 1);
                memcpy(stack, before, kept * sizeof(*stack));
        }
        if (!whole)
                stack[kept++] = tree->truncated;
        for (size_t i = n; i > 0; i--)
                stack[kept++] = frames[i - 1].name;
        number = words_number(tree->stacks, stack, kept * sizeof(*stack));
        if (number < 0)
                return (int)number;
        *ret = (uint32_t)number;
        return 0;
}

void process_tree_counts(const struct process_tree *tree, uint64_t *threads, uint64_t *placed)
{
        *threads = tree->threads;
        *placed = MIN(tree->placed, tree->threads);
}
