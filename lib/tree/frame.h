/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a frame of a stack is: the app's own code or a framework's, and its name without what differs between two builds of
 * the same function.
 */

#include <stdbool.h>
#include <stddef.h>

enum frame_class {
        FRAME_APP,
        FRAME_FRAMEWORK,
        FRAME_START,     /* code before main() or a thread's function, which the program does not choose */
        FRAME_INTERRUPT, /* not asked for by the code that it interrupts */
        FRAME_FAULT,     /* a page fault, likewise */
        FRAME_INHERIT,   /* inlined, or without a name: as its caller */
};

/* Rules of the user. Lists end with NULL, or are NULL. */
struct frame_rules {
        const char **framework_prefixes, **app_prefixes;
        const char **app_dsos;
        bool dsos; /* frames of this input have them */
};

#define FRAME_NAME_MAX 4096

struct frame {
        enum frame_class class;
        char name[FRAME_NAME_MAX];    /* for people, and part of the label: "read", "onClick" */
        char dso[FRAME_NAME_MAX];     /* without folder and version: "libc"; empty: unknown */
};

/**
 * frame_read() - what a frame is
 * @text:    as in the input: "frame", "frame@dso", with or without "_[k]"
 * @program: the app's name: a DSO of that name is the app's
 */
void frame_read(const char *text, const char *program, const struct frame_rules *rules, struct frame *ret);
/* Has the text a DSO? */
bool frame_has_dso(const char *text);
