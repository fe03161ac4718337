/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A question to the service, and the values of its answer. */

#include "service.h"

/* A request in JSON; SQLite builds it, and quotes its texts. */
struct request {
        struct service_answer json;
        char *text;
};

/* Begins a request with @profile; NULL: it needs none. 0; -ENOMEM. */
int request_begin(struct request *request, const char *ask, const struct joulecast_profile *profile);
void request_clear(struct request *request);
/* Sets @path ("$.app", "$.reserve[#]") of the request to the value of @sql, which may use ?3 and ?4. */
int request_set(struct request *request, const char *path, const char *sql, const char *text, double number);
int request_set_text(struct request *request, const char *path, const char *text);
int request_set_number(struct request *request, const char *path, double number); /* NaN: it is left out */
/* 0: @ret is the answer, service_clear() it; else a negative errno, after a sentence in the log. */
int request_ask(const struct joulecast_usage *usage, const struct request *request, struct service_answer *ret);

/* {"value", "low", "high"} at @path of @json; NaN: missing or null. */
struct cost_value service_value(struct service_answer *answer, const char *json, const char *path);
/* An element of a list of possible changes. */
struct service_action {
        char *word;             /* "action"; free() it */
        char *app, *name;       /* NULL: none; free() them */
        double brightness_percent;
        struct cost_value gained;
};

/* The element @path of @answer. 0; -ENOENT: there is none. */
int service_action(struct service_answer *answer, const char *path, struct service_action *ret);
void service_action_clear(struct service_action *action);

/* A text of the whole answer; "": missing or null. */
void service_copy_text(struct service_answer *answer, const char *path, char *buf, size_t size);
