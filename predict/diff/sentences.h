/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What is said of two programs besides the tasks, on a terminal and on a page, in the user's language. */

#include "comparison.h"

enum sentence {
        SENTENCE_SIDES, /* what is compared */
        SENTENCE_SURE,  /* how many tasks differ */
        SENTENCE_NOTES, /* from here on: what to keep in mind */
        SENTENCE_NOT_SEEN = SENTENCE_NOTES,
        SENTENCE_POSSIBLE,
        SENTENCE_RUNS,
        SENTENCE_CUT,
        SENTENCE_OWN,
        SENTENCE_FELL_BACK,
        SENTENCE_COUNT,
};

#define SENTENCE_SIZE (FRAME_NAME_MAX + 1024)
#define SENTENCE_FACTS 5 /* whether the two can be compared at all */

/* @alpha: that was asked for; @shown: tasks. @buf of SENTENCE_SIZE. NULL: there is nothing to say. */
const char *sentences_make(const struct comparison *comparison, int alpha, size_t shown, enum sentence which, char *buf);
/* What the fact is about; its value into @buf of SENTENCE_SIZE. */
const char *sentences_fact(const struct comparison *comparison, size_t which, char *buf);
/* What to do about a task; NULL: its calls were not counted. */
const char *sentences_advice(const struct comparison *comparison, const struct task *task, char *buf);
/* How many tasks differ for sure. They come first. */
size_t sentences_count_sure(const struct comparison *comparison);
