/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* predict and budget ask the public API, as any app may. */

#include <stdbool.h>

#include "joulecast.h"
#include "options.h"

struct ask {
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
};

/* Opens the files of @options. An exit code, after its sentence. */
int ask_open(const struct options *options, struct ask *ret);
int ask_open_usage(const struct options *options, struct ask *ret); /* without a profile */
/* As ask_open(), but its usage is NULL where nothing is recorded, and @handler gets the library's sentences. */
int ask_try(const struct options *options, joulecast_log_handler handler, void *data, struct ask *ret);
void ask_close(struct ask *ask);
/* The exit code for an API call's return value @err; logs a sentence first where the library has logged none. */
int ask_failed(int err);

/* Finds the time of @moment, such as an event. An exit code, after its sentence. */
int ask_moment(struct joulecast_usage *usage, struct moment *moment);
/* CODE_USAGE after a sentence where @from is not before @to_ns, else CODE_OK. */
int ask_check_span(const char *command, const struct moment *from, int64_t to_ns);

/*
 * "10 minutes", "2 h 5 min", "3 d 4 h": whole minutes, rounded down, in the form that suits the larger of it and the
 * number that is printed @beside it (0: none). @buf of 32 bytes.
 */
char *ask_minutes(double minutes, double beside, char *buf);
/*
 * Minutes of a budget for texts. Before ten minutes were recorded, no bound is given; an upper bound that is more than
 * ten times the likely time is left out, too. Such bounds are NaN.
 */
struct joulecast_value ask_told_minutes(const struct joulecast_budget *budget);
bool ask_too_early(const struct joulecast_budget *budget);
/* "held at 80 % by the charge limit". @buf of 96. */
char *ask_held(double percent, double limit_percent, char *buf);
/* To the second: "90 s", "10 min 30 s", else as above. */
char *ask_span(double minutes, char *buf);
