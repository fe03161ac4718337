/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Options that all commands of `joulecast` share, and functions on them that several commands use. */

#include <stdbool.h>
#include <stdint.h>

#include "moment.h"
#include "util/log.h"
#include "util/options.h"
#include "values.h"

/* NULL: not given. */
struct options {
        const char *device;
        const char *profile;
        const char *database;
        const char *observations;
        const char *machine;
        bool json;
        bool yes;
};

/* The shared options that a command uses; it accepts the others, too, and ignores them. */
enum shared_option {
        SHARED_DEVICE = 1 << 0,
        SHARED_PROFILE = 1 << 1,
        SHARED_DATABASE = 1 << 2,
        SHARED_OBSERVATIONS = 1 << 3,
        SHARED_MACHINE = 1 << 4,
        SHARED_JSON = 1 << 5,
        SHARED_YES = 1 << 6,
        SHARED_ASK = SHARED_DEVICE | SHARED_PROFILE | SHARED_DATABASE | SHARED_MACHINE | SHARED_JSON,
};

/* One sentence on stderr. */
extern const struct log program_log;

/**
 * options_parse() - read a command's line: its own options, and the shared ones
 * @shared: enum shared_option, those that help lists
 *
 * Return: -1: go on; else the exit code.
 */
int options_parse(const struct option_table *command, unsigned shared, int argc, char **argv, struct options *options);

/* An app may be the command's argument, @word, or --app's value. false, after a sentence: it is both. */
bool options_one_app(const char *word, const char **app);

/* The rest of an option_row that takes a time span; @at: a double. */
#define OPTION_MINUTES(at)                                                                                   \
        .parse = options_take_minutes, .data = (at), .wants = N_("a time like 10, 90s or 1h30m"),                 \
        .range = N_("at most 1000000 minutes")
int options_take_minutes(const char *text, void *data);

/* Likewise a point in time; @at: an int64_t, realtime in ns. */
#define OPTION_TIME(at)                                                                                      \
        .parse = options_take_time, .data = (at),                                                            \
        .wants = N_("a time like 14:00, 2026-11-20T08:00, 24h (ago), today or last week"),                        \
        .range = N_("from 1970 to 2200, or at most 1000000 minutes ago")
int options_take_time(const char *text, void *data);

/* Two rows of an option table, --from and --since, which mean the same; @at: a struct moment. */
#define OPTIONS_FROM(at)                                                                                     \
        { "from", "T", N_("start: 14:00, 2026-11-20T08:00 (or with Z or +01:00), 24h (ago), today, last week"),     \
          OPTION_MOMENT(at) },                                                                                \
        { "since", "WHAT", N_("start: a time as with --from, or the last: full (charge), unplug, boot, resume"),    \
          OPTION_MOMENT(at) }
#define OPTION_MOMENT(at)                                                                                             \
        .parse = options_take_moment, .data = (at),                                                                   \
        .wants = N_(                                                                                                  \
                "a time like 14:00, 2026-11-20T08:00, 24h (ago), today or last week; or full, unplug, boot, resume"), \
        .range = N_("from 1970 to 2200, or at most 1000000 minutes ago")
int options_take_moment(const char *text, void *data);

/*
 * The profile of @options, or of this machine, or of the first day. CODE_OK, or an exit code after its sentence
 * (CODE_NO_DATA: none).
 */
struct profile;
int open_profile(const struct options *options, struct profile **ret);
/* Likewise, but the file of a class as it is, not made this machine's. */
int open_profile_file(const struct options *options, struct profile **ret);
/*
 * Is the profile for this machine? CODE_OK; CODE_OK after a warning: no, but the user named it; CODE_FAILED after its
 * sentence: no, and the user did not name it.
 */
int open_check_device(const struct options *options, const struct profile *profile);

/* Logs that there is neither such a file nor such a shipped profile, and which names there are. */
void open_no_profile(const char *name);

/*
 * The path of that profile, which exists; a shipped one may be given by its name. NULL: none was named, and
 * the device has none, so that the first day's is used (api/first-day.h). CODE_OK, or an exit code.
 */
int open_find_profile(const struct options *options, char **ret);
/* The same, whether or not it exists. 0; as paths_profile(). */
int open_profile_path(const struct options *options, char **ret);
/* CODE_OK, or an exit code after its sentence: the database of @options does not exist, or is empty. */
int open_check_usage(const struct options *options);
