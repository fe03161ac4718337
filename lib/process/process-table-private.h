/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of the process table share among themselves, and nobody else includes. */

#include "process-table.h"
#include "util/hash.h"
#include "util/units.h"

/* /proc tells start times in these steps; all collectors do, so that a process is the same to each. */
#define START_TICK_NS (NS_PER_S / 100)

/*
 * A process that the walk no longer sees, and whose end was not reported yet: the kernel tells it when nobody
 * can look at the process any more (RCU), mostly some ms later, but a lazy kernel waits for up to 10 s. An
 * end that is told after we gave up would count all of its life again.
 */
#define POLLS_TO_WAIT 3
#define NS_TO_WAIT (60 * NS_PER_S)

/*
 * A launcher moves what it starts to a group of its own a moment later:
 * the app is asked for in so many polls.
 */
#define POLLS_YOUNG 2
/* And of all, in case that something was missed, and to forget those that nobody asks for. */
#define POLLS_PER_SWEEP 64

#define NO_PLACE UINT32_MAX

struct known {
        size_t at;                  /* its index in the list of all */
        uint64_t start_ns;          /* it and the next one are the key of the hash ... */
        int64_t pid;                /* ... and have no padding in between */
        UT_hash_handle hh;
        uint32_t place;             /* NO_PLACE: in none */
        uint64_t told_poll;         /* last poll in which the collector told that it lives */
        uint64_t execed_poll;       /* last poll in which it told of an exec */
        bool there;                 /* lives, as far as the collector told */
        bool named;                 /* seen by a walk or told of at its end, not only as somebody's parent */
        bool touched;               /* another than in the sample before: in that list */
        bool waiting;               /* gone, and its end not told: in that list */
        bool over;                  /* to be dropped */
        bool shown_once;            /* has been in a sample */
        bool replaced;              /* by another program in the same process */
        bool has_base;
        uint8_t young;              /* its app is asked for in so many more polls: in that list */
        uint32_t polls_missing;
        uint64_t missing_since_ns;  /* boottime */
        uint64_t start_time;        /* identity in the sample; an exec gives it a new one */
        uint64_t shown[AMOUNTS];
        uint64_t base[AMOUNTS];     /* what is another's: before an exec, of reaped children */
        pid_t parent;
        pid_t ppid;                 /* when it was named, for its app */
        uid_t uid;
        uint32_t have;
        uint64_t began_ns;          /* boottime; of the program, not of what it was before an exec */
        uint64_t ended_ns;          /* boottime; 0: lives */
        char comm[32];
        char app[APP_ID_MAX];
        uint64_t split_ns;          /* CPU time that has been given to operating points */
        uint64_t *opp_raw_ns;       /* three of n_opps: as seen, as seen before, shown */
        uint64_t *opp_old_ns;
        uint64_t *opp_shown_ns;
};

struct known_list {
        struct known **list;
        size_t n, capacity;
};

/* Which app a program of this name and user was: for those that come and go between two polls. */
struct known_name {
        char comm[32];
        uid_t uid;
        uint64_t poll;              /* nobody of that name was there in this poll; 0: there was */
        char app[APP_ID_MAX];
};

#define NAMES 256

struct process_table {
        struct apps *apps;   /* not owned; NULL: none */
        uint32_t corrections; /* of the apps, that we know of */
        int proc_fd;         /* -1: no /proc, then the name is the app */
        bool exits;
        size_t n_opps;
        uint64_t *weights;   /* scratch, n_opps */
        uint64_t poll;

        struct known_list all, touched, waiting, young;
        struct known *living; /* hash of those whose end was not told */
        struct known **places;
        size_t n_places, places_capacity;
        size_t n_shown;       /* of all, those that have been in a sample */
        struct process_id *left; /* were shown at their end: gone from the next sample */
        size_t n_left, left_capacity;
        struct known_name *names;
};

int table_list_add(struct known_list *list, struct known *known);
int table_touch(struct process_table *table, struct known *known);
int table_wait(struct process_table *table, struct known *known); /* for its end */
void table_drop_over(struct process_table *table);

/* process-table-name.c */
bool table_find_app(struct process_table *table, struct known *known); /* true: another than before */
int table_name_alive(struct process_table *table, struct known *known, const struct process_seen *seen);
void table_name_ended(struct process_table *table, struct known *known, const struct process_seen *seen);
