/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The class of a frame of a stack (the app's own code or a framework's), and its name without parts that differ
 * between two builds of the same function.
 */

#include <stdbool.h>
#include <stddef.h>

#include "name.h"

enum frame_class {
        FRAME_APP,
        FRAME_FRAMEWORK,
        FRAME_CARRIER,   /* a framework's: a thread, an event loop or a timer, that calls the app's functions and
                            does nothing else */
        FRAME_START,     /* code before main() or a thread's function, which the program does not choose */
        FRAME_INTERRUPT, /* not asked for by the code that it interrupts */
        FRAME_FAULT,     /* a page fault, likewise */
        FRAME_CALLER,    /* the loop of an interpreter, the kernel's entry: its self cost is its caller's */
        FRAME_INHERIT,   /* inlined, or without a name: it has the class of its caller */
};

/* Rules of the user. Lists end with NULL, or are NULL. */
struct frame_rules {
        const char **framework_prefixes, **app_prefixes;
        const char **app_dsos;
        bool dsos;   /* frames of this input have DSOs */
        bool python; /* the input has Python's own functions, so that the interpreter is their framework */
};

#define FRAME_NAME_MAX NAME_MAX_BYTES

struct frame {
        enum frame_class class;
        char name[FRAME_NAME_MAX];    /* whole, as name_clean() leaves it: "read", "com.x.Main.onClick" */
        char dso[FRAME_NAME_MAX];     /* without folder and version: "libc"; empty: unknown */
};

/**
 * frame_read() - read the class and the name of a frame. 0; -ENOMEM
 * @text:    as in the input: "frame", "frame@dso", with or without "_[k]"
 * @program: the app's name: a DSO of that name is the app's
 */
int frame_read(const char *text, const char *program, const struct frame_rules *rules, struct frame *ret);
/* Does the text have a DSO? */
bool frame_has_dso(const char *text);
/* Is it a function of Python's, by the name that its interpreter gave it? */
bool frame_is_python(const char *text);
/* Is it code of an interpreter, or of a JIT, with a name? */
bool frame_is_jit(const char *text);
