/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The code that a process has mapped, and the unwinding of copies of its stack. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "address-names.h"
#include "places.h"
#include "registers.h"
#include "util/util.h"
#include "words.h"

#define SPACE_FRAMES_MAX 512 /* frames above are lost, and the stack counts as cut */

/*
 * A frame that begins work which was asked for elsewhere, so that it and its callers are left out. It is the frame
 * whose stack pointer is @sp. If @back is not 0, it is the function that contains @back; it does the work itself, and
 * is kept.
 */
struct anchor {
        uint64_t sp, back;
};

struct anchors {
        const struct anchor *list; /* the outermost first */
        size_t n;
        /* Return address of a function, which a probe on its return has replaced on the stack; 0: there is none. */
        uint64_t back;
        uint64_t back_sp; /* the stack pointer after that return */
};

struct sample_stack {
        pid_t tid;
        const uint64_t *registers; /* REGISTERS_COUNT of them */
        const char *bytes;         /* copy of the stack, from the stack pointer on */
        size_t n_bytes;
        const struct anchors *anchors; /* NULL: none */
};

/* The calls of a stack. */
struct unwound {
        struct frame frames[SPACE_FRAMES_MAX]; /* the outermost last */
        size_t n;
        bool whole; /* the frames reach the first function of the thread, or an anchor */
        int anchor; /* number of the anchor; -1: none */
};

struct space;

/* @words and @places must outlive it. 0; -ENOMEM. */
int space_new(struct words *words, struct places *places, struct space **ret);
int space_copy(const struct space *space, struct space **ret); /* copies the mappings, as a fork does */
void space_free(struct space *space);
DEFINE_CLEANUP(struct space, space_free)
/* To be called when the process runs another program: forgets all mappings. */
void space_clear(struct space *space);
/* @path: the file; the first one after space_clear() is the program. Replaces mappings at that place. 0; -ENOMEM. */
int space_map(struct space *space, uint64_t from, uint64_t length, uint64_t offset, const char *path);
/* Takes names of code without a file from /tmp/perf-@pid.map. */
void space_set_pid(struct space *space, pid_t pid);
/* Takes the names of the time when that file had @known bytes. SIZE_MAX: the last ones. */
void space_set_known(struct space *space, size_t known);
int space_unwind(struct space *space, const struct sample_stack *stack, struct unwound *ret); /* 0; a negative errno */
/*
 * The same for a thread that is just making another one. The C library's code that does so (clone.S and vfork.S of
 * glibc) has no unwind table, and is left out.
 */
int space_unwind_maker(struct space *space, const struct sample_stack *stack, struct unwound *ret);
/* Is the code at @address GLib's? */
bool space_is_glib(const struct space *space, uint64_t address);
