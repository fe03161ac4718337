/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * usage.db: intervals as they come, rolled up into hours and days. Totals are
 * conserved exactly by the roll-up. SQLite's types and codes stop here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "interval/interval.h"
#include "model/usage.h"
#include "util/log.h"
#include "util/util.h"

struct store;

enum store_mode {
        STORE_READ,     /* -ENOENT where there is none */
        STORE_WRITE,    /* made where there is none; one writer at a time, else -EBUSY */
        STORE_SIMULATE, /* the same for a virtual device: it begins anew, whatever was simulated before ... */
        STORE_SIMULATE_MORE, /* ... or goes on after that */
};

/*
 * Tells @log one sentence about what is wrong, except for -ENOENT: what that means only the caller knows.
 * What a machine recorded and what a virtual device did never meet in one database: -EEXIST to write the other kind.
 */
int store_open(const char *path, enum store_mode mode, const struct log *log, struct store **ret);
enum store_aside {
        STORE_DAMAGED,
        STORE_OLDER, /* an old version that store_open() neither reads nor converts, and puts aside for a writer */
};

/*
 * store_put_aside() - a database that no process has open gets another name (and @log one sentence)
 *
 * usage.db becomes usage.db.damaged-20261122T081500Z, with its -wal, so that sqlite3's .recover can still read it.
 * Return: 0; -EEXIST: one of this second is there; another errno of rename().
 */
int store_put_aside(const char *path, enum store_aside why, const struct log *log);
/* Was the file of an open store deleted or moved? Then what is written to it is lost. One stat(). */
bool store_is_gone(struct store *store);
void store_close(struct store *store);
DEFINE_CLEANUP(struct store, store_close)

/* Sets the most time that a power cut may lose (else five minutes): an append beyond it waits for the disk. */
void store_sync_within(struct store *store, uint64_t ns);

/* One transaction: a row for the interval, and one for each owner in it that used something or had the screen. */
int store_append(struct store *store, const struct interval *interval);

/*
 * Folds closed hours into hour rows and closed days into day rows, and drops rows older than their retention.
 * @now_ns: realtime. Cheap where nothing is due; the poller calls it after each append.
 */
struct store_retention {
        uint32_t raw_hours;
        uint32_t hour_days;
        uint32_t day_days; /* 0: for ever */
};
int store_roll_up(struct store *store, int64_t now_ns, const struct store_retention *retention);

/* Which data to forget of the intervals that ended in a span, @from_ns < end <= @to_ns. */
struct store_forget {
        int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: from the first, to the last */
        int64_t uid;            /* only this user's apps; -1: everybody's */
        /* Only this one, by its id; NULL: all. Of everybody: all that is recorded, and not only apps. */
        const char *app;
};

struct store_forgotten {
        bool whole;             /* all that is recorded, not only apps */
        uint64_t apps, polls, hours, days; /* intervals and sums that were changed, or are gone */
        bool stayed_large;      /* the file has freed pages, as it could not be written anew: a full disk, a reader */
};

/*
 * store_forget() - all or nothing, and then the file is made smaller, so that no freed page has a name
 *
 * Of apps, the names, the users and the times go; what they used becomes TUNING_OTHER_APPS of no user, so
 * that the sums of the machine stay. A sum of an hour or a day that is partly in the span, and whose parts
 * are not kept, goes as a whole.
 */
int store_forget(struct store *store, const struct store_forget *what, struct store_forgotten *ret);

/* All apps of other users as one, for who may not see them apart. */
#define STORE_OTHERS "other-users"
#define STORE_OTHERS_NAME "other users"
#define STORE_CALLED_OTHERS "\"other-users\"" /* an app of their own that is called so */

enum store_grain {
        STORE_RAW,
        STORE_HOUR,
        STORE_DAY,
        STORE_BEST, /* the fewest rows that tile the span exactly: days (of UTC), hours at its edges, raw at theirs */
};

/* One app in one state in one span of time; the base has an empty app. */
struct store_row {
        int64_t start_ns;    /* realtime */
        int64_t end_ns;
        const char *app;     /* valid until the next row */
        const char *name;    /* display name */
        uid_t uid;
        enum app_state state;
        uint64_t active_ns;
        uint64_t awake_ns;   /* how long the machine was awake in that span; 0: not known */
        const struct usage *usage; /* valid until the next row */
        struct usage *take;        /* the same, if the callback may take it by usage_move(); NULL: it may not */
};

/*
 * Restricts a row to what user @uid may see (-1: all): an app of another user becomes STORE_OTHERS. The base
 * belongs to no user. False: the row is not the user's own.
 */
bool store_row_for(int64_t uid, struct store_row *row);

/* Sums of the battery's readings over the same spans. */
struct store_battery {
        uint64_t discharge_uj;
        double discharge_percent;
        uint64_t known_ns;     /* time over which discharge_uj is known ... */
        uint64_t percent_known_ns; /* ... and discharge_percent: a battery without a voltage has no joules */
        uint64_t elapsed_ns;   /* all time recorded */
        uint64_t counted_ns;   /* thereof with CPU time split by frequency as the kernel counted it ... */
        /* ... and as shared by the time at each frequency; the rest had nothing to split, or is unknown. */
        uint64_t shared_ns;
        double wifi_signal_dbm, cellular_signal_percent; /* mean over the time in which it is known; NaN: never */
        int64_t first_ns, last_ns;
        unsigned stretches;    /* in which discharge_uj was known without a gap; more, if a period had gaps */
        struct battery last;   /* at last_ns */
        struct battery step;   /* store_battery_step(); store_battery() leaves it empty */
};

