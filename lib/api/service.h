/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asking joulecastd, for whoever may not open usage.db: one line of JSON to its
 * socket, one line back, the answer of the commands. joulecastd(8) has the
 * words.
 */

#include <sqlite3.h>

#include "joulecast-private.h"

#define SERVICE_REQUEST_MAX 4096 /* bytes, with the newline */
#define SERVICE_FINGERPRINT_MAX 17

/*
 * The service that answers in place of @database, which may not be read. 0: @ret is its socket, free() it;
 * -EACCES: nobody is there, and @log heard it.
 */
int service_find(const char *database, const struct log *log, char **ret);

/* As the functions of the public API; @log heard what the service said of an error. */
int service_cost(struct joulecast_usage *usage, const struct joulecast_profile *profile, int64_t from_ns,
                 int64_t to_ns, struct cost **ret);
int service_forecast(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *app,
                     double minutes, struct forecast *ret);
int service_budget(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct budget_plan *plan, struct budget *ret);
int service_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns);
int service_apps(struct joulecast_usage *usage, struct cost **ret); /* of each app its times */
int service_battery(struct joulecast_usage *usage, double *percent, int *plugged);

/* Both ends price by one profile, or the answer would be another's. FNV-1a of its text in hexadecimal. */
int service_fingerprint(const struct profile *profile, char fingerprint[SERVICE_FINGERPRINT_MAX]);

/* "ENODATA" and back: errors as the answer names them. An unknown one is "EIO". */
const char *service_error_name(int err);
int service_error(const char *name);

/* An answer, taken apart by SQLite's functions for JSON: the library has SQLite already. */
struct service_answer {
        sqlite3 *db;
        sqlite3_stmt *get;
        char *text;
};

/* The process that listens at the socket @path; 0: another pid namespace's. */
int service_pid(const char *path);
/* The line that the service at the socket @path answers to the line @question; free() it. */
int service_exchange(const char *path, const char *question, char **ret);
/*
 * 0, and the answer in @ret, to be cleared;
 * a negative errno, and the log heard the sentence where there is one.
 */
int service_ask(const struct joulecast_usage *usage, const char *question, struct service_answer *ret);
/* @err of reading an answer; -EBADMSG, that it is none: the log heard that sentence. */
int service_check(const struct joulecast_usage *usage, int err);
int service_open(struct service_answer *answer);
void service_clear(struct service_answer *answer);
/* What @path ("$.app") of @json is; NULL: nothing, or null. free() it. */
char *service_text(struct service_answer *answer, const char *json, const char *path);
double service_number(struct service_answer *answer, const char *json, const char *path); /* NaN: likewise */
