/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * An everyday observation: the usage of the machine and each app between two steps of the battery's level in ordinary
 * use, and the energy that the battery gave meanwhile. observations.db keeps them beside those of calibrations.
 */

#include "interval/interval.h"
#include "observation.h"
#include "store/store.h"

struct everyday_use {
        char app[APP_ID_MAX]; /* "": usage that belongs to no app */
        enum app_state state;
        double active_s;      /* foreground: time with the screen; background: time alive. All users together */
        struct usage usage;
};

struct everyday {
        int64_t start_ns, end_ns; /* realtime */
        uint64_t elapsed_ns;
        bool follows;         /* begins with the level step that ended the observation before */
        double energy_j;      /* by the charge that the battery showed and its voltage; NaN: percent alone is known */
        double percent;       /* charge that passed, percent, by the finest level there is */
        double level;         /* state of charge in its middle, percent */
        double late_s;        /* most delay with which a step was seen: the time between polls there */
        double wifi_signal_dbm, cellular_signal_percent; /* mean by time; NaN: unknown */
        double gauge_j;       /* integral of the power that a sensor showed; NaN: there is none */
        bool metered;         /* energy_j is from a meter, and no level step ends the observation; never stored */
        bool shared;          /* CPU times were split by the time at each frequency (SPLIT_SHARED), not counted */
        struct everyday_use *uses; /* each app and state once; apps that hardly did anything: TUNING_OTHER_APPS */
        size_t n_uses;
};

void everyday_free(struct everyday *list, size_t n);

/**
 * everyday_read_store() - everyday observations out of recorded polls
 * @after_ns: only those that begin from then on: the end of the newest that is known; INT64_MIN: all
 * @ret:      ascending in time, free with everyday_free(); none has the usage since the last step yet
 *
 * Each is a stretch of polls on battery, without a gap and without sleep, between two level steps that are far enough
 * apart: 1 %, or half a percent and three minutes if the level has finer steps. If all polls ended before @after_ns, as
 * after the clock was set back, the spans of all polls are returned; everyday_append() leaves out those that are known.
 *
 * Return: 0, also for none; a negative errno, which @store has logged.
 */
int everyday_read_store(struct store *store, int64_t after_ns, struct everyday **ret, size_t *n);

/*
 * Access to observations.db; these functions log their error. Appending is one transaction. It leaves out observations
 * that overlap with stored ones, and thins the old ones: beyond three days only the newest of each kind (the app that
 * had the screen longest, at its brightness) stay, and in all no more than 1 MB for each month that is covered, and
 * 12 MB.
 */
int everyday_append(struct observations *observations, const struct everyday *list, size_t n);
/* Ascending in time; 0 and none if nothing was appended yet. Damaged rows are left out, with a warning. */
int everyday_read(struct observations *observations, struct everyday **ret, size_t *n);
/*
 * Truncates a list at the first observation that ends after @now_ns and begins a month or more after the one before:
 * the clock was ahead when it was made, and with it all others would count as old.
 */
void everyday_drop_ahead(struct everyday *list, size_t *n, int64_t now_ns);
/* End of the observation that was appended last; INT64_MIN: there is none. */
int everyday_newest(struct observations *observations, int64_t *ret);
