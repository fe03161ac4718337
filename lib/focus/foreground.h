/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The foreground app from a source that the integrator configures:
 *
 *   file:/PATH       a file with the app's id; a change is dated by its modification time
 *   command:COMMAND  run by /bin/sh; prints a line with the app's id at each change
 *
 * An empty line or file means that no app has the foreground, "?" means unknown.
 */

#include "screen-log.h"
#include "util/log.h"

struct foreground;

/* @changes: gets the changes, must live longer. 0; -EINVAL: @what is neither of the two; -ENOMEM. */
int foreground_open(const char *what, struct screen_log *changes, const struct log *log, struct foreground **ret);
void foreground_close(struct foreground *foreground);
/* Starts the command at the first poll, when the service has given up the capabilities that opening sources needs. */
void foreground_poll(struct foreground *foreground, const struct sample *sample);
int foreground_fd(const struct foreground *foreground); /* readable: foreground_hear(); -1: none */
void foreground_hear(struct foreground *foreground, uint64_t boottime_ns);
