/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Output: JSON for programs, with every key, and null for unknown (cJSON prints
 * NaN as null); tables and sentences for people.
 */

#include "forecast/cost.h"
#include "forecast/timeline.h"
#include "forecast/usage-table.h"
#include "joulecast.h"
#include "model/profile.h"
#include "util/words.h"

struct cJSON;
struct field;
struct advice_list;
struct answer_live;

/* Prints it on stdout with a newline and frees it. 0, or 1 without memory or with a full disk. */
int answer_print_json(struct cJSON *json);
struct cJSON *answer_value(const struct cost_value *value); /* {"value", "low", "high"} */
struct cJSON *answer_text(const char *text);                /* always valid UTF-8; null for NULL */

/* The answers of the commands, and of the service's socket. */
struct cJSON *answer_public_value(struct joulecast_value value);
struct cJSON *answer_cost_json(const struct cost *cost, const struct profile *profile);
/* By a table of api/answer-fields.h. @profile: whose answer it is; NULL: it needs none. */
struct cJSON *answer_json(const struct field *fields, const void *answer, const struct profile *profile);
/* @commands: the command that makes each change on this device, NULL: not known; or NULL for no commands. */
struct cJSON *answer_advice_json(const struct advice_list *advice, char *const *commands,
                                 const struct profile *profile);
/* "validated": true, false, or null if that was not tried; "profile_basis": as profile_basis(). */
void answer_add_validated(struct cJSON *to, const struct profile *profile);
struct cJSON *answer_usage_json(const struct usage_table *table);
int answer_usage_from_json(const struct cJSON *json, struct usage_table **ret); /* 0; -EBADMSG; -ENOMEM */
/* @cost: as cost_make_now() returns it. */
struct cJSON *answer_live_json(const struct answer_live *live, const struct cost *cost, const struct profile *profile);
/* Reads that back. 0; -EBADMSG; -ENOMEM. */
int answer_live_from_json(const struct cJSON *json, struct answer_live *live, struct cost **ret);
int answer_timeline_from_json(const struct cJSON *json, struct timeline **ret); /* 0; -EBADMSG; -ENOMEM */
void answer_add_known(struct cJSON *to, const char *key, int is); /* true, false; below 0: null */
void answer_add_time(struct cJSON *to, const char *key, int64_t time_ns); /* INT64_MIN: null */
const char *answer_state(enum app_state state); /* _() makes it a word for people */
/* Translates the name of something that is not measured (model.h) for the user. Returns @buf, or a constant. */
const char *answer_part(const char *name, char *buf, size_t size);

/*
 * Prints nothing for a calibrated profile; else one line: whose numbers these are, and what a calibration would
 * bring.
 */
void answer_note_basis(const struct profile *profile);
/* Prints notes on the quality of the profile; they apply to every answer that is made with it. */
void answer_note_profile(const struct profile *profile);
int answer_cost_table(const struct cost *cost, const struct profile *profile);
int answer_parts_table(const struct cost *cost, const struct profile *profile); /* by component */

/* Shared by both tables: a line about the span, the name of an app, and notes. */
struct table;
void answer_cost_title(const struct cost *cost, const struct profile *profile);
void answer_cost_name(struct table *table, const struct cost *cost, const struct cost_app *app);
size_t answer_cost_shown(const struct cost *cost, struct cost_value *rest_j); /* apps with a row; the others' sum */
void answer_cost_notes(const struct cost *cost, const struct profile *profile);

/* Prints as many digits as the width of the interval justifies; without one, as the size does. @buf of 64. */
char *answer_print_value(const struct cost_value *value, const char *unit, char *buf); /* "8.41 %", "?" */
char *answer_print_bounds(const struct cost_value *value, char *buf);                  /* "8.12 .. 8.70"; "": unknown */
char *answer_print_number(double value, double resolution, char *buf); /* rounded to about @resolution; @buf of 32 */
char *answer_print_digits(double value, char *buf);                   /* with three digits, however small; @buf of 64 */
/*
 * "not resolved, below 0.31", for every table of coefficients, with the bound multiplied by @times; NULL: the
 * coefficient is resolved, or has no interval. @buf of 128
 */
char *answer_print_unresolved(const struct coefficient *coefficient, double half_width, double times, char *buf);
char *answer_print_duration(double seconds, char *buf);                /* "38 min", "2 h 5 min"; @buf of 32 */
/*
 * "2026-11-20 08:00:00 .. 2026-11-20 10:00:00 (2 h)"; if only a part was recorded, "(... recorded)". @recorded_s: NaN:
 * unknown; @buf of 128
 */
char *answer_print_span(int64_t from_ns, int64_t to_ns, double recorded_s, char *buf);
