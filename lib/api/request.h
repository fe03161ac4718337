/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "service.h"

struct field;

/* A question. Its first error stays, and request_ask() and request_print() return it; both free the request. */
struct request {
        struct cJSON *json;
        int err;
};

void request_begin(struct request *request, const char *ask, const struct joulecast_profile *profile); /* may be NULL */
/* Each leaves out what is not given: NULL, NaN, INT64_MIN or INT64_MAX, no texts. */
void request_text(struct request *request, const char *key, const char *text);
void request_number(struct request *request, const char *key, double number);
void request_time(struct request *request, const char *key, int64_t time_ns);
void request_texts(struct request *request, const char *key, const char *const *texts, size_t n);
/* 0: @ret is a line, free() it; a negative errno. */
int request_print(struct request *request, char **ret);
/* 0: @ret is the answer, cJSON_Delete() it; else a negative errno, after a sentence in the log. */
int request_ask(struct request *request, const struct joulecast_usage *usage, struct cJSON **ret);
/* The same, and reads the answer by its table (answer-fields.h). */
int request_read(struct request *request, const struct joulecast_usage *usage, const struct field *fields, void *ret);
