/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sentences about two programs besides the table of tasks, for a terminal and a page, in the user's language. */

#include "comparison.h"

enum sentence {
        SENTENCE_SIDES, /* which program needs more */
        SENTENCE_WORK,  /* one of them did more */
        SENTENCE_SURE,  /* how many tasks differ */
        SENTENCE_WORTH, /* worth of the difference in minutes of battery, on this device */
        SENTENCE_NOTES, /* from here on: notes to keep in mind */
        SENTENCE_NOT_SEEN = SENTENCE_NOTES,
        SENTENCE_POSSIBLE,
        SENTENCE_RUNS,
        SENTENCE_CUT,
        SENTENCE_OWN,
        SENTENCE_UNNAMED,
        SENTENCE_FELL_BACK,
        SENTENCE_ALPHA,
        SENTENCE_COUNT,
};

#define SENTENCE_SIZE (FRAME_NAME_MAX + 1024)
#define SENTENCE_FACTS 5 /* whether the two can be compared at all */

/* @alpha: as requested. @shown: number of tasks shown. @buf: SENTENCE_SIZE bytes. NULL: there is nothing to say. */
const char *sentences_make(const struct comparison *comparison, int alpha, size_t shown, enum sentence which,
                           char *buf);
/* The name of a fact; its value is written to @buf of SENTENCE_SIZE bytes. */
const char *sentences_fact(const struct comparison *comparison, size_t which, char *buf);
/* Advice about a task, in @buf of SENTENCE_SIZE bytes; NULL: its calls were not counted. */
const char *sentences_advice(const struct comparison *comparison, const struct task *task, char *buf);
/* How many tasks differ for sure. They come first. */
size_t sentences_count_sure(const struct comparison *comparison);
