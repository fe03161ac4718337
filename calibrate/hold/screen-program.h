/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-picture as a child: shows a plain picture, or switches the screen off. The screen is restored when it ends.
 */

#include <stdbool.h>

#include "program.h"
#include "util/log.h"

struct screen_program {
        struct program program; /* pid 0: not running */
        char what[16];          /* "wayland", "x11", "kms", "console" */
        bool white;             /* it can show pictures */
        bool can_switch;        /* it can switch the screen off, as far as is known */
};

/*
 * @name: the program's name or path. -ENODEV: no screen can be held, or there is no such program; -ETIMEDOUT:
 * no answer.
 */
int screen_program_start(const char *name, struct screen_program *ret);
/*
 * @word: "on" (white), "grey", "black" or "off". 0; -EOPNOTSUPP: this screen cannot do that; after "off" @can_switch
 * is now false; -EPIPE: the program has ended.
 */
int screen_program_show(struct screen_program *screen, const char *word);
void screen_program_end(struct screen_program *screen); /* safe to repeat */
