/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The processes that a collector knows, from poll to poll. Collectors deliver raw totals; the table makes the
 * processes of a sample from them:
 *
 * - a total never decreases, although a walk may miss a thread that is just ending; - an ended process is
 * listed once more, with its final totals; - an exec makes two processes: the old one ends, the new one
 * begins; - io bytes of children, which the kernel adds to the parent that waits for them, are subtracted
 * from the parent; - the CPU times by operating point add up to the CPU time.
 */

#include "app/app.h"
#include "source/sample.h"

/* Totals of one process. */
struct process_amounts {
        uint64_t cpu_ns;
        OWNER_AMOUNT_MEMBERS;
};

/* A collector's observation of one process. */
struct process_seen {
        pid_t pid;
        pid_t parent;              /* its parent, if the collector does not see ends; else 0 */
        pid_t ppid;                /* parent, to find its app; 0: read from /proc if it lives */
        const char *cgroup;        /* cgroup v2 path of an ended process; NULL: unknown */
        uid_t uid;
        uint64_t start_ns;         /* boottime, as exactly as the collector knows it */
        const char *comm;          /* at most 31 bytes and a NUL */
        bool kernel_thread;
        bool others;               /* sum of several ended processes, whose apps are unknown */
        uint32_t have;             /* PROCESS_* */
        struct process_amounts total;
        const uint64_t *cpu_opp_ns; /* n_opps values, or NULL */
};

struct process_table;
struct known; /* an entry of the table */

/**
 * process_table_new() - make an empty table
 * @root_fd: root folder of the machine; its /proc identifies each process, again when its name changes
 * @apps:    determines the app of each process at every poll; not owned. NULL: its program's name is its app
 * @exits:   the collector reports ends of processes; without, a process that is missing has ended
 * @n_opps:  operating points in process_seen.cpu_opp_ns; 0: not counted
 */
int process_table_new(int root_fd, struct apps *apps, bool exits, size_t n_opps, struct process_table **ret);
void process_table_free(struct process_table *table);

/*
 * The calls of one poll: begin; events since the last poll, in order; living processes, each with an index
 * that the collector chooses; finish. A collector that does not report all living processes reports which
 * indices became free before it reuses them; a process that it does not report is unchanged.
 */
void process_table_begin(struct process_table *table);
int process_table_gone(struct process_table *table, size_t place);
int process_table_alive(struct process_table *table, size_t place, const struct process_seen *seen);
/* is it alive in this poll? */
bool process_table_is_seen(struct process_table *table, pid_t pid, uint64_t start_ns);
/*
 * Start time with which the sample will identify the process of an event, in the order of events; also for a
 * process that was never seen.
 */
uint64_t process_table_start_time(const struct process_table *table, pid_t pid, uint64_t start_ns);
/* Bytes of a living process that belong to its reaped children: the sum of process_table_reaped() so far. */
void process_table_base(const struct process_table *table, pid_t pid, uint64_t start_ns, uint64_t *read_bytes,
                        uint64_t *write_bytes);
/* @ret: gets the entry, valid until the end of this poll; may be NULL. */
int process_table_ended(struct process_table *table, const struct process_seen *seen, uint64_t ended_ns,
                        struct known **ret);
const char *process_table_app(const struct known *ended);
void process_table_ended_more(struct known *ended, uint64_t cpu_ns); /* adds CPU time that was not in @seen */
/* sets better times, in boottime */
void process_table_lived(struct known *ended, uint64_t began_ns, uint64_t ended_ns);
int process_table_execed(struct process_table *table, const struct process_seen *seen, uint64_t exec_ns);
/* The parent @pid reaped a child with these io bytes. */
int process_table_reaped(struct process_table *table, pid_t pid, uint64_t start_ns, uint64_t read_bytes,
                         uint64_t write_bytes);
/*
 * @told_all: a process that was not reported in this poll is gone
 * @opps:     index in the sample of each operating point of the table; NULL without
 */
int process_table_finish(struct process_table *table, bool told_all, struct sample *sample,
                         const size_t *opps);
