/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All sources of a real machine, or of a machine tree: a folder with `sys` and
 * `proc` as some device shows them. The same parsers read both.
 */

#include "model/profile-class.h"
#include "process/collector.h"
#include "source/source.h"
#include "util/log.h"

struct machine_options {
        const char *root;       /* NULL: this machine */
        const struct collector *collectors; /* of this program; NULL: plain /proc alone */
        const char *collector;  /* name of the one to use; NULL: the first that works */
        const char *foreground; /* "auto", "none", "file:PATH" or "command:COMMAND"; NULL: auto */
        const char *focus_socket; /* where focus agents connect; NULL: no socket */
        bool everyone;          /* all users' processes, even if their disk bytes cannot be read */
        void (*opened)(void);   /* called when all is open that needs rights, before sockets and users' texts; or NULL */
        const struct log *log;
};

/**
 * machine_open() - open what this machine has to watch
 * @ret: gets the sources, in the order they are to be read. A thing that is missing is no error
 *
 * Return: 0; -ENOENT without @root; -EINVAL for an unknown collector or foreground source; another negative
 * errno. Tells the log one sentence.
 */
int machine_open(const struct machine_options *options, struct sources *ret);

/* What decides about its class, where it has no profile. 0, also where it shows nothing; -ENOMEM. */
int machine_facts(int root_fd, struct class_facts *ret);
