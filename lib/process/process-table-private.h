/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For the files of the process table only. */

#include "process-table.h"
#include "util/hash.h"
#include "util/units.h"

/* /proc shows start times in these steps; all collectors do, so that a process is the same in each. */
#define START_TICK_NS (NS_PER_S / 100)

/*
 * For how long the end of a process that the walk no longer sees is waited for. The kernel reports it after an RCU
 * grace period: mostly some ms later, on a lazy kernel up to 10 s. An end that is reported after we gave up would
 * count all of its life again.
 */
#define POLLS_TO_WAIT 3
#define NS_TO_WAIT (60 * NS_PER_S)

/*
 * A launcher moves a process to a group of its own shortly after it starts: the app is determined again in so many
 * polls.
 */
#define POLLS_YOUNG 2
/* And for all processes in every so many polls, to correct what was missed and to drop unused entries. */
#define POLLS_PER_SWEEP 64

#define NO_PLACE UINT32_MAX

struct known {
        size_t at;                  /* its index in the list of all */
        uint64_t start_ns;          /* it and the next one are the key of the hash ... */
        int64_t pid;                /* ... and have no padding in between */
        UT_hash_handle hh;
        uint32_t place;             /* NO_PLACE: in none */
        uint64_t told_poll;         /* last poll in which the collector reported it alive */
        uint64_t execed_poll;       /* last poll in which it reported an exec */
        bool there;                 /* alive, as last reported */
        bool named;                 /* seen by a walk, or its end was reported; not only known as a parent */
        bool touched;               /* changed since the sample before: in that list */
        bool waiting;               /* gone, and its end not reported: in that list */
        bool over;                  /* to be dropped */
        bool shown_once;            /* has been in a sample */
        bool replaced;              /* by another program in the same process */
        bool has_base;
        uint8_t young;              /* its app is determined again in so many more polls: in that list */
        uint32_t polls_missing;
        uint64_t missing_since_ns;  /* boottime */
        uint64_t start_time;        /* identity in the sample; an exec gives it a new one */
        struct process_amounts shown;
        struct process_amounts base; /* not its own: from before an exec, or of reaped children */
        pid_t parent;
        pid_t ppid;                 /* when it was named, for its app */
        uid_t uid;
        uint32_t have;
        uint64_t began_ns;          /* boottime; of the program, not of what it was before an exec */
        uint64_t ended_ns;          /* boottime; 0: lives */
        char comm[32];
        char app[APP_ID_MAX];
        uint64_t split_ns;          /* CPU time that was attributed to operating points */
        uint64_t *opp_raw_ns;       /* three of n_opps: as seen, as seen before, shown */
        uint64_t *opp_old_ns;
        uint64_t *opp_shown_ns;
};

struct known_list {
        struct known **list;
        size_t n, capacity;
};

/* The app of the last process of this name and user: for those that live between two polls only. */
struct known_name {
        char comm[32];
        uid_t uid;
        uint64_t poll;              /* the poll in which no process of that name lived; 0: one did */
        char app[APP_ID_MAX];
};

#define NAMES 256

struct process_table {
        struct apps *apps;   /* not owned; NULL: none */
        uint32_t corrections; /* number of corrections of the apps so far */
        int proc_fd;         /* -1: no /proc, then the name is the app */
        bool exits;
        size_t n_opps;
        uint64_t *weights;   /* scratch, n_opps */
        uint64_t poll;

        struct known_list all, touched, waiting, young;
        struct known *living; /* hash of those whose end was not reported */
        struct known **places;
        size_t n_places, places_capacity;
        size_t n_shown;       /* of all, those that have been in a sample */
        struct process_id *left; /* shown at their end, and so gone from the next sample */
        size_t n_left, left_capacity;
        struct known_name *names;
};

int table_list_add(struct known_list *list, struct known *known);
int table_touch(struct process_table *table, struct known *known);
int table_wait(struct process_table *table, struct known *known); /* waits for its end */
void table_drop_over(struct process_table *table);

/* process-table-name.c */
bool table_find_app(struct process_table *table, struct known *known); /* true: it changed */
int table_name_alive(struct process_table *table, struct known *known, const struct process_seen *seen);
void table_name_ended(struct process_table *table, struct known *known, const struct process_seen *seen);
