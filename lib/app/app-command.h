/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which program a command line runs, by the table of leaders: for processes and for Exec= alike. Reads no files. */

#include <string.h>
#include <strings.h>

#include "lead-table.h"

#define APP_PROGRAM_MAX 512
#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdefABCDEF"

struct app_command {
        enum app_lead lead;
        const struct lead_line *line; /* NULL: an app of its own */
        bool interpreted, elsewhere;  /* a script; in a container or on another machine */
        char own[APP_PROGRAM_MAX];    /* program or script that the process runs itself; "": none */
        /* the program at the end of all wrappers; "": none, or it asks another to start it */
        char runs[APP_PROGRAM_MAX];
};

/*
 * app_command_parse() - @words: NUL-separated, @length bytes with a NUL behind them
 *
 * A shell without a command is LEAD_SHELL; "sh -c ..." is LEAD_WRAPPER; a script has the lead of its own name.
 */
void app_command_parse(const char *words, size_t length, struct app_command *ret);

/*
 * app_command_words() - split a command line at blanks, without the quotes and backslashes
 * @ends:  characters that end it outside of quotes
 * @words: NUL-separated, with a NUL behind them
 *
 * Return: the text after the end.
 */
const char *app_command_words(const char *text, const char *ends, char *words, size_t size, size_t *length);

/*
 * The name that people know a program by: without folders, nix' and guix' wrapping, an AppImage's version, ".jar". A
 * file that has no name of its own ("app.asar", "main.js") has that of its folder. Printable; not "".
 */
void app_command_name(const char *path, char *name, size_t size);

/*
 * Length of the app's folder in the path of a runtime that an app brings: "/opt/idea-2024" in
 * "/opt/idea-2024/jbr/bin/java". A runtime in a folder "bin" is an app's only if "bin" is in the runtime's own folder
 * ("jbr"). 0: the runtime is not an app's.
 */
size_t app_command_bundle(const char *runtime);
void app_command_bundle_name(const char *folder, char *name, size_t size); /* "idea" */

/* Do two programs have the same name, but for case, the ending of a script, "-stable" or "-server"? */
bool app_command_same(const char *name, const char *other);

bool app_command_is_windows(const char *name); /* "x.exe", "x.lnk" */
bool app_command_is_unnamed(const char *path); /* a descriptor, as of `bash <(...)`, "/dev/fd/63" */
const char *app_command_base(const char *path); /* without folders; Windows programs have backslashes */

/* The beginnings and endings of names. */

/* The text behind @prefix; NULL: it does not begin so. */
static inline const char *app_after(const char *text, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Where @ending begins, ignoring case; NULL: the text does not end so, or has nothing before it. */
static inline char *app_before(const char *text, const char *ending)
{
        size_t length = strlen(text), wanted = strlen(ending);

        if (length <= wanted || strcasecmp(text + length - wanted, ending) != 0)
                return NULL;
        return (char *)text + length - wanted;
}

/* Is the word one of a list, in which blanks separate them? Ignores case. */
static inline bool app_is_listed(const char *list, const char *word, size_t length)
{
        for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
                if (strcspn(at, " ") == length && strncasecmp(at, word, length) == 0)
                        return true;
        return false;
}
