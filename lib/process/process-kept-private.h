/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of the collector `kept` share among themselves, and nobody else includes. */

#include "collector.h"
#include "process-table.h"
#include "source/proc.h"
#include "taskstats.h"

#define NEVER UINT64_MAX /* of a clock: not read yet */

struct kept {
        pid_t pid;
        int stat_fd, io_fd;  /* -1: not kept */
        uid_t uid;
        bool uid_known;
        uint64_t cpu_ns;     /* by its clock, or NEVER */
        uint64_t start_time; /* of whom the table was told */
        size_t place;        /* in the table */
        bool told;           /* the table knows that it lives */
        bool io_known;
        uint64_t read_bytes, write_bytes;
        bool seen;

        uint64_t reaped_ns; /* CPU time of children that it waited for, as /proc has it */
        uint64_t told_ns;   /* of which the table was told, ends that it may yet wait for among them */
        uint64_t spare_ns;  /* of those that ended since the last poll and whose time it has */
        uint64_t n_threads;
};

struct ending;

/* A process that ended since the last poll. */
struct kept_ended {
        pid_t pid, parent;
        size_t at;          /* its number in the order of ends */
        size_t heir;        /* in the list */
        uint64_t start_ns;
        uint64_t told_ns;   /* CPU time, with that of children that it had reaped before */
        uint64_t spare_ns;  /* in which it may have run without being told */
        uint64_t n_threads;
};

struct kept_collector {
        struct source source;
        struct process_table *table;
        int proc_fd;
        bool all;    /* in this poll, whether they ran or not */
        bool clocks; /* pids of /proc are those of our system calls */
        uint64_t tick_ns;
        uint32_t polls;
        size_t n_places;
        size_t *free_places; /* below n_places */
        size_t n_free_places, free_places_capacity;
        size_t descriptors, most_descriptors;
        struct kept *list;   /* ascending by pid */
        size_t n, capacity;
        struct taskstats_listener *ends; /* NULL: nobody tells */
        struct ending *endings;
        size_t n_endings, endings_capacity;
        struct kept_ended *ended; /* told in this poll, by pid; /proc may still show them, until they are reaped */
        size_t n_ended, ended_capacity;
        bool lost;           /* messages, since the last poll */
        uint64_t opened_ns;  /* boottime */
};

/* process-kept-file.c */
void kept_close_file(struct kept_collector *collector, int *kept_fd);
void kept_forget(struct kept_collector *collector, struct kept *kept); /* its descriptors, both */
uid_t kept_read_uid(const struct kept_collector *collector, pid_t pid);
bool kept_is_anothers(const struct kept_collector *collector, pid_t pid);
int kept_read_stat(struct kept_collector *collector, struct kept *kept, struct proc_stat *ret);
void kept_read_io(struct kept_collector *collector, struct kept *kept);
int kept_read_clock(pid_t pid, uint64_t *ret);

/* process-kept-reaped.c */
uint64_t kept_spare_ns(const struct ended_thread *thread); /* in which it may have run without being told */
void kept_sort_ended(struct kept_collector *collector);
bool kept_has_ended(const struct kept_collector *collector, pid_t pid);
struct kept *kept_find(const struct kept_collector *collector, pid_t pid); /* NULL: not in the list */
void kept_settle(struct kept_collector *collector); /* after the list of those that live */

/* process-kept-end.c */
int kept_read_ended(struct kept_collector *collector);
void kept_forget_untold(struct kept_collector *collector); /* after the list of those that live */
