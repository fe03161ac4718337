/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * An everyday observation: what the machine and each app used between two steps of the battery's level in ordinary
 * use, and what the battery gave meanwhile. They are kept in observations.db beside those of calibrations.
 */

#include "interval/interval.h"
#include "observation.h"
#include "store/store.h"

struct everyday_use {
        char app[APP_ID_MAX]; /* "": what belongs to no app */
        enum app_state state;
        double active_s;      /* foreground: had the screen; background: was alive. Of all users together */
        struct usage usage;
};

struct everyday {
        int64_t start_ns, end_ns; /* realtime */
        uint64_t elapsed_ns;
        bool follows;         /* begins with the level step that ended the one before */
        double energy_j;      /* by the charge that the battery showed and its voltage; NaN: percent alone is known */
        double percent;       /* of charge that passed, by the finest level there is */
        double level;         /* state of charge in its middle, percent */
        double late_s;        /* a step was seen up to so much later: the time between polls there */
        double wifi_signal_dbm, cellular_signal_percent; /* mean by time; NaN: unknown */
        double gauge_j;       /* integral of the power that a sensor showed; NaN: there is none */
        bool shared;          /* CPU times were shared by the time at each frequency (SPLIT_SHARED), not counted */
        struct everyday_use *uses; /* each app and state once; what hardly did anything is in TUNING_OTHER_APPS */
        size_t n_uses;
};

void everyday_free(struct everyday *list, size_t n);

/**
 * everyday_read_store() - everyday observations out of recorded polls
 * @after_ns: only those that begin from then on: the end of the newest that is known; INT64_MIN: all
 * @ret:      ascending in time, free with everyday_free(); what was used since the last step is in none yet
 *
 * A stretch of polls on battery, without a gap and without sleep, from one level step to another that is far enough to
 * tell something: 1 %, or half a percent and three minutes where the level has finer steps. Where all polls ended
 * before @after_ns, as after the clock was set back, spans of all of them come; everyday_append() leaves out those that
 * are known.
 *
 * Return: 0, also for none; a negative errno, which @store told its log.
 */
int everyday_read_store(struct store *store, int64_t after_ns, struct everyday **ret, size_t *n);

/*
 * In observations.db; these log their error. Appending is one transaction, leaves out what overlaps with observations
 * that are there, and thins: of what is older than three days only the newest of each kind (the app that had the screen
 * longest, at its brightness) stay, and in all no more than 1 MB for each month that is covered.
 */
int everyday_append(struct observations *observations, const struct everyday *list, size_t n);
/* Ascending in time; 0 and none where nothing was appended yet. Damaged rows are left out, with a warning. */
int everyday_read(struct observations *observations, struct everyday **ret, size_t *n);
/*
 * Drops from a list, from the first on, observations that end after @now_ns and begin a month or more after the one before:
 * the clock was ahead when they were made, and with them all others would count as old.
 */
void everyday_drop_ahead(struct everyday *list, size_t *n, int64_t now_ns);
/* The end of the one that was appended last; INT64_MIN: there is none. */
int everyday_newest(struct observations *observations, int64_t *ret);
