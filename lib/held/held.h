/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The source of parts that are on while an app holds them: sound, cameras, and the GPS as somebody tells who asks for
 * it. Sound and cameras are looked at with each poll; a change since the last one was in the middle, on average. Who has
 * a server play is told when it changes.
 */

#include "app/app.h"
#include "held-tally.h"
#include "source/source.h"

/*
 * @apps: not owned; NULL: apps cannot be found by name.
 * @descriptors: those of all processes that are counted can be read, so that it is known who has a camera.
 */
int held_open(int root_fd, struct apps *apps, bool descriptors, struct source **ret);
bool held_is(const struct source *source);
/* Adds the app that a desktop id names. */
int held_add_app(struct source *source, const char *desktop_id, struct holders *holders);
/*
 * From now on, these play or record through servers of sound, as their sessions tell. Copied. What a server plays at a
 * poll for which nobody was told is nobody's.
 */
int held_set_players(struct source *source, const pid_t *pids, size_t n, size_t others);
/* From now on. @holders: NULL where it is not known whether the GPS is on. */
int held_set_gps(struct source *source, const struct holders *holders);
