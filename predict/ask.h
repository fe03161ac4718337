/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* predict and budget ask the public API, as any app may. */

#include "joulecast.h"
#include "options.h"

struct ask {
        struct joulecast_context *context;
        struct joulecast_profile *profile;
        struct joulecast_usage *usage;
};

/* Opens what @options say. The sentence is told; an exit code. */
int ask_open(const struct options *options, struct ask *ret);
void ask_close(struct ask *ask);
/* An exit code for what an API call returned, with its sentence where the library has told none. */
int ask_failed(int err);

/* "10 minutes", "2 h 5 min" */
char *ask_minutes(double minutes, char *buf);
