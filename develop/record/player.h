/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Plays a script to a program: in a terminal of its own, an X server (by XTEST), or a Wayland compositor. */

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "harness/script.h"

struct player;

/* A terminal or display that a script is played to: keys, pointer, windows. */
struct stage;
struct stage_ops {
        /* Functions for input: 0; -ENOTSUP after its sentence: this stage has no such input; another negative errno. */

        /* Called before the program starts with each step of the script. NULL: the stage need not know. */
        void (*expect)(struct stage *stage, const struct script_step *step);
        int (*key)(struct stage *stage, const char *name);
        int (*type)(struct stage *stage, const char *text);
        /* @x, @y: from the corner of the window that was found last; of the screen if none was found yet. */
        int (*move)(struct stage *stage, int x, int y);
        /* Modifiers go down before a button, and up after it. */
        int (*button)(struct stage *stage, unsigned button, unsigned modifiers, bool down);
        /* Is the window there? If so, it gets the keyboard. */
        bool (*has_window)(struct stage *stage, const char *title);
        /* 1: the window was asked to close; 0: it is not there. */
        int (*close_window)(struct stage *stage, const char *title);
        /* Reads what the program shows; its text, if there is any, is added to @seen. True: something changed. */
        bool (*look)(struct stage *stage, char **seen, size_t *length);
        int (*fd)(struct stage *stage);
        void (*started)(struct stage *stage); /* called when the child has its own copies of the files for it */
        void (*free)(struct stage *stage);
};
struct stage {
        const struct stage_ops *ops;
};

enum player_where {
        PLAYER_DISPLAY, /* X */
        PLAYER_WAYLAND,
        PLAYER_TERMINAL,
};

int stage_terminal(struct child_place *place, struct stage **ret);
/* -ENOTSUP after its sentence: this build has no XTEST. */
int stage_display(struct child_place *place, struct stage **ret);
/* -ENOTSUP after its sentence: this build has no Wayland. */
int stage_wayland(struct child_place *place, struct stage **ret);

/* Opens the stage, and fills in @place, where the program is to run. 0; a negative errno after its sentence. */
int player_new(const struct script *script, enum player_where where, struct child_place *place, struct player **ret);
void player_free(struct player *player);
void player_started(struct player *player);
int player_fd(const struct player *player);
/* For how long from @now_ns on it has nothing to do; UINT64_MAX: the script has ended. */
uint64_t player_wait_ns(const struct player *player, uint64_t now_ns);
/*
 * Plays the steps that are due. 0; -ETIMEDOUT after its sentence: the window, text, quiet or end that is waited for
 * did not come; another negative errno.
 */
int player_step(struct player *player, uint64_t now_ns);
/* Has the script come to its end? */
bool player_ended(const struct player *player);
