/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Plays a script into a program: into a terminal of its own, an X server (by XTEST), or a Wayland compositor. */

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "harness/script.h"

struct player;

/* What a script is played into: keys, pointer, windows. */
struct stage;
struct stage_ops {
        /* 0; -ENOTSUP after its sentence: there is no such thing here; another negative errno. */
        /* Before the program starts: what is going to be typed. NULL: it need not know. */
        void (*expect)(struct stage *stage, const struct script_step *step);
        int (*key)(struct stage *stage, const char *name);
        int (*type)(struct stage *stage, const char *text);
        /* From the corner of the window that was found last; of the screen before. */
        int (*move)(struct stage *stage, int x, int y);
        /* Modifiers go down before a button, and up after it. */
        int (*button)(struct stage *stage, unsigned button, unsigned modifiers, bool down);
        /* It is there, and gets the keyboard. */
        bool (*has_window)(struct stage *stage, const char *title);
        /* 1: it was asked to close; 0: it is not there. */
        int (*close_window)(struct stage *stage, const char *title);
        /* Reads what the program shows; its text, if there is any, is added to @seen. True: something changed. */
        bool (*look)(struct stage *stage, char **seen, size_t *length);
        int (*fd)(struct stage *stage);
        void (*started)(struct stage *stage); /* the child has its ends of what we opened */
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

/* Opens the stage, and fills in where the program is to run. 0; a negative errno after its sentence. */
int player_new(const struct script *script, enum player_where where, struct child_place *place, struct player **ret);
void player_free(struct player *player);
void player_started(struct player *player);
int player_fd(const struct player *player);
/* Until when it has nothing to do, from @now_ns on. */
uint64_t player_wait_ns(const struct player *player, uint64_t now_ns);
/* Does what is due. 0; -ETIMEDOUT after its sentence: what the script waits for did not come; another negative errno. */
int player_step(struct player *player, uint64_t now_ns);
/* The script came to its end. */
bool player_ended(const struct player *player);
