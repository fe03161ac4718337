/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The main loop of the service: read the sources, make an interval, store it, sleep. */

#include "answers.h"
#include "dbus.h"
#include "interval/interval.h"
#include "source/source.h"
#include "store/store.h"
#include "util/config.h"
#include "util/log.h"

/*
 * Usage of the last seconds, for clients that look more often than the service polls (`joulecast top`). The
 * last few intervals are kept and numbered, so that each client gets all intervals since its own last answer.
 * Nothing is kept while no client asks, and nothing is stored.
 */

#define LIVE_INTERVALS 16

struct live {
        struct interval list[LIVE_INTERVALS]; /* ascending */
        size_t n;
        uint64_t number;      /* number of the last one; 0: there was none */
        uint64_t asked_ns;    /* boottime of the last question; 0: not for a long time */
        uint64_t read_ns;     /* time of the last reading of the sources */
        uint64_t took_ns;     /* duration of that reading */
};

/*
 * Notes a question: from now on intervals are kept for a while. Returns whether the sources may be read
 * again.
 */
bool live_ask(struct live *live, uint64_t now_ns);
/*
 * Adds an interval; the sources were read from @begin_ns to @now_ns (boottime). Without memory all intervals
 * are dropped.
 */
void live_add(struct live *live, const struct interval *interval, uint64_t begin_ns, uint64_t now_ns);
/*
 * Returns the first kept interval after number @after, or the last interval if @after is 0. @n: how many
 * there are.
 */
const struct interval *live_after(const struct live *live, uint64_t after, size_t *n);
void live_clear(struct live *live);

struct poller {
        struct sources sources;
        struct store *store;
        const char *database;    /* its path; not owned */
        struct answers *answers; /* or NULL */
        struct dbus *dbus;       /* or NULL */
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        struct interval pending;  /* usage since the last stored interval, if a client looked in between */
        struct live live;
        struct store_retention retention;
        uint64_t sync_ns;         /* see store_sync_within() */
        bool patient;             /* if the database is in use or cannot be used, try again at each poll */
        struct log store_log;     /* `log` without repeated messages, for the store */
        char said[1024];
        const char *own_database; /* renamed if damaged; NULL: the user chose the path, so it is left alone */
        const struct log *log;

        /* totals so far */
        uint64_t polls;
        uint64_t intervals;
        uint64_t elapsed_ns;
        size_t n_processes; /* at the last poll */
        size_t n_ended;     /* since memory was returned */
        bool waiting;       /* `interval` is not stored yet; no other one is made before */
        uint64_t n_skipped; /* polls skipped since then */
        int failed;         /* last error of the store, or 0; logged when it changes */
};

void poller_close(struct poller *poller);

/*
 * Opens @path for writing. If it is damaged and our own, it is renamed, and a new one is created. If it
 * cannot be opened and @poller is patient, returns 0, and the polls try again.
 */
int poller_open_store(struct poller *poller, const char *path);

/*
 * Reads the sources for a client between two polls, unless that was just done. The usage is added to
 * poller->live, and to the interval of the next poll. Returns 0; -EBUSY: an interval waits to be stored;
 * -ENODATA: it is the first reading; -ENOMEM.
 */
int poller_look(struct poller *poller);

/**
 * poller_run() - poll until a signal, or for a number of polls
 * @interval_s: time between polls; a wakeup may be late by min(1 s, a tenth of it), to coincide with others
 * @count:      number of polls; 0: until SIGTERM, SIGINT or SIGHUP, which cause a last poll
 */
int poller_run(struct poller *poller, double interval_s, uint64_t count);
