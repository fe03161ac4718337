/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* joulecast.conf. One table (config.c) makes the parser, the help text and the manual's list. */

#include <stdio.h>

#include "log.h"

struct config {
        double interval_s;
        char *collector;  /* "auto": the first that works */
        char *foreground; /* see focus/foreground.h */
        double raw_hours, hour_days, day_days, sync_s;
        char *warn_reserve; /* "none", or APP=TIME ... */
        double warn_minutes;
        char *warn_background, *warn_charger; /* "on" or "off" */
};

/**
 * config_load() - the defaults, and what a file says otherwise
 * @path: NULL: no file. One that is missing is no error
 * @log:  gets one sentence with file and line about what is wrong
 *
 * Return: 0; -EINVAL, and @ret untouched; another negative errno.
 */
int config_load(const char *path, const struct log *log, struct config *ret);
void config_clear(struct config *config);

/* The table as text for a terminal, and as scdoc for the manual. */
void config_print_help(FILE *file);
void config_print_manual(FILE *file);
