/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The command line of all programs: each has one table of options, by which they are parsed, checked, and listed in
 * --help.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "log.h"
#include "words.h"

enum exit_code {
        CODE_OK = 0,
        CODE_FAILED = 1,
        CODE_USAGE = 2,   /* the command line is wrong */
        CODE_NO_DATA = 3, /* there is no data for an answer */
};

/* Arguments of argv that an option and its value take: from @from to before @to. */
struct option_place {
        int from, to;
};

/*
 * One option. @help, @usual, @wants and @range, and @about, @after and @exits of the table are marked by
 * N_(), and printed in the user's language. Exactly one of @flag, @text, @number, @count and @parse takes its value.
 */
struct option_row {
        const char *name;           /* without dashes; NULL: @help is a heading for the rows that follow */
        const char *value;          /* name of its value, for help */
        const char *help;
        const char *usual;          /* the default, for help; NULL: none, or it is in @help */
        bool hidden;                /* help does not list it */
        char letter;                /* short form, as in -o FILE; 0: it has none */
        const char *excludes;       /* names of options that contradict this one, separated by blanks; NULL: none */
        struct option_place *place; /* its last place in argv; may be NULL */

        bool *flag;                 /* a switch, without a value */

        const char **text;          /* any text but an empty one */
        const char *words;          /* the allowed texts, separated by blanks; NULL: any */

        double *number;             /* from @low to @high */
        uint64_t *count;            /* a whole number, likewise */
        double low, high;           /* high = 0: no upper limit */
        const char *unit;           /* after a "%" the value may end in one */

        /* 0; -EINVAL: the text is not a value as in @wants; -ERANGE: it is not in @range; -E2BIG: given too often. */
        int (*parse)(const char *text, void *data);
        void *data;
        const char *wants, *range;
};

struct option_table {
        const char *program;        /* "joulecast-fit" */
        const char *called;         /* command by which people start it: "joulecast fit" */
        const char *usage;          /* a line for each form */
        const char *about;          /* paragraphs, which are wrapped; a line that begins with a blank is not joined */
        const struct option_row *rows;
        size_t n_rows;
        const char **words;         /* gets the non-option arguments; the caller initializes them with NULL */
        size_t max_words;
        const char *after;          /* for help, after the options; may be NULL */
        void (*print_after)(FILE *file);
        const char *exits;          /* meaning of the exit codes; NULL: the usual 0, 1 and 2 */
};

/**
 * options_read() - read a command line
 *
 * Return: -1: go on; else the exit code: --help or --version was answered, or @log has the error.
 */
int options_read(const struct option_table *table, int argc, char *const argv[], const struct log *log);

/* The row of --device, the same in all programs; @at: a const char *. Without the option the variable counts. */
#define OPTION_DEVICE_VARIABLE "JOULECAST_DEVICE"
#define OPTION_DEVICE(at)                                                                                    \
        {                                                                                                    \
                .name = "device", .value = "virtual:NAME",                                                   \
                .help = N_("a virtual device, by name or file, instead of this machine"),                        \
                .parse = options_take_device, .data = (at), .wants = N_("virtual:NAME or virtual:FILE")           \
        }
int options_take_device(const char *text, void *data);

/*
 * The exit code at the end of a main(): also CODE_FAILED if output could not be written or was left out. Other errors
 * are logged where they occur; this logs a lack of memory, for all programs.
 */
int options_finish(int code, const struct log *log);
