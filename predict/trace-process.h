/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * `joulecast trace --by process`: each process of a sample becomes an app of its own, and keeps the state of the app
 * that it belongs to. The screen stays that app's, as it is not known which of its processes draws.
 */

#include "interval/interval.h"
#include "source/sample.h"

struct trace_process {
        pid_t pid;
        char comm[32];
        char app[APP_ID_MAX]; /* the app that it belongs to */
};

struct trace_processes {
        struct trace_process *list; /* processes in the last sample, ascending by pid */
        size_t n, capacity;
};

/* 0; -ENOMEM. */
int trace_processes_name(struct trace_processes *processes, struct sample *sample);
/* Sets the states of an interval's rows: processes of the app with the screen are in the foreground. */
void trace_processes_states(const struct trace_processes *processes, struct interval *interval);
/* Finds a process by the id of such a row; NULL: the row is not for a process. */
const struct trace_process *trace_process_find(const struct trace_processes *processes, const char *id);
void trace_processes_clear(struct trace_processes *processes);
