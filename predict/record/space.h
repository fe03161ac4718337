/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The code that a process has mapped, and what a copy of its stack says of its calls. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "address-names.h"
#include "places.h"
#include "registers.h"
#include "words.h"

#define SPACE_FRAMES_MAX 512 /* what is above is lost, and counted so */

/*
 * A frame by which work is begun that was asked for elsewhere, so that it and what called it are left out: the one whose stack pointer is
 * @sp. Where @back is not 0, it does the work itself, and is kept; it is the function that has @back.
 */
struct anchor {
        uint64_t sp, back;
};

struct anchors {
        const struct anchor *list; /* the outermost first */
        size_t n;
        uint64_t back;    /* where a function returns to, which a probe on that has replaced on the stack; 0: there is none */
        uint64_t back_sp; /* the stack pointer then */
};

struct sample_stack {
        pid_t tid;
        const uint64_t *registers; /* REGISTERS_COUNT */
        const char *bytes;         /* from the stack pointer on */
        size_t n_bytes;
        const struct anchors *anchors; /* NULL: none */
};

/* The calls of a stack. */
struct unwound {
        struct frame frames[SPACE_FRAMES_MAX]; /* the outermost last */
        size_t n;
        bool whole; /* they reach the first function of the thread, or an anchor */
        int anchor; /* its number; -1: none */
};

struct space;

/* @words and @places must live as long. 0; -ENOMEM. */
int space_new(struct words *words, struct places *places, struct space **ret);
int space_copy(const struct space *space, struct space **ret); /* the mappings, as a fork does */
void space_free(struct space *space);
void space_freep(struct space **space);
/* Another program: forgets all mappings. */
void space_clear(struct space *space);
/* @path: of the file; the first one after space_clear() is the program. Replaces what was there. 0; -ENOMEM. */
int space_map(struct space *space, uint64_t from, uint64_t length, uint64_t offset, const char *path);
/* Names of code without a file, of /tmp/perf-@pid.map, are taken from @pid. */
void space_set_pid(struct space *space, pid_t pid);
int space_unwind(struct space *space, const struct sample_stack *stack, struct unwound *ret); /* 0; a negative errno */
/*
 * The same for a thread that is just making another one: the C library's code that does so has no unwind table there (clone.S and
 * vfork.S of glibc), and is left out.
 */
int space_unwind_maker(struct space *space, const struct sample_stack *stack, struct unwound *ret);
/* The code at @address is GLib's. */
bool space_is_glib(const struct space *space, uint64_t address);
