/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes a user's input in the windows of a program as steps of an input script (harness/script.h). */

#include <stdint.h>
#include <stdio.h>

enum input_kind {
        INPUT_KEY,
        INPUT_PRESS,   /* a button is pressed, or the wheel goes on by a step */
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
        uint32_t quiet_ms;                 /* time since the last change on the screen; 0: unknown */
        const struct input_window *window; /* NULL: the window of the input before */
        int x, y;                          /* in that window */
        unsigned button, modifiers;        /* as in struct script_step */
        const char *key;                   /* X name of the key */
        const char *letter;                /* letter that the key types, as UTF-8; NULL: none */
};

#define INPUT_TYPED_MAX 200 /* bytes in a line of a script */

struct input_steps {
        FILE *out;
        size_t n;                    /* number of inputs, without motion of the pointer and releases of buttons */
        uint32_t last_ms;
        uint64_t window;             /* 0: none yet */
        char typed[INPUT_TYPED_MAX]; /* letters that are not written yet */
        size_t n_typed;
        struct input held;           /* press of a button that is not written yet, as it may become a click */
        struct input wheel;          /* steps of the wheel that are not written yet */
        unsigned n_wheel;
        uint32_t held_buttons, moved_ms; /* held_buttons: bits of the buttons whose press is written */
        int moved_x, moved_y;
};

/* Adds an input. Pointers in @in need not stay valid. */
void input_steps_add(struct input_steps *steps, const struct input *in);
/* Writes the steps that are still held back. */
void input_steps_end(struct input_steps *steps);
