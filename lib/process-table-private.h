/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of the process table share among themselves, and nobody else includes. */

#include "process-table.h"
#include "units.h"

/* /proc tells start times in these steps; all collectors do, so that a process is the same to each. */
#define START_TICK_NS (NS_PER_S / 100)

/* A process that the walk no longer sees, and whose end was not reported yet: RCU delays it by some ms. */
#define POLLS_TO_WAIT 3

/* What each poll looks at, of all processes side by side: a poll touches nothing else of those that did nothing. */
struct entry {
        struct known *known;
        uint64_t changed_poll;      /* last poll in which something was told of it */
        pid_t pid;
        uint32_t place;             /* NO_PLACE: in none */
        uint8_t polls_missing;
        bool named;                 /* seen by a walk or told of at its end, not only as somebody's parent */
        bool ended;
};

#define NO_PLACE UINT32_MAX

struct known {
        size_t at;                  /* its entry */
        pid_t pid;
        bool shown_once;            /* has been in a sample */
        uint64_t start_ns;
        uint64_t start_time;        /* identity in the sample; an exec gives it a new one */
        uint64_t shown[AMOUNTS];
        char comm[32];
        pid_t parent;
        pid_t ppid;                 /* when it was named, for its app */
        uid_t uid;
        uint32_t have;
        uint64_t began_ns;          /* boottime; of the program, not of what it was before an exec */
        uint64_t ended_ns;          /* boottime; 0: lives */
        char app[APP_ID_MAX];
        uint64_t base[AMOUNTS];     /* what is another's: before an exec, of reaped children */
        bool has_base;
        uint64_t split_ns;          /* CPU time that has been given to operating points */
        uint64_t *opp_raw_ns;       /* three of n_opps: as seen, as seen before, shown */
        uint64_t *opp_old_ns;
        uint64_t *opp_shown_ns;
};

#define POLLS_REMEMBERED 4

struct process_table {
        struct apps *apps;   /* not owned; NULL: none */
        int proc_fd;         /* -1: no /proc, then the name is the app */
        bool exits;
        size_t n_opps;
        uint64_t *weights;   /* scratch, n_opps */
        uint64_t poll;

        struct entry *list;  /* ascending by pid, start_time, unless `unsorted` */
        size_t n, capacity;
        bool unsorted;
        size_t low[POLLS_REMEMBERED]; /* by poll: entries before this are where they were in the poll before */
        struct known **slots; /* hash of pid */
        size_t n_slots;

        struct known **places;
        size_t n_places, places_capacity;
};

void known_free(struct known *known);
int entry_compare(const void *a, const void *b); /* by pid, then start_time */

/* Entries from @index on are no longer where they were in the poll before. */
void table_moved_from(struct process_table *table, size_t index);
int table_rebuild_slots(struct process_table *table, size_t needed);

/* process-table-name.c */
bool known_find_app(struct process_table *table, struct known *known); /* true: another than before */
void known_name_alive(struct process_table *table, struct known *known, const struct process_seen *seen);
void known_name_ended(struct process_table *table, struct known *known, const struct process_seen *seen);
