/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a request gets: a status of HTTP and a body. */

#include "report.h"

struct answer {
        int status;
        char *body;         /* to be freed; NULL: no memory */
        const char *type;   /* its Content-Type; NULL: JSON */
        int retry_s;        /* for Retry-After; 0: none */
};

/* {"error":"sentence"} */
void answer_error(struct answer *answer, int status, const char *sentence);
/* A JSON object, which is freed; NULL: there was no memory for it. */
void answer_json(struct answer *answer, struct cJSON *object);
/* The database has failed; the log has why. */
void answer_unavailable(struct answer *answer);
/* The report for one client; @hex: its id; @made_s: when it was made. */
struct cJSON *answer_report(const struct report *report, const char *hex, int64_t made_s);
