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
#include "source/display.h"

struct missing {
        const char *what;
        char why[640];
};

/*
 * What the service itself costs, from the kernel's counters since it started. NaN: unknown, as is a rate before it
 * has run for some minutes: the start alone would be thousands of seconds a day.
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
        double percent_per_day;   /* of the battery, by the profile */
        double lost;              /* ends and execs that it missed, as it reports */
};

/* What was recorded in the last week. */
struct recorded {
        double recorded_s;        /* 0: nothing, or nothing that we may read */
        double counted_s;         /* of these with CPU time by frequency from the kernel */
        double shared_s;          /* with it estimated; the rest has one frequency, or none known */
        size_t n_sleeps;          /* long ones on battery, with the power in them */
        double suspend_mw, suspend_error_mw;
        double wifi_signal_dbm, cellular_signal_percent; /* means; NaN: unknown */
};

struct findings {
        struct battery_unit *batteries;
        size_t n_batteries;
        struct cpu_policy *policies;
        size_t n_policies;
        const struct collector *collectors[8];
        uint32_t counts[8];             /* COUNTS_* of each */
        uint32_t net_by[8];             /* enum net_by of each */
        size_t n_collectors;
        bool with_overhead;
        struct overhead overhead;
        bool has_display, has_disk, has_net;
        struct display_state display;
        struct signal signal;           /* now */
        char profile[PATH_MAX], database[PATH_MAX];
        struct profile *model;          /* that answers are made by; NULL: none */
        char model_why[160];            /* "": the device's own, or named */
        struct recorded recorded;
        struct missing missing[48];
        size_t n_missing;
        bool no_memory;                 /* what was looked for may be there: nothing of all this counts */
};

/* `doctor --overhead`: looks for a running service; 0, or an exit code. */
int overhead_look(const struct options *options, struct findings *findings);

void doctor_clear(struct findings *findings);
/* Returns @err, and remembers -ENOMEM: what could not be looked at is not missing. */
int doctor_saw(struct findings *findings, int err);
void doctor_miss(struct findings *findings, const char *what, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Which profile answers are made by, and why that one. 0; -ENOMEM. */
int doctor_look_at_profile(const struct options *options, struct findings *findings);

/* How the data in the database was collected; nothing where it cannot be read. */
void doctor_look_at_recorded(struct findings *findings);

/* What the batteries that were found do not show. */
void doctor_check_batteries(struct findings *findings);

/* A virtual device shows itself through the same samples as a real one. An exit code. */
int doctor_look_at_virtual(const struct options *options, struct findings *findings);

int doctor_json(const struct findings *findings);
int doctor_table(const struct findings *findings);
