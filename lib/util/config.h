/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* joulecast.conf. The parser, the help text and the manual's list all come from one table (config.c). */

#include <stdbool.h>
#include <stdio.h>

#include "log.h"

struct config {
        double interval_s;
        char *collector;  /* "auto": the first that works */
        char *foreground; /* see focus/focus.c */
        char *backlight;  /* "auto", or its name */
        char *counters;   /* "yes" or "no" */
        double raw_hours, hour_days, day_days, sync_s;
        char *warn_reserve; /* "none", or APP=TIME ... */
        double warn_minutes;
        char *warn_background, *warn_charger; /* "on" or "off" */
};

/**
 * config_load() - load the defaults, overridden by a file
 * @path: NULL: no file. A missing file is no error
 * @log:  gets one sentence with file and line about an error
 *
 * Return: 0; -EINVAL, and @ret untouched; another negative errno.
 */
int config_load(const char *path, const struct log *log, struct config *ret);
/* Reads only the backlight from the joulecast.conf in force; "auto" if that cannot be read. 0; -ENOMEM. */
int config_read_backlight(char **ret);
/* May hardware counters be used, by @config, or by the joulecast.conf in force? True if that cannot be read. */
bool config_uses_counters(const struct config *config);
int config_read_counters(bool *ret); /* 0; -ENOMEM */
void config_clear(struct config *config);

/* The table as text for a terminal, and as scdoc for the manual. */
void config_print_help(FILE *file);
void config_print_manual(FILE *file);
