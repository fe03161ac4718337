/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The service's work: look, subtract, store; then sleep. */

#include "answers.h"
#include "interval/interval.h"
#include "source/source.h"
#include "store/store.h"
#include "util/config.h"
#include "util/log.h"

struct poller {
        struct sources sources;
        struct store *store;
        const char *database;    /* its path; not owned */
        struct answers *answers; /* or NULL */
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        struct store_retention retention;
        const char *own_database; /* put aside where it is damaged; NULL: the user's choice, which nobody moves */
        const struct log *log;

        /* so far */
        uint64_t polls;
        uint64_t intervals;
        uint64_t elapsed_ns;
        size_t n_processes; /* of the last poll */
        size_t n_ended;     /* since memory was given back */
        bool waiting;       /* `interval` is not stored yet; until it is no other is made */
        uint64_t n_skipped; /* polls at which it waited */
        int failed;         /* the last error of the store, or 0; told when it changes */
};

/* CLOCK_BOOTTIME: what the loop's deadlines are in. */
uint64_t poller_now_ns(void);
void poller_close(struct poller *poller);

/* Opens @path to write. A damaged one of our own is put aside, and one that is new begins. */
int poller_open_store(struct poller *poller, const char *path);

/*
 * One poll in one transaction. 0, also if it could not be stored (then poller->failed says so, and the next poll
 * tries again); -ENOMEM, or what no new database could be made for.
 */
int poller_poll(struct poller *poller);

/**
 * poller_run() - poll until a signal or until enough
 * @interval_s: between polls; the wakeup may be late by min(1 s, a tenth of it), to fall together with others'
 * @count:      polls; 0: no end. SIGTERM and SIGINT end with a last poll
 */
int poller_run(struct poller *poller, double interval_s, uint64_t count);
