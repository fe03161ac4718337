/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A user's question, one line of JSON, and the answer, another line. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/service.h"
#include "forecast/whatif.h"
#include "moment.h"
#include "store/store.h"

enum ask {
        ASK_NOTHING,
        ASK_ADVISE,
        ASK_APPS,
        ASK_BUDGET,
        ASK_COST,
        ASK_FORGET,
        ASK_LIVE,
        ASK_PREDICT,
        ASK_SERVICE,
        ASK_SINCE,
        ASK_TIMELINE,
        ASK_USAGE,
        ASK_WHATIF,
};

struct question {
        enum ask ask;
        struct moment from;
        int64_t to_ns;
        char *app;
        double minutes; /* NaN: not given */
        uint64_t after; /* number of the last live answer; 0: there was none */
        struct budget_plan plan; /* its app is `app`; its reserves are owned */
        struct changes changes; /* its apps are owned */
        char *profile;          /* fingerprint of the profile that the client wants, or NULL */
};

#define QUESTION_ERROR_MAX 256

/* 0; -EINVAL, with a printable sentence in @error; -ENOMEM. @text is not trusted. */
int question_parse(const char *text, size_t length, struct question *ret, char error[QUESTION_ERROR_MAX]);
void question_clear(struct question *question);

struct sources;
struct interval;

/* What was used just now: intervals that follow one another. */
struct question_live {
        const struct interval *list;
        size_t n;
        uint64_t number;     /* of the last one */
};

struct answering_kept; /* the history that the last forecast read: answering.h */

struct question_source {
        const char *database;
        const char *profile; /* NULL: the machine's */
        const char *machine; /* folder of a recorded one; NULL: this one */
        bool live;           /* @database is this machine's, so its battery can be read */
        const struct sources *sources; /* of the service */
        /* Looks now, for what followed number @after. 0, or a negative errno. NULL: it cannot. */
        int (*look)(void *data, uint64_t after, struct question_live *ret);
        void *look_data;
        /* Forgets in the database that the service writes. 0, or a negative errno. NULL: it cannot. */
        int (*forget)(void *data, const struct store_forget *what, struct store_forgotten *ret);
        struct answering_kept *kept; /* NULL: nothing is kept from one question for the next */
};

/* The answer to a question of @uid, with a newline; free() it. NULL: out of memory. */
char *question_answer(const struct question_source *source, uid_t uid, const char *text, size_t length);
/* The answer for an error. */
char *question_refuse(int err, const char *sentence);
