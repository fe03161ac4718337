/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All sources of a real machine, or of a machine tree: a folder with a copy of
 * some device's `sys` and `proc`. The same parsers read both.
 */

#include "model/profile-class.h"
#include "process/collector.h"
#include "source/source.h"
#include "util/log.h"

enum machine_counters {
        COUNTERS_AS_CONFIGURED, /* as set in the joulecast.conf in force */
        COUNTERS_YES,
        COUNTERS_NO, /* no hardware counter is opened */
};

struct machine_options {
        const char *root;       /* NULL: this machine */
        const struct collector *collectors; /* collectors that the program has; NULL: plain /proc alone */
        const char *collector;  /* name of the collector to use; NULL: the first that works */
        const char *foreground; /* "auto", "none", "file:PATH" or "command:COMMAND"; NULL: auto */
        const char *backlight;  /* its name, or "auto"; NULL: as set in joulecast.conf */
        enum machine_counters counters;
        const char *focus_socket; /* where focus agents connect; NULL: no socket */
        bool everyone;          /* all users' processes, even if their disk bytes cannot be read */
        /* Called when everything that needs privileges is open, before sockets and users' texts; or NULL. */
        void (*opened)(void);
        const struct log *log;
};

/**
 * machine_open() - open all sources of a machine
 * @ret: gets the sources, in the order in which they must be read. A missing device is no error
 *
 * Return: 0; -ENOENT if @root does not exist; -EINVAL for an unknown collector or foreground source; another negative
 * errno. Errors are logged as one sentence.
 */
int machine_open(const struct machine_options *options, struct sources *ret);

/* Facts that select the class of a machine without a profile. 0, also if it shows none; -ENOMEM. */
int machine_facts(int root_fd, struct class_facts *ret);
