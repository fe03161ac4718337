/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The socket for users' questions. Without clients it needs neither a thread nor a timer. Questions are
 * answered between two polls, by users in turn, and in a limited part of that time, so that polls are not
 * delayed.
 */

#include <poll.h>

#include "question.h"
#include "util/log.h"

#define ANSWERS_CLIENTS_MAX 32
#define ANSWERS_FDS (ANSWERS_CLIENTS_MAX + 1)

struct answers;

/**
 * answers_open() - listen for questions
 * @path:     path of the socket; one left by an earlier service is replaced. All users may connect
 * @source:   must stay valid until answers_close()
 * @share_ns: time for answers between two calls of answers_rest()
 *
 * Return: 0; a negative errno, which is logged.
 */
int answers_open(const char *path, const struct question_source *source, uint64_t share_ns,
                 const struct log *log, struct answers **ret);
void answers_close(struct answers *answers);

/*
 * Gets the answer to a question that did not come through the socket, as one line of JSON; NULL: out of
 * memory.
 */
typedef void (*answers_reply_t)(void *data, const char *answer);

/*
 * answers_ask() - a question of @uid that waits for its turn among all others, and counts as one of that
 * user's connections
 *
 * Return: 0: @reply_to will be called, unless answers_forget() comes first; -EBUSY: that user asks too much; -E2BIG.
 */
int answers_ask(struct answers *answers, uid_t uid, const char *question, answers_reply_t reply_to, void *data);
void answers_forget(struct answers *answers, const void *data);

/* The following functions do nothing if @answers is NULL. */
void answers_watch(const struct answers *answers, struct pollfd fds[ANSWERS_FDS]);
uint64_t answers_deadline_ns(struct answers *answers); /* next timeout of a client; 0: now; UINT64_MAX: none */
/* Receives and sends, and computes at most one answer. @now_ns: CLOCK_BOOTTIME. */
void answers_serve(struct answers *answers, const struct pollfd fds[ANSWERS_FDS], uint64_t now_ns);
/* call after a poll: begins the next share of time, and drops data kept from the store */
void answers_rest(struct answers *answers);
