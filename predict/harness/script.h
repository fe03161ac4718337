/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What a person does with a program, as a text (docs/record.md): one step a line, "#" begins a comment.
 *
 *   key Return | type hello | click 100 50 | sleep 1s | wait-window TITLE | wait-quiet 2s | wait-text READY | end
 */

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_BYTES_MAX (1u << 20)
#define SCRIPT_LINE_MAX 4096
#define SCRIPT_TIME_MAX_S 3600
#define SCRIPT_PIXELS_MAX 16383

enum script_verb {
        SCRIPT_KEY,         /* text: the key's name, with modifiers before it: ctrl+shift+t */
        SCRIPT_TYPE,        /* text */
        SCRIPT_CLICK,       /* x, y */
        SCRIPT_SLEEP,       /* ns */
        SCRIPT_WAIT_WINDOW, /* text: a part of its title */
        SCRIPT_WAIT_QUIET,  /* ns without a change on the screen */
        SCRIPT_WAIT_TEXT,   /* text, that the program shows from now on */
        SCRIPT_END,         /* the program is asked to end */
};

struct script_step {
        enum script_verb verb;
        unsigned line; /* from 1 */
        char *text;    /* NULL: it has none */
        int x, y;
        uint64_t ns;
};

struct script {
        struct script_step *steps;
        size_t n;
};

/* The names of steps, as in a script. */
extern const char *const script_verbs[SCRIPT_END + 1];

/* What is wrong with a script. */
struct script_fault {
        unsigned line;
        const char *wants; /* what is needed there */
};

/* 0, and script_clear() it; -EINVAL, and @fault; -ENOMEM. */
int script_parse(const char *text, size_t length, struct script *ret, struct script_fault *fault);
void script_clear(struct script *script);
