/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of the collectors `kept` and `proc` only. */

#include "collector.h"
#include "process-table.h"
#include "source/proc.h"
#include "taskstats.h"

#define NEVER UINT64_MAX /* value of a clock that was not read yet */

/* A living process. */
struct procfs_process {
        pid_t pid;
        uid_t uid;
        char comm[32];
        uint64_t cpu_ns;     /* by its CPU clock, or NEVER */
        uint64_t start_time; /* in ticks since boot, as last read */
        size_t place;        /* index in the table */
        bool told;           /* the table knows it as alive */
        bool seen;           /* found in this poll */

        uint64_t reaped_ns; /* CPU time of children that it waited for, as shown by /proc */
        uint64_t told_ns;   /* part of that which was attributed to ended processes, or may still be */
        uint64_t spare_ns;  /* sum over its children that ended since the last poll */
        uint64_t n_threads; /* number of their threads */
};

struct procfs_ending;

/* A process that ended since the last poll. */
struct procfs_ended {
        pid_t pid, parent;
        size_t at;           /* index in the order of ends */
        size_t heir;         /* index of the process whose reaped_ns includes its CPU time */
        struct known *known; /* entry of the table */
        uint64_t told_ns;    /* CPU time, including that of children that it had reaped before */
        uint64_t spare_ns;   /* time in which it may have run without being counted */
        uint64_t n_threads;
        uint64_t began_ns;   /* boottime; 0: computed from its end and its lifetime */
        uint64_t lived_ns;
        uint64_t ended_s;    /* realtime */
};

struct procfs {
        struct source source;
        struct process_table *table;
        int proc_fd;
        bool all;    /* read all processes in this poll, whether they ran or not */
        bool clocks; /* the pids in /proc are those of our system calls, and have CPU clocks */
        uint32_t polls;
        size_t n_places;
        size_t *free_places; /* below n_places */
        size_t n_free_places, free_places_capacity;
        pid_t *pids;         /* pids of this poll, ascending */
        size_t n_pids, pids_capacity;
        struct procfs_process *list; /* ascending by pid */
        size_t n, capacity;
        struct taskstats_listener *ends; /* NULL: ends are not reported */
        struct procfs_ending *endings;
        size_t n_endings, endings_capacity;
        struct procfs_ended *ended; /* ended in this poll, by pid; /proc may show them until they are reaped */
        size_t n_ended, ended_capacity;
        uint64_t read_ns[2]; /* boottime of the previous and of the last reading of ends */
        bool lost;           /* messages were lost since the last poll */
        uint64_t opened_ns;  /* boottime */
};

uint64_t procfs_start_ns(const struct proc_stat *stat);
int procfs_read_stat(const struct procfs *procfs, pid_t pid, struct proc_stat *ret);
struct procfs_process *procfs_find(const struct procfs *procfs, pid_t pid); /* NULL: it is not in the list */
/* reports to the table that it is gone */
int procfs_leave_place(struct procfs *procfs, struct procfs_process *process);

/* procfs-reaped.c */
/* time in which it may have run without being counted */
uint64_t procfs_spare_ns(const struct ended_thread *thread);
void procfs_sort_ended(struct procfs *procfs);
bool procfs_has_ended(const struct procfs *procfs, pid_t pid);
void procfs_settle(struct procfs *procfs); /* call after the living processes were listed */

/* procfs-end.c */
int procfs_read_ended(struct procfs *procfs);
void procfs_forget_untold(struct procfs *procfs); /* call after the living processes were listed */
