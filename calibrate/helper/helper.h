/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the helpers say of their command line: joulecast-picture, joulecast-gpu, joulecast-traffic. */

#include <getopt.h>
#include <stdio.h>

#include "util/util.h"

/* After getopt_long() with opterr = 0: the sentence, and the exit status. */
static inline int helper_wrong_option(const char *program, char *const argv[])
{
        const char *option = argv[optind > 1 ? optind - 1 : 1]; /* in "-xV" it is not past the x yet */
        char printable[64];

        fprintf(stderr, "%s: %s: there is no such option, or not like this; see %s --help\n", program,
                util_printable(option, printable, sizeof(printable)), program);
        return 2;
}

/* --help or --version was answered: the exit status. */
static inline int helper_answered(const char *program)
{
        if (util_flush_stdout())
                return 0;
        fprintf(stderr, "%s: the answer could not be written\n", program);
        return 1;
}
