/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The profile and the usage from which an answer is computed, opened for each question. The history read for
 * a forecast is kept for the next question until a poll is stored, since reading it takes nearly all of a
 * forecast's time.
 */

#include "api/joulecast-private.h"
#include "question.h"

/* If the library fails, its last error message is the answer. */
struct answering {
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
        char sentence[1024];
};

/*
 * Opens them for user @uid, with the user's own apps, and one app for all other users. Returns 0 or a
 * negative errno; close it in both cases.
 */
int answering_open(struct answering *answering, const struct question_source *source, uid_t uid,
                   struct question *question);
/* Keeps the history, if it has one and @source can keep it. */
void answering_close(struct answering *answering, const struct question_source *source);

/* The user whose apps are shown separately; -1: everybody's are. */
int64_t answering_seen_by(uid_t uid);

int answering_kept_new(struct answering_kept **ret); /* returns 0 or -ENOMEM */
void answering_kept_free(struct answering_kept *kept); /* @kept may be NULL */
/* Call it after something was stored or forgotten. Returns whether memory was freed. */
bool answering_kept_drop(struct answering_kept *kept);
