/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A script of a person's steps in a program (docs/record.md): a text with one step a line; "#" begins a comment.
 *
 *   key Return | type hello | click 100 50 [ctrl+3] | press 100 50 | move 120 60 | release 120 60 |
 *   scroll 100 50 down 3 | sleep 1s | wait-window TITLE | wait-quiet 2s | wait-text READY |
 *   close-window TITLE | end
 */

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_BYTES_MAX (1u << 20)
#define SCRIPT_LINE_MAX 4096
#define SCRIPT_TIME_MAX_S 3600
#define SCRIPT_PIXELS_MAX 16383
#define SCRIPT_SCROLL_MAX 1000

enum script_verb {
        SCRIPT_KEY,         /* text: the key's name, with modifiers before it: ctrl+shift+t */
        SCRIPT_TYPE,        /* text */
        SCRIPT_CLICK,       /* x, y, button, modifiers */
        SCRIPT_PRESS,       /* the same: the button stays down */
        SCRIPT_RELEASE,     /* the same */
        SCRIPT_MOVE,        /* x, y */
        SCRIPT_SCROLL,      /* x, y, button (of the wheel), modifiers, count */
        SCRIPT_SLEEP,       /* ns */
        SCRIPT_WAIT_WINDOW, /* text: a part of its title */
        SCRIPT_WAIT_QUIET,  /* ns without a change on the screen */
        SCRIPT_WAIT_TEXT,   /* text, that the program shows from now on */
        SCRIPT_CLOSE_WINDOW, /* text: a part of its title; the window is asked to close */
        SCRIPT_END,         /* the program is asked to end */
};

/* Keys that are held meanwhile; as words, each followed by "+". */
enum script_modifier {
        SCRIPT_CTRL = 1,
        SCRIPT_SHIFT = 2,
        SCRIPT_ALT = 4,
        SCRIPT_SUPER = 8,
};
#define SCRIPT_MODIFIERS 4

/* Numbers of buttons as in X11. The wheel is four buttons. */
enum script_button {
        SCRIPT_BUTTON_FIRST = 1, /* left, middle, right */
        SCRIPT_BUTTON_THIRD = 3,
        SCRIPT_WHEEL_UP = 4,
        SCRIPT_WHEEL_DOWN = 5,
        SCRIPT_WHEEL_LEFT = 6,
        SCRIPT_WHEEL_RIGHT = 7,
        SCRIPT_BUTTON_BACK = 8,
        SCRIPT_BUTTON_FORWARD = 9,
};

struct script_step {
        enum script_verb verb;
        unsigned line; /* from 1 */
        char *text;    /* NULL: it has none */
        /* Pixels from the upper left corner of the window that was last waited for, or of the screen before any was. */
        int x, y;
        unsigned button, modifiers, count;
        uint64_t ns;
};

struct script {
        struct script_step *steps;
        size_t n;
};

/* The names of steps, as in a script. */
extern const char *const script_verbs[SCRIPT_END + 1];
/* The names of bits of script_modifier, from the lowest on. */
extern const char *const script_modifiers[SCRIPT_MODIFIERS];
/* The names of directions of the wheel, from SCRIPT_WHEEL_UP on. */
extern const char *const script_wheel[SCRIPT_WHEEL_RIGHT - SCRIPT_WHEEL_UP + 1];

/* The part of "ctrl+shift+t" after the modifiers, whose bits are set in @modifiers. */
const char *script_take_modifiers(const char *word, unsigned *modifiers);

/* An error in a script. */
struct script_fault {
        unsigned line;
        const char *wants; /* description of the text that is needed there */
};

/* 0, and script_clear() it; -EINVAL, and @fault; -ENOMEM. */
int script_parse(const char *text, size_t length, struct script *ret, struct script_fault *fault);
void script_clear(struct script *script);
