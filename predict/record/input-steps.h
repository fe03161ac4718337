/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a user did in the windows of a program, as the steps of an input script (harness/script.h). */

#include <stdint.h>
#include <stdio.h>

enum input_kind {
        INPUT_KEY,
        INPUT_PRESS,   /* of a button, or a step of the wheel */
        INPUT_RELEASE,
        INPUT_MOVE,
        INPUT_CLOSE,   /* the window was asked to close */
};

struct input_window {
        uint64_t id;
        const char *title;   /* "": it has none */
        uint32_t since_ms;   /* when it was first seen */
        int width, height;
};

struct input {
        enum input_kind kind;
        uint32_t time_ms;                  /* by a clock that may wrap */
        uint32_t quiet_ms;                 /* for so long nothing had changed on the screen; 0: unknown */
        const struct input_window *window; /* NULL: the one before */
        int x, y;                          /* in that window */
        unsigned button, modifiers;        /* as in struct script_step */
        const char *key;                   /* its X name */
        const char *letter;                /* what it writes, as UTF-8; NULL: nothing */
};

#define INPUT_TYPED_MAX 200 /* bytes in a line of a script */

struct input_steps {
        FILE *out;
        size_t n;                    /* what was done, without the motion of the pointer */
        uint32_t last_ms;
        uint64_t window;             /* 0: none yet */
        char typed[INPUT_TYPED_MAX]; /* letters that are not written yet, */
        size_t n_typed;
        struct input held;           /* a button that may become a click, */
        struct input wheel;          /* and steps of the wheel */
        unsigned n_wheel;
        uint32_t held_buttons, moved_ms; /* bits of those whose press is written */
        int moved_x, moved_y;
};

/* @in: pointers in it need not live on. */
void input_steps_add(struct input_steps *steps, const struct input *in);
/* Writes what is still held back. */
void input_steps_end(struct input_steps *steps);
