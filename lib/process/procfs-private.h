/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of the collectors `kept` and `proc` only. */

#include "collector.h"
#include "process-table.h"
#include "source/proc.h"
#include "taskstats.h"

#define NEVER UINT64_MAX /* of a clock: not read yet */

/* A process that lives. */
struct procfs_process {
        pid_t pid;
        uid_t uid;
        char comm[32];
        uint64_t cpu_ns;     /* by its clock, or NEVER */
        uint64_t start_time; /* in ticks since boot, as last read */
        size_t place;        /* in the table */
        bool told;           /* the table knows that it lives */
        bool seen;           /* in this poll */

        uint64_t reaped_ns; /* CPU time of children that it waited for, as /proc has it */
        uint64_t told_ns;   /* as much of that as was attributed to processes that ended, or may be yet */
        uint64_t spare_ns;  /* sum of its children's that ended since the last poll */
        uint64_t n_threads; /* likewise */
};

struct procfs_ending;

/* A process that ended since the last poll. */
struct procfs_ended {
        pid_t pid, parent;
        size_t at;           /* its number in the order of ends */
        size_t heir;         /* who has its CPU time in reaped_ns: index in the list */
        struct known *known; /* in the table */
        uint64_t told_ns;    /* CPU time, with that of children that it had reaped before */
        uint64_t spare_ns;   /* in which it may have run without being counted */
        uint64_t n_threads;
};

struct procfs {
        struct source source;
        struct process_table *table;
        int proc_fd;
        bool all;    /* read all in this poll, whether they ran or not */
        bool clocks; /* pids of /proc are those of our system calls, and have CPU clocks */
        uint32_t polls;
        size_t n_places;
        size_t *free_places; /* below n_places */
        size_t n_free_places, free_places_capacity;
        pid_t *pids;         /* in this poll, ascending */
        size_t n_pids, pids_capacity;
        struct procfs_process *list; /* ascending by pid */
        size_t n, capacity;
        struct taskstats_listener *ends; /* NULL: ends are not reported */
        struct procfs_ending *endings;
        size_t n_endings, endings_capacity;
        struct procfs_ended *ended; /* of this poll, by pid; /proc may still show them, until they are reaped */
        size_t n_ended, ended_capacity;
        bool lost;           /* messages were lost since the last poll */
        uint64_t opened_ns;  /* boottime */
};

uint64_t procfs_start_ns(const struct proc_stat *stat);
int procfs_read_stat(const struct procfs *procfs, pid_t pid, struct proc_stat *ret);
struct procfs_process *procfs_find(const struct procfs *procfs, pid_t pid); /* NULL: not in the list */
int procfs_leave_place(struct procfs *procfs, struct procfs_process *process); /* tells the table that it is gone */

/* procfs-reaped.c */
uint64_t procfs_spare_ns(const struct ended_thread *thread); /* in which it may have run without being counted */
void procfs_sort_ended(struct procfs *procfs);
bool procfs_has_ended(const struct procfs *procfs, pid_t pid);
void procfs_settle(struct procfs *procfs); /* after the list of those that live */

/* procfs-end.c */
int procfs_read_ended(struct procfs *procfs);
void procfs_forget_untold(struct procfs *procfs); /* after the list of those that live */
