/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The source of parts that are on while an app uses them: sound, cameras, and GPS.
 *
 * Sound and cameras are read at each poll; a change since the last poll is dated in the middle, which is
 * right on average. Clients of sound servers and of the GPS are reported at each change by those who know
 * them.
 */

#include "app/app.h"
#include "held-tally.h"
#include "source/source.h"

/*
 * @apps: not owned; NULL: apps cannot be found by name.
 * @descriptors: the descriptors of all counted processes can be read, so the users of cameras are known.
 */
int held_open(int root_fd, struct apps *apps, bool descriptors, struct source **ret);
bool held_is(const struct source *source);
/* Adds the app with a desktop id. */
int held_add_app(struct source *source, const char *desktop_id, struct holders *holders);
/*
 * Sets the processes that now play or record through sound servers, as their sessions report. The list is
 * copied. A server's sound at a poll before any report belongs to nobody.
 */
int held_set_players(struct source *source, const pid_t *pids, size_t n, size_t others);
/* Sets the processes that now use the GPS. @holders NULL: it is unknown whether the GPS is on. */
int held_set_gps(struct source *source, const struct holders *holders);
