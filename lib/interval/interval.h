/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An interval is the difference of two samples: the usage of each owner in between. The rows, including the base,
 * sum to the whole machine. All faults of counters are handled here: a reused pid, a total that went backward, a
 * reboot, a step of the clock, a suspend.
 */

#include "model/usage.h"
#include "source/sample.h"

enum app_state {
        STATE_BACKGROUND = 0,
        STATE_FOREGROUND = 1,
};

/*
 * Usage of an owner: an app of one user in one state. No processes are known above this level. The base is a row,
 * too: time, WiFi association, and usage that no process owns.
 */
struct interval_row {
        char app[APP_ID_MAX]; /* "" is the base */
        uid_t uid;            /* (uid_t)-1: the base, or an app that had the screen without a known process */
        enum app_state state;
        uint64_t active_ns;   /* time alive in that state; foreground: time with the screen. 0 for the base */
        bool shaped;          /* its CPU time is usage_points_share() of the interval's shape */
        struct usage usage;   /* empty: it was alive and did nothing. The any_ns of an app is its share by busy time */
};

enum interval_battery_have {
        INTERVAL_DISCHARGE = 1 << 0,         /* discharge_uj is known: on battery at both ends, same boot */
        INTERVAL_DISCHARGE_PERCENT = 1 << 1, /* discharge_percent is known; without a voltage it is known alone */
};

/* How CPU times were split by operating point. */
enum cpu_split_by {
        SPLIT_UNKNOWN, /* no frequency is known */
        SPLIT_NONE,    /* there is only one: nothing to split */
        SPLIT_SHARED,  /* by the time that policies spent at their frequencies */
        SPLIT_COUNTED, /* counted by the kernel at each task switch */
};

struct interval {
        int64_t start_realtime_ns; /* end of the interval before; if the clock was set, this end minus elapsed_ns */
        int64_t end_realtime_ns;
        int64_t clock_step_ns;     /* step by which the clock was set ahead in it; 0: it was not */
        uint64_t elapsed_ns;       /* by CLOCK_BOOTTIME */
        uint64_t suspend_ns;       /* part of elapsed_ns in suspend */
        uint32_t have;             /* SAMPLE_* that both samples had */
        enum cpu_split_by split_by;

        struct battery battery;    /* at the end */
        uint32_t battery_have;     /* INTERVAL_* */
        uint64_t discharge_uj;     /* energy that the battery gave, by its own level: 0 until the level moves */
        double discharge_percent;
        /*
         * Energy of an earlier suspend, which a gauge shows late, in this interval; negative: the gauge corrects an
         * earlier value. It belongs to the interval with that suspend, and is not in the discharge.
         */
        int64_t slept_uj;
        double slept_percent;
        struct signal signal;      /* at the end */

        /*
         * If CPU time was split by the time at policies and frequencies: the proportions, for usage_points_share().
         * A usage with exactly these proportions can be stored as its sum alone. Empty: each has its own.
         */
        struct points shape;

        struct interval_row *rows; /* the first is the base */
        size_t n_rows, capacity;
};

struct interval_maker; /* has the previous sample and the remainders that are carried over */

int interval_maker_new(struct interval_maker **ret);
void interval_maker_free(struct interval_maker *maker);

/**
 * interval_make() - the interval since the previous sample
 * @maker:  has the previous sample
 * @sample: the sample of now; swapped into @maker (@sample gets the memory of an old one, to be reused)
 * @ret:    filled anew; its memory is reused. Free it with interval_clear()
 *
 * Return: 0; -ENODATA for the first sample, or the first after a reboot; -ENOMEM.
 */
int interval_make(struct interval_maker *maker, struct sample *sample, struct interval *ret);
void interval_clear(struct interval *interval);

/**
 * interval_join() - two intervals as one
 * @sum:  the usage of @next is added to it; empty ({ 0 }): becomes a copy of @next
 * @next: begins where @sum ends
 *
 * Return: 0; -ENOMEM or -EOVERFLOW, and only a part of @next is in @sum.
 */
int interval_join(struct interval *sum, const struct interval *next);

/* Adds slept_uj and slept_percent to the interval's own discharge: the suspend is in it, or not kept anywhere. */
void interval_add_slept(struct interval *interval);

/*
 * Energy of one step of the level that gives discharge_uj; NaN: unknown. @step: a battery whose levels are the step
 * sizes; without a percentage there, that steps by 1.
 */
double interval_step_uj(const struct battery *battery, const struct battery *step);

/**
 * interval_skip() - takes a sample at which no interval ends
 * @sample: not kept; its battery gets the levels that count (level-watch.h). Totals lose nothing by this, and its
 *          screen events and bursts go to the next interval
 *
 * Return: 0; -ENOMEM.
 */
int interval_skip(struct interval_maker *maker, struct sample *sample);