struct store_query {
        int64_t from_ns;       /* INT64_MIN: from the first */
        int64_t to_ns;         /* INT64_MAX: to the last */
        enum store_grain grain;
        const char *app;       /* NULL: all, the base too */
        int64_t uid;           /* -1: everybody's */
        bool others;           /* with a uid: what is not its own comes too, as STORE_OTHERS */
        bool times;            /* usages need only time_ns and suspend_ns, which takes a small part of the time */
};

/*
 * Calls @row for each row, ascending in time; stops at its first non-zero return and returns that. An
 * interval belongs to the span in which it ended: @from_ns < end <= @to_ns. What is not rolled up yet comes
 * finer than asked, and what only its roll-up remembers comes coarser, by its middle: every interval counts
 * once in one of two spans that meet. An app that was alive and did nothing has an empty usage with all of
 * `have`. @row must not use @store.
 */
int store_rows(struct store *store, const struct store_query *query,
               int (*row)(void *data, const struct store_row *row), void *data);
/* Calls @row with the id, the name and the user of each recorded app, as @uid may see it (-1: all). */
int store_apps(struct store *store, int64_t uid, int (*row)(void *data, const struct store_row *row), void *data);

/* One interval as it was recorded, with what the battery said at its end and all that was used in it. */
struct store_poll {
        int64_t start_ns, end_ns;  /* realtime */
        uint64_t elapsed_ns;
        uint64_t suspend_ns;       /* thereof suspended */
        double discharge_j;        /* NaN: unknown */
        double discharge_percent;  /* NaN: unknown */
        enum cpu_split_by split_by;
        struct battery battery;    /* at the end; without any `have`: unknown; so is the signal */
        struct signal signal;
        const struct store_row *rows; /* all users', the base too; valid until the next poll */
        size_t n_rows;
};

/* State of charge by the finest level of @have; NaN: unknown. */
double store_level_percent(const struct battery *battery, uint32_t have);
/*
 * True if @poll follows @before without a gap, a change of the clock, or a change of the level that was not counted: a
 * machine may be charged while it is off.
 */
bool store_goes_on(const struct store_poll *before, const struct store_poll *poll);

/*
 * Calls @poll for the intervals that ended in the span, ascending, as far as they are kept; stops at its first
 * non-zero return and returns that. @poll must not use @store.
 */
int store_polls(struct store *store, int64_t from_ns, int64_t to_ns,
                int (*poll)(void *data, const struct store_poll *poll), void *data);
/* The same, but with rows only for polls for which @needs is true: reading rows takes nearly all of the time. */
int store_polls_that(struct store *store, int64_t from_ns, int64_t to_ns,
                     bool (*needs)(const void *data, const struct store_poll *poll),
                     int (*poll)(void *data, const struct store_poll *poll), void *data);
/* The same without rows, for the battery alone: a small part of the time. */
int store_levels(struct store *store, int64_t from_ns, int64_t to_ns,
                 int (*poll)(void *data, const struct store_poll *poll), void *data);

/* A suspend of at least TUNING_SLEEP_NS, with what little was awake around it, on battery all the while. */
struct store_sleep {
        int64_t end_ns;
        uint64_t elapsed_ns;
        uint64_t suspend_ns;
        double discharge_j;       /* NaN: unknown */
        double discharge_percent; /* NaN: unknown */
};

/*
 * Calls @each for the sleeps that ended in the span, ascending;
 * kept for longer than polls (TUNING_SLEEP_DAYS).
 */
int store_sleeps(struct store *store, int64_t from_ns, int64_t to_ns,
                 int (*each)(void *data, const struct store_sleep *sleep), void *data);

/* Source of the device's power; full: also on external power and no longer charging, below 100 % too. */
enum store_power_state {
        STORE_ON_BATTERY,
        STORE_CHARGING,
        STORE_FULL,
};

/* A change of that. */
struct store_charge {
        int64_t start_ns;              /* realtime: the last poll before it showed */
        enum store_power_state state;  /* from then on */
        double level_percent;          /* NaN: unknown; so are the next */
        double charge_full_uah, energy_full_uwh;
};

/* Calls @each for the changes that began in the span, ascending; some years of them are kept. */
int store_charges(struct store *store, int64_t from_ns, int64_t to_ns,
                  int (*each)(void *data, const struct store_charge *charge), void *data);

enum store_event {
        STORE_SINCE_FULL,   /* the battery was full last: the end of the last poll in which it was */
        STORE_SINCE_UNPLUG, /* external power went last */
        STORE_SINCE_RESUME, /* the last suspend ended */
};
/* When it was last. 0; -ENODATA: never, in what is recorded; another negative errno. */
int store_since(struct store *store, enum store_event event, int64_t *ret);

/* The smallest fall of each level between two polls, of the newest: the steps of the gauge, in place of its levels. */
int store_battery_step(struct store *store, struct battery *ret);
/* Begin of the first record and end of the last; realtime. -ENODATA: nothing is recorded. */
int store_span(struct store *store, int64_t *first_ns, int64_t *last_ns);
/* The battery at the end of the last poll that knew one; all zero: none did. */
int store_last_battery(struct store *store, struct battery *ret);
/* -ENODATA: nothing was recorded in that span. */
int store_battery(struct store *store, int64_t from_ns, int64_t to_ns, struct store_battery *ret);
