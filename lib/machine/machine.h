/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All sources of a real machine, or of a machine tree: a folder with `sys` and
 * `proc` as some device shows them. The same parsers read both.
 */

#include "process/collector.h"
#include "source/source.h"
#include "util/log.h"

struct machine_options {
        const char *root;       /* NULL: this machine */
        const struct collector *collectors; /* that this program carries; NULL: plain /proc alone */
        const char *collector;  /* name of the one to use; NULL: the first that works */
        const char *foreground; /* "auto", "none", "file:PATH" or "command:COMMAND"; NULL: auto */
        const char *focus_socket; /* where focus agents connect; NULL: nobody is listened to */
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

/* Constructors, one a file. @root_fd is only used during the call; -ENODEV: this machine has none. */
int clock_open(int root_fd, struct source **ret);
int battery_open(int root_fd, const struct log *log, struct source **ret);
int cpu_open(int root_fd, struct source **ret);
int disk_open(int root_fd, struct source **ret);
int net_open(int root_fd, struct source **ret);
int process_open(int root_fd, struct apps *apps, struct source **ret); /* @apps is not owned; NULL: program's names */
int gpu_open(int root_fd, struct source **ret);
/* Bytes of processes by the sockets that they hold, after a collector that does not count them. */
int net_process_open(int root_fd, const char *wifi_for_test, struct source **ret);
int foreground_open(const char *what, const struct log *log, struct source **ret);
