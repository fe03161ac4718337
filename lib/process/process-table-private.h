/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Shared by the files of the process table only. */

#include "process-table.h"
#include "util/hash.h"
#include "util/units.h"

/*
 * /proc shows start times in these steps. All collectors round to them, so that they identify a process in
 * the same way.
 */
#define START_TICK_NS (NS_PER_S / 100)

/*
 * How long to wait for the end of a process that the walk no longer sees. The kernel reports the end after an
 * RCU grace period: usually some ms later, on a kernel with lazy RCU up to 10 s. If it were reported after we
 * gave up, all of the process's life would count again.
 */
#define POLLS_TO_WAIT 3
#define NS_TO_WAIT (60 * NS_PER_S)

/*
 * A launcher moves a process to a group of its own shortly after the start, so the app is determined again
 * for this many polls.
 */
#define POLLS_YOUNG 2
/*
 * The apps of all processes are determined again every so many polls, to correct missed changes and to drop
 * unused entries.
 */
#define POLLS_PER_SWEEP 64

#define NO_PLACE UINT32_MAX

struct known {
        size_t at;                  /* index in the list of all processes */
        uint64_t start_ns;          /* start_ns and pid are the key of the hash, */
        int64_t pid;                /* and have no padding in between */
        UT_hash_handle hh;
        uint32_t place;             /* NO_PLACE: it has none */
        uint64_t told_poll;         /* last poll in which the collector reported it as alive */
        uint64_t execed_poll;       /* last poll in which the collector reported an exec */
        bool there;                 /* alive, as last reported */
        bool named; /* seen by a walk, or its end was reported; false: only known as a parent */
        bool touched;               /* changed since the previous sample; is in the list `touched` */
        bool waiting;               /* gone, but its end was not reported; is in the list `waiting` */
        bool over;                  /* to be removed */
        bool shown_once;            /* has been in a sample */
        bool replaced;              /* another program replaced it in the same process */
        bool has_base;
        uint8_t young; /* number of polls in which its app is determined again; is in the list `young` */
        uint32_t polls_missing;
        uint64_t missing_since_ns;  /* boottime */
        uint64_t start_time;        /* identity in the sample; changes at an exec */
        struct process_amounts shown;
        /* amounts that are not its own: from before an exec, or of reaped children */
        struct process_amounts base;
        pid_t parent;
        pid_t ppid;                 /* parent when it was named, to find its app */
        uid_t uid;
        uint32_t have;
        uint64_t began_ns;          /* boottime of the program's start; an exec is a new start */
        uint64_t ended_ns;          /* boottime; 0: it lives */
        char comm[32];
        char app[APP_ID_MAX];
        uint64_t split_ns;          /* CPU time that was attributed to operating points */
        uint64_t *opp_raw_ns;       /* three arrays of n_opps: as seen, as seen before, as shown */
        uint64_t *opp_old_ns;
        uint64_t *opp_shown_ns;
};

struct known_list {
        struct known **list;
        size_t n, capacity;
};

/* App of the last process with this name and user, for processes that live between two polls only. */
struct known_name {
        char comm[32];
        uid_t uid;
        uint64_t poll;              /* poll since which no process with that name lived; 0: one lives */
        char app[APP_ID_MAX];
};

#define NAMES 256

struct process_table {
        struct apps *apps;   /* not owned; NULL: apps are not determined */
        uint32_t corrections; /* number of corrections of the apps so far */
        int proc_fd;         /* -1: no /proc, so the name is the app */
        bool exits;
        size_t n_opps;
        uint64_t *weights;   /* scratch, n_opps */
        uint64_t poll;

        struct known_list all, touched, waiting, young;
        struct known *living; /* hash of processes whose end was not reported */
        struct known **places;
        size_t n_places, places_capacity;
        size_t n_shown;       /* number of processes that have been in a sample */
        struct process_id *left; /* shown with their end, so they are missing from the next sample */
        size_t n_left, left_capacity;
        struct known_name *names;
};

int table_list_add(struct known_list *list, struct known *known);
int table_touch(struct process_table *table, struct known *known);
int table_wait(struct process_table *table, struct known *known); /* waits for its end */
void table_drop_over(struct process_table *table);

/* process-table-name.c */
bool table_find_app(struct process_table *table, struct known *known); /* true: the app changed */
int table_name_alive(struct process_table *table, struct known *known, const struct process_seen *seen);
void table_name_ended(struct process_table *table, struct known *known, const struct process_seen *seen);
