/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A user's question, one line of JSON, and its answer, another line. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/service.h"
#include "forecast/endure.h"
#include "forecast/whatif.h"
#include "answer/moment.h"
#include "store/store.h"

enum ask {
        ASK_NOTHING,
        ASK_ADVISE,
        ASK_APPS,
        ASK_BUDGET,
        ASK_COST,
        ASK_ENDURE,
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
        struct budget_plan plan; /* plan.app is `app`; its reserves are owned */
        struct changes changes; /* changes.apps are owned */
        struct endure_goal goal; /* goal.app is `app`; the list of apps to do without is owned */
        char *profile;          /* fingerprint of the profile that the client wants, or NULL */
};

#define QUESTION_ERROR_MAX 256

/* @text is untrusted. Returns 0; -EINVAL, with a printable sentence in @error; -ENOMEM. */
int question_parse(const char *text, size_t length, struct question *ret, char error[QUESTION_ERROR_MAX]);
void question_clear(struct question *question);

struct sources;
struct interval;

/* Usage of the last seconds: consecutive intervals. */
struct question_live {
        const struct interval *list;
        size_t n;
        uint64_t number;     /* number of the last one */
};

struct answering_kept; /* history read for the last forecast (answering.h) */

struct question_source {
        const char *database;
        const char *profile; /* NULL: the machine's profile */
        const char *machine; /* folder of a recorded machine; NULL: this machine */
        bool live;           /* @database is this machine's, so its battery can be read */
        const struct sources *sources; /* sources of the service */
        /* Reads now, for usage after number @after. Returns 0 or a negative errno. NULL: not available. */
        int (*look)(void *data, uint64_t after, struct question_live *ret);
        void *look_data;
        /*
         * Forgets from the database that the service writes. Returns 0 or a negative errno. NULL: not
         * available.
         */
        int (*forget)(void *data, const struct store_forget *what, struct store_forgotten *ret);
        struct answering_kept *kept; /* NULL: nothing is kept between questions */
};

/* Answers a question of @uid, with a newline; free() the result. NULL: out of memory. */
char *question_answer(const struct question_source *source, uid_t uid, const char *text, size_t length);
/* Makes the answer for an error. */
char *question_refuse(int err, const char *sentence);
