/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a user of this machine asks, as one line of JSON, and the line that answers it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/service.h"
#include "forecast/forecast.h"

enum ask {
        ASK_NOTHING,
        ASK_APPS,
        ASK_BUDGET,
        ASK_COST,
        ASK_PREDICT,
        ASK_SERVICE,
};

struct question {
        enum ask ask;
        int64_t from_ns, to_ns;
        char *app;
        double minutes; /* NaN: not said */
        struct budget_plan plan; /* its app is `app`; its reserves are owned */
        char *profile;          /* the fingerprint of the one that the asker prices by, or NULL */
};

#define QUESTION_ERROR_MAX 256

/* 0; -EINVAL, and a sentence in @error that is safe to print; -ENOMEM. @text may be anything. */
int question_parse(const char *text, size_t length, struct question *ret, char error[QUESTION_ERROR_MAX]);
void question_clear(struct question *question);

/* What is answered from. */
struct sources;

struct question_source {
        const char *database;
        const char *profile; /* NULL: the machine's */
        bool live;           /* the battery is this machine's, and is read */
        const struct sources *sources; /* what it watches */
};

/* The answer to a line of @uid's, with its newline; free() it. NULL: there is no memory. */
char *question_answer(const struct question_source *source, uid_t uid, const char *text, size_t length);
/* What is answered where there is no question to answer. */
char *question_refuse(int err, const char *sentence);
