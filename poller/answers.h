/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The socket where users ask what their apps cost. It has no thread and no
 * timer while nobody asks, and answers between two polls: who asks without end
 * gets half of the time, and no poll is lost.
 */

#include <poll.h>

#include "question.h"
#include "util/log.h"

#define ANSWERS_CLIENTS_MAX 16
#define ANSWERS_FDS (ANSWERS_CLIENTS_MAX + 1)

struct answers;

/**
 * answers_open() - listen
 * @path:     of the socket; one that is left over from a dead service is replaced. All users may connect
 * @source:   kept, with what it points to, as long as the socket is
 * @share_ns: most time that is spent on answers between two answers_rest()
 *
 * Return: 0; a negative errno, and @log heard it.
 */
int answers_open(const char *path, const struct question_source *source, uint64_t share_ns,
                 const struct log *log, struct answers **ret);
void answers_close(struct answers *answers);

/* All of these do nothing where @answers is NULL. */
void answers_watch(const struct answers *answers, struct pollfd fds[ANSWERS_FDS]);
uint64_t answers_deadline_ns(const struct answers *answers); /* when somebody's patience ends; UINT64_MAX: no one's */
/* Takes what has come, gives at most one answer. @now_ns: CLOCK_BOOTTIME. */
void answers_serve(struct answers *answers, const struct pollfd fds[ANSWERS_FDS], uint64_t now_ns);
void answers_rest(struct answers *answers); /* a poll was made: the next share begins */
