/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An interval is the difference of two samples: which owner used what in between. The rows, the base among
 * them, sum to the whole machine. Everything that can go wrong with counters ends here: a reused pid, a total
 * that went backward, a reboot, a step of the clock, a suspend.
 */

#include "model/usage.h"
#include "source/sample.h"

enum app_state {
        STATE_BACKGROUND = 0,
        STATE_FOREGROUND = 1,
};

/*
 * What an owner used: an app of one user in one state. Processes end here. The base is a row too: time, WiFi
 * association, and what no process owns.
 */
struct interval_row {
        char app[APP_ID_MAX]; /* "" is the base */
        uid_t uid;            /* (uid_t)-1: the base's, and an app's that had the screen without a known process */
        enum app_state state;
        uint64_t active_ns;   /* how long it was alive in that state; foreground: had the screen. The base's: 0 */
        bool shaped;          /* its CPU time is usage_points_share() of the interval's shape */
        struct usage usage;   /* empty: it was alive, and did nothing. An app's any_ns is its share, by busy time */
};

enum interval_battery_have {
        INTERVAL_DISCHARGE = 1 << 0,         /* discharge_uj is known: on battery at both ends, same boot */
        INTERVAL_DISCHARGE_PERCENT = 1 << 1, /* discharge_percent is known; without a voltage it stands alone */
};

/* Where the CPU times by operating point come from. */
enum cpu_split_by {
        SPLIT_UNKNOWN, /* no frequency is known */
        SPLIT_NONE,    /* there is one: nothing to split */
        SPLIT_SHARED,  /* by the time that policies spent at their frequencies */
        SPLIT_COUNTED, /* by the kernel, at each switch of tasks */
};

struct interval {
        int64_t start_realtime_ns; /* the end of the one before; if the clock was set, the end minus elapsed_ns */
        int64_t end_realtime_ns;
        int64_t clock_step_ns;     /* by how much the clock was set ahead in it; 0: it was not */
        uint64_t elapsed_ns;       /* by CLOCK_BOOTTIME */
        uint64_t suspend_ns;       /* thereof suspended */
        uint32_t have;             /* SAMPLE_* that both samples had */
        enum cpu_split_by split_by;

        struct battery battery;    /* at the end */
        uint32_t battery_have;     /* INTERVAL_* */
        uint64_t discharge_uj;     /* what the battery gave, by its own level: 0 until the level moves */
        double discharge_percent;
        struct signal signal;      /* at the end */

        /*
         * Where CPU time was shared among policies and frequencies: the proportions, as usage_points_share() takes them.
         * A usage that has exactly these need be written as its sum only. Empty: each has its own.
         */
        struct points shape;

        struct interval_row *rows; /* the base first */
        size_t n_rows, capacity;
};

struct interval_maker; /* remembers the sample before and the remainders that are carried */

int interval_maker_new(struct interval_maker **ret);
void interval_maker_free(struct interval_maker *maker);

/**
 * interval_make() - what happened since the sample before
 * @maker:  remembers
 * @sample: now; swapped into @maker (@sample gets an old one's memory back, to be reused)
 * @ret:    filled anew; its memory is reused. Free it with interval_clear()
 *
 * Return: 0; -ENODATA for the first sample, or the first after a reboot; -ENOMEM.
 */
int interval_make(struct interval_maker *maker, struct sample *sample, struct interval *ret);
void interval_clear(struct interval *interval);

/**
 * interval_join() - two intervals as one
 * @sum:  gets what was used in @next, too; empty ({ 0 }): becomes a copy of it
 * @next: begins where @sum ends
 *
 * Return: 0; -ENOMEM or -EOVERFLOW, and only a part of @next is in @sum.
 */
int interval_join(struct interval *sum, const struct interval *next);

/*
 * Energy of one step of the level that discharge_uj is counted by; NaN: unknown. @step: steps of the levels in
 * place of the levels; the percentage steps by 1 if it is not there.
 */
double interval_step_uj(const struct battery *battery, const struct battery *step);

/**
 * interval_skip() - a sample at which no interval shall end
 * @sample: not kept; totals lose nothing by it, and what it alone tells of the screen goes to the next interval
 *
 * Return: 0; -ENOMEM.
 */
int interval_skip(struct interval_maker *maker, const struct sample *sample);
