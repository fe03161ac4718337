/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Client of joulecastd, for users who may not open usage.db: one line of JSON to
 * its socket, one line back. joulecastd(8) documents both.
 */

#include "joulecast-private.h"

struct cJSON;

#define SERVICE_REQUEST_MAX 4096 /* bytes, with the newline */
#define SERVICE_FINGERPRINT_MAX 17

/*
 * Finds the service for a @database that may not be read. 0: @ret is the service's socket, free() it; -EACCES: no
 * service answers, and @log got a sentence.
 */
int service_find(const char *database, const struct log *log, char **ret);

/* As the functions of the public API; the log gets the service's sentence about an error. */
int service_cost(struct joulecast_usage *usage, const struct joulecast_profile *profile, int64_t from_ns,
                 int64_t to_ns, struct cost **ret);
int service_forecast(struct joulecast_usage *usage, const struct joulecast_profile *profile, const char *app,
                     double minutes, struct forecast *ret);
int service_budget(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct budget_plan *plan, struct budget *ret);
int service_endure(struct joulecast_usage *usage, const struct joulecast_profile *profile,
                   const struct endure_goal *goal,
                   struct endurance *ret);
int service_gain(struct joulecast_usage *usage, const struct joulecast_profile *profile, const struct changes *changes,
                 struct gain *ret);
int service_advise(struct joulecast_usage *usage, const struct joulecast_profile *profile, struct advice_list *ret);
int service_span(struct joulecast_usage *usage, int64_t *from_ns, int64_t *to_ns);
int service_since(struct joulecast_usage *usage, enum joulecast_event event, int64_t *time_ns);
int service_apps(struct joulecast_usage *usage, struct cost **ret); /* the times of each app */
int service_battery(struct joulecast_usage *usage, double *percent, int *plugged);

/* Client and service must use the same profile. FNV-1a of its text in hexadecimal. */
int service_fingerprint(const struct profile *profile, char fingerprint[SERVICE_FINGERPRINT_MAX]);

/* Errors by name ("ENODATA") and back; others are "EIO". */
const char *service_error_name(int err);

/* The process that listens at the socket @path; 0: another pid namespace's. */
int service_pid(const char *path);
/* The service answers between polls, one request after another; a month of polls takes a second. */
#define SERVICE_PATIENCE_S 60
/*
 * Sends the line @question to the service at the socket @path, and waits so long for each part of it;
 * free() the answer.
 */
int service_exchange(const char *path, const char *question, unsigned patience_s, char **ret);
/* The socket where it answers: of the environment, else the system's. */
const char *service_path(void);
/* Returns @err; logs a sentence if it is -EBADMSG. */
int service_check(const struct joulecast_usage *usage, int err);
/* Parses an answer, which may be hostile. 0: cJSON_Delete() it; -EBADMSG; -ENOMEM. */
int service_parse(const char *text, struct cJSON **ret);
void service_json_freep(struct cJSON **json);
/* The error that an answer tells, and its words, or ""; 0: none; -EBADMSG: @json is no answer. */
int service_error_in(const struct cJSON *json, char *sentence, size_t size);
