/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What an answer is made from: the profile and the usage, opened anew for each question. The history that a forecast read is
 * kept for the next question until a poll is stored, as reading it is nearly all of the time that a forecast takes.
 */

#include "api/joulecast-private.h"
#include "question.h"

/* If the library fails, its last error message becomes the answer. */
struct answering {
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
        char sentence[1024];
};

/* For user @uid: their own apps, and one for all other users. 0, or a negative errno; close it in both cases. */
int answering_open(struct answering *answering, const struct question_source *source, uid_t uid, struct question *question);
/* Keeps the history, if it has one and @source can keep it. */
void answering_close(struct answering *answering, const struct question_source *source);

/* The user whose apps are shown apart; -1: everybody's are. */
int64_t answering_seen_by(uid_t uid);

int answering_kept_new(struct answering_kept **ret); /* 0; -ENOMEM */
void answering_kept_free(struct answering_kept *kept); /* or NULL */
/* Once something new is stored, or something is forgotten. True: it gave memory back. */
bool answering_kept_drop(struct answering_kept *kept);
