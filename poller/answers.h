/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The socket for users' questions. Without clients it needs neither a thread nor a timer. Questions are answered
 * between two polls, in a limited share of that time, so that polls are not delayed, and in turn by user.
 */

#include <poll.h>

#include "question.h"
#include "util/log.h"

#define ANSWERS_CLIENTS_MAX 32
#define ANSWERS_FDS (ANSWERS_CLIENTS_MAX + 1)

struct answers;

/**
 * answers_open() - listen for questions
 * @path:     of the socket; one that an earlier service left is replaced. All users may connect
 * @source:   must stay valid until answers_close()
 * @share_ns: time for answers between two calls of answers_rest()
 *
 * Return: 0; a negative errno, which is logged.
 */
int answers_open(const char *path, const struct question_source *source, uint64_t share_ns,
                 const struct log *log, struct answers **ret);
void answers_close(struct answers *answers);

/* All of these do nothing where @answers is NULL. */
void answers_watch(const struct answers *answers, struct pollfd fds[ANSWERS_FDS]);
uint64_t answers_deadline_ns(struct answers *answers); /* of the next client, 0: now; UINT64_MAX: none */
/* Receives and sends, and computes at most one answer. @now_ns: CLOCK_BOOTTIME. */
void answers_serve(struct answers *answers, const struct pollfd fds[ANSWERS_FDS], uint64_t now_ns);
void answers_rest(struct answers *answers); /* after a poll: the next share begins */
