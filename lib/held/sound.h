/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds running ALSA streams and the processes that opened them, in /proc/asound/cardN/pcmN/subN/status,
 * which all users may read (sound/core/pcm.c of Linux).
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "held-tally.h"

/* Returns false if the stream is closed or does not run. @owner: the thread that opened it; 0: unknown. */
bool sound_parse_status(const char *text, pid_t *owner);

/*
 * Parses a line of /proc/asound/pcm, "00-03: HDMI 0 : HDMI 0 : playback 1 : capture 2". Returns the number of
 * streams after @direction, " : playback" or " : capture".
 */
unsigned sound_parse_pcm(const char *line, const char *direction, unsigned *card, unsigned *device);

/*
 * Finds the processes that play or record. @ret: cleared first; end with holders_clear(). Returns 0;
 * -ENODATA: the machine shows no sound devices; -ENOMEM.
 */
int sound_find(int root_fd, struct holders *ret);

/* Process of a thread; 0: it is gone, or a server that acts for others. */
pid_t held_client(int root_fd, pid_t thread);
