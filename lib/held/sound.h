/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which streams of ALSA run, and who opened them: /proc/asound/cardN/pcmN/subN/status, which all users may read.
 * sound/core/pcm.c of Linux.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "held-tally.h"

/* False: it is closed, or does not run. @owner: the thread that opened it; 0: unknown. */
bool sound_parse_status(const char *text, pid_t *owner);

/*
 * A line of /proc/asound/pcm, "00-03: HDMI 0 : HDMI 0 : playback 1 : capture 2": how many streams a device has in
 * " : playback" or " : capture".
 */
unsigned sound_parse_pcm(const char *line, const char *direction, unsigned *card, unsigned *device);

/* Who plays or records. @ret: filled anew, holders_clear() it. 0; -ENODATA: this machine shows no sound; -ENOMEM. */
int sound_find(int root_fd, struct holders *ret);

/* The process of a thread, or 0: it is gone, or a server that acts for others. */
pid_t held_client(int root_fd, pid_t thread);
