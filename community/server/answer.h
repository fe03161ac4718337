/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The response to a request: an HTTP status and a body. */

#include "report.h"

struct answer {
        int status;
        char *body;         /* to be freed; NULL: out of memory */
        const char *type;   /* Content-Type; NULL: JSON */
        int retry_s;        /* seconds for Retry-After; 0: no such header */
};

/* Sets the body to {"error":"sentence"}. */
void answer_error(struct answer *answer, int status, const char *sentence);
/* Sets the body to a JSON object and frees the object; NULL: out of memory. */
void answer_json(struct answer *answer, struct cJSON *object);
/* The database failed; the log already has the reason. */
void answer_unavailable(struct answer *answer);
/* Makes the report for one client. @hex: the client's id; @made_s: when the report was made. */
struct cJSON *answer_report(const struct report *report, const char *hex, int64_t made_s);
