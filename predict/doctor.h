/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Findings of joulecast doctor. */

#include <limits.h>

#include "machine/machine.h"
#include "model/profile.h"
#include "options.h"
#include "source/battery.h"
#include "source/cpu.h"
#include "source/display-choice.h"
#include "source/display.h"

struct missing {
        const char *what;
        char why[640];
};

/*
 * Overhead of the service itself, from the kernel's counters since it started. NaN: unknown, as are rates before it
 * has run for some minutes: the start alone would count as thousands of seconds a day.
 */
#define OVERHEAD_LEAST_S 600
struct overhead {
        int pid;                  /* 0: none is running */
        unsigned n_running;
        double running_s;
        double cpu_s_per_day;
        double wakeups_per_hour;  /* voluntary context switches */
        double written_mb_per_day;
        double rss_mb, anonymous_mb;
        double percent_per_day;   /* percent of the battery, by the profile */
        double lost;              /* number of process ends and execs that it missed, as it reports */
};

/* Summary of the records of the last week. */
struct recorded {
        double recorded_s;        /* 0: nothing, or nothing that we may read */
        double counted_s;         /* part of that with CPU time by frequency from the kernel */
        double shared_s;          /* part with it estimated; the rest has one frequency, or none known */
        size_t n_sleeps;          /* long sleeps on battery, with the power in them */
        double suspend_mw, suspend_error_mw;
        double wifi_signal_dbm, cellular_signal_percent; /* means; NaN: unknown */
};

/* Hardware counters of the CPU. */
struct counters {
        bool known;        /* false: a machine tree has none */
        bool allowed;      /* by joulecast.conf */
        int n, err;        /* as in struct process_counters */
        char misses[32];   /* the cache event; "": none */
        char holders[256]; /* processes that have counters open; "": none that we see */
};

struct findings {
        struct battery_unit *batteries;
        size_t n_batteries;             /* batteries that count */
        size_t n_units;                 /* the same with the supplies behind them, and units that are left out */
        struct cpu_policy *policies;
        size_t n_policies;
        const struct collector *collectors[8];
        uint32_t counts[8];             /* COUNTS_* of each collector */
        uint32_t net_by[8];             /* enum net_by of each collector */
        size_t n_collectors;
        struct counters counters;
        bool with_overhead;
        struct overhead overhead;
        bool has_display, has_disk, has_net;
        struct display_state display;
        struct backlight_choice backlights;
        struct signal signal;           /* the present signal */
        char profile[PATH_MAX], database[PATH_MAX];
        struct profile *model;          /* the profile for answers; NULL: none */
        char model_why[160];            /* why that one; "": it is the device's own, or was named */
        struct recorded recorded;
        struct missing missing[48];
        size_t n_missing;
        bool no_memory;                 /* something may only seem to be missing: none of these findings counts */
};

/* `doctor --overhead`: looks for a running service; 0, or an exit code. */
int overhead_look(const struct options *options, struct findings *findings);

/* Returns @err, and remembers -ENOMEM: a part that could not be looked at is not missing. */
int doctor_saw(struct findings *findings, int err);
void doctor_miss(struct findings *findings, const char *what, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Finds the profile for answers, and why it is that one. 0; -ENOMEM. */
int doctor_look_at_profile(const struct options *options, struct findings *findings);

/* How the data in the database was collected; nothing where it cannot be read. */
void doctor_look_at_recorded(struct findings *findings);

/* Adds findings for values that the batteries do not show. */
void doctor_check_batteries(struct findings *findings);

/* Finds hardware counters, and who holds them. Call it before collectors are tried, as these hold some. */
void doctor_look_at_counters(int root_fd, const struct options *options, struct findings *findings);
/* Adds a finding for the accuracy that is lost without counters. @counts: COUNTS_* of the service's collector. */
void doctor_miss_counters(int root_fd, uint32_t counts, struct findings *findings);

/* Finds the screen, and which backlight belongs to it. */
void doctor_look_at_display(int root_fd, struct findings *findings);

/* A virtual device shows itself through the same samples as a real one. An exit code. */
int doctor_look_at_virtual(const struct options *options, struct findings *findings);

/* The sentences before and after the tables of a real machine. */
void doctor_print_verdict(const struct findings *findings);
void doctor_print_next(const struct findings *findings);

int doctor_json(const struct findings *findings);
int doctor_table(const struct findings *findings);
