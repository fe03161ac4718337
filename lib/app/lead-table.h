/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one table of programs whose name is not the app, or which lead other apps. Units, parents and Exec= use it. */

#include <stdbool.h>
#include <stddef.h>

#define COMM_LENGTH 15 /* TASK_COMM_LEN without its NUL */

enum app_lead {
        LEAD_NOT = 0,
        LEAD_ALIAS,       /* desktop entries know it by another name */
        LEAD_SENDER,      /* asks a running program to start the app */
        LEAD_INTERPRETER, /* runs the script, class or module in its arguments */
        LEAD_WRAPPER,     /* runs the program in its arguments, and belongs to that */
        LEAD_STARTER,     /* an app that also starts others: file managers, launchers of games */
        LEAD_GAME,        /* one game, with its name in its title or in the table */
        LEAD_TERMINAL,    /* an app together with its shells; commands typed in these are other apps */
        LEAD_SHELL,       /* interactive: its children are other apps */
        LEAD_SESSION,     /* login, sshd, cron, a display manager, a service manager: its children are sessions */
        LEAD_DESKTOP,     /* a compositor, panel, launcher or D-Bus daemon: its children are other apps */
};

struct lead_line {
        const char *names; /* separated by blanks; "*" at the end or beginning of one matches any text there */
        enum app_lead lead;
        const char *values; /* options with a value, each followed by the number of its values if that is not 1 */
        /*
         * Subcommands before the program, and options before its command line; '!': one of these is needed. "1": the
         * name of a box, file or user is before the program; ".": a script has a dot in its name.
         */
        const char *words;
        /* its name in desktop entries; "part": it is part of the compositor in whose unit it runs */
        const char *other;
        bool bridge;    /* its windows are other apps' (an X server, ssh -X), or what it runs is in a container */
        bool by_option; /* the program is the value of one of `words`, the first of them that has one */
};

extern const struct lead_line lead_table[];
extern const size_t lead_table_length;

/* By the name of a program or unit. NULL: it is not listed. */
const struct lead_line *lead_find(const char *name);
/* By a name that the kernel has cut to 15 bytes. */
const struct lead_line *lead_find_comm(const char *comm);
/* By a unit's id: the whole, else its last part ("org.kde.konsole"). */
const struct lead_line *lead_find_unit(const char *id);
/* Equal but for case, '-', '_' and, at the end of @text, a version. @name ends at a blank. */
bool lead_same_name(const char *name, const char *text);
/* How many values follow this option? 0: none. */
int lead_values(const struct lead_line *line, const char *option);
/* Does the line run a program only after one of its subcommands or marks? */
bool lead_needs_word(const struct lead_line *line);
/* Is it one of the line's subcommands? */
bool lead_has_word(const struct lead_line *line, const char *word);
