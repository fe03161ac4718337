/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who has the screen, from whom the integrator names:
 *
 *   none             nobody says; then it is unknown, and screen time is nobody's
 *   file:PATH        the app's id in a file; changes count from its modification time
 *   command:COMMAND  /bin/sh runs it and reads its standard output: one app's id a line, at the moment it changes
 *
 * An empty line or file means nobody, "?" means unknown.
 */

#include <stdbool.h>

#include "source.h"

/* What a program's loop should watch for input, or -1; then foreground_hear() notes the moment of a change. */
int foreground_fd(const struct source *source);
void foreground_hear(struct source *source, uint64_t boottime_ns);
bool is_foreground(const struct source *source);
