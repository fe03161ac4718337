/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The main loop of the service: read the sources, make an interval, store it, sleep. */

#include "answers.h"
#include "dbus.h"
#include "interval/interval.h"
#include "live.h"
#include "source/source.h"
#include "store/store.h"
#include "util/config.h"
#include "util/log.h"

struct poller {
        struct sources sources;
        struct store *store;
        const char *database;    /* its path; not owned */
        struct answers *answers; /* or NULL */
        struct dbus *dbus;       /* or NULL */
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        struct interval pending;  /* what was used since the last one that is stored, if somebody looked in between */
        struct live live;
        struct store_retention retention;
        uint64_t sync_ns;         /* see store_sync_within() */
        bool patient;             /* if its place is taken or cannot be used, try again at each poll */
        struct log store_log;     /* of the store: `log`, but nothing twice in a row */
        char said[1024];
        const char *own_database; /* renamed if damaged; NULL: the user chose the path, so it is left alone */
        const struct log *log;

        /* so far */
        uint64_t polls;
        uint64_t intervals;
        uint64_t elapsed_ns;
        size_t n_processes; /* of the last poll */
        size_t n_ended;     /* since memory was given back */
        bool waiting;       /* `interval` is not stored yet; no other is made before */
        uint64_t n_skipped; /* polls since then */
        int failed;         /* last error of the store, or 0; logged when it changes */
};

void poller_close(struct poller *poller);

/*
 * Opens @path for writing. If it is damaged and our own, it is renamed, and a new one is created. If it cannot be
 * opened and @poller is patient: 0, and the polls try again.
 */
int poller_open_store(struct poller *poller, const char *path);

/*
 * One poll, stored in one transaction. 0, also if it could not be stored: then poller->failed is set, and the next
 * poll tries again. -ENOMEM, or another error without a usable database.
 */
int poller_poll(struct poller *poller);

/*
 * For who looks between two polls: reads the sources, unless that was just done. What was used is in poller->live, and in the
 * interval of the next poll. 0; -EBUSY: an interval waits to be stored; -ENODATA: it is the first; -ENOMEM.
 */
int poller_look(struct poller *poller);

/**
 * poller_run() - poll until a signal or until enough
 * @interval_s: between polls; a wakeup may be late by min(1 s, a tenth of it), to coincide with others
 * @count:      polls; 0: until SIGTERM, SIGINT or SIGHUP, which cause a last poll
 */
int poller_run(struct poller *poller, double interval_s, uint64_t count);
