/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* joulecast-picture as a child: white and lit, or off. What it did to the screen ends with it, or with us. */

#include <stdbool.h>

#include "helper/program.h"
#include "util/log.h"

struct screen_program {
        struct program program; /* pid 0: none runs */
        char what[16];          /* "wayland", "x11", "kms", "console" */
        bool white;             /* it can show a picture */
        bool can_switch;        /* it can switch the screen off, as far as it knows */
};

/*
 * @name: of the program, or its path. -ENODEV: no screen can be held here, or the program is not there;
 * -ETIMEDOUT: it does not answer.
 */
int screen_program_start(const char *name, struct screen_program *ret);
/*
 * 0; -EOPNOTSUPP: this screen cannot, and @can_switch is false now; -EPIPE: the program is gone, and the
 * screen as it was.
 */
int screen_program_light(struct screen_program *screen, bool on);
void screen_program_end(struct screen_program *screen); /* safe to repeat */
