/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Options and exit codes, the same for each command of `joulecast`. A command
 * writes its own options as a table; the shared ones come on top.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"

enum exit_code {
        CODE_OK = 0,
        CODE_FAILED = 1,
        CODE_USAGE = 2,   /* the command line is wrong */
        CODE_NO_DATA = 3, /* there is nothing to answer from */
};

/* What all commands understand. NULL: not said. */
struct options {
        const char *device;
        const char *profile;
        const char *database;
        const char *observations;
        const char *machine;
        bool json;
        bool yes;
};

/*
 * One option: a switch, a text, or a function that takes each value. 0; -EINVAL: of another form than it wants;
 * -ERANGE: too much; -E2BIG: too many values.
 */
struct option_row {
        const char *name;         /* without dashes */
        const char *argument;     /* how help calls its value; NULL: a switch */
        const char *help;
        const char *wants;        /* which values it takes, where there are wrong ones */
        const char *range;        /* and which of these, where there are too large ones; NULL: a whole number's */
        bool *flag;
        const char **text;
        int (*parse)(void *data, const char *value);
        void *data;
};

/* The shared options that a command heeds; it takes the others, too, and does nothing with them. */
enum shared_option {
        SHARED_DEVICE = 1 << 0,
        SHARED_PROFILE = 1 << 1,
        SHARED_DATABASE = 1 << 2,
        SHARED_OBSERVATIONS = 1 << 3,
        SHARED_MACHINE = 1 << 4,
        SHARED_JSON = 1 << 5,
        SHARED_YES = 1 << 6,
};

struct command {
        const char *name;         /* "cost" */
        const char *arguments;    /* "[--from T] [--to T]" */
        const char *help;         /* what it does, a paragraph */
        const struct option_row *rows;
        size_t n_rows;
        size_t max_positional;
        unsigned shared;          /* enum shared_option, for help */
};

/* The programs' log: one sentence on stderr. */
extern const struct log program_log;

/**
 * options_parse() - read a command line
 * @positional: gets what is no option, up to command->max_positional
 * @exit_code:  what to exit with if there is nothing more to do
 *
 * Return: true: go on; false: exit with @exit_code (help was shown, or the mistake was told).
 */
bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   const char **positional, int *exit_code);

#define MINUTES_WANTED "a time like 10, 90s or 1h30m"
#define MINUTES_RANGE "at most 1000000 minutes"
#define PERCENT_WANTED "a percentage, 0 to 100"

/* Values. 0; -EINVAL; -ERANGE: more than 1e6 minutes, or not from 1970 to 2200. */
int parse_minutes(const char *text, double *ret);           /* "10m" "3h" "90s" "1h30m"; a plain number is minutes */
int parse_percent(const char *text, double *ret);           /* "20" or "20%", 0..100 */
int parse_time(const char *text, int64_t now_ns, int64_t *ret); /* ISO 8601, or -24h before @now_ns */
void format_time(int64_t time_ns, char *buf, size_t size);  /* ISO 8601 in UTC, for JSON */
void format_local(int64_t time_ns, char *buf, size_t size); /* "2026-11-20 03:12:44", for people */
int64_t realtime_now_ns(void);

/*
 * Loads the profile that @options say, or this machine's. The sentence is told here; 0, or an exit code:
 * CODE_NO_DATA where there is none.
 */
struct profile;
int open_profile(const struct options *options, struct profile **ret);
/* Name of the shipped profile that is for this machine, or NULL; free() it. */
char *find_shipped_profile(int root_fd);

/*
 * Path of --profile (a file, or the name of a shipped one),
 * else of the default; says so where there is none.
 */
int find_profile_file(const struct options *options, char **ret);
/* Where it is or would be, whether or not it is there. 0; as paths_profile(). */
int profile_path(const struct options *options, char **ret);
/* CODE_OK, or an exit code after its sentence: the database that @options say is not there, or empty. */
int check_usage_file(const struct options *options);
