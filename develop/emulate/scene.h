/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* joulecast-stage, which gives an app a display or terminal and plays its input. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record.h"
#include "util/log.h"

struct scene_plan {
        const char *script; /* NULL: nothing is played */
        bool terminal;      /* else an X server */
        const char *pixels; /* size of the X server's screen, as in "1080x1920" */
};

struct scene {
        pid_t pid;
        int process;        /* its pidfd */
        int connection;     /* writing a byte starts the script */
        int frames;         /* file of struct frame_record, with times of CLOCK_MONOTONIC */
        char place[64];     /* a DISPLAY, or the path of a terminal */
        bool terminal;
};

#define SCENE_NONE ((struct scene){ .pid = -1, .process = -1, .connection = -1, .frames = -1 })

/* Starts it, and waits until the place is there. 0, and scene_end() it; a negative errno after a sentence. */
int scene_start(const struct scene_plan *plan, const struct log *log, struct scene *ret);
/* Ends it. 0; -ECANCELED: it had failed before, and printed its sentence. */
int scene_end(struct scene *scene);
/*
 * The pictures so far, with their times since @origin_ns. To be called before scene_end(). 0, and free()
 * them; -ENOMEM.
 */
int scene_frames(const struct scene *scene, int64_t origin_ns, struct frame_record **ret, size_t *ret_n);
