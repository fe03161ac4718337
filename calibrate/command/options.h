/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The command line of joulecast-calibrate. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/options.h"

enum method_choice {
        CHOICE_AUTO,
        CHOICE_PERCENT,
        CHOICE_GAUGE,
        CHOICE_TICKS,
};

#define OPTIONS_DISKS_MAX 8

struct options {
        enum method_choice method;
        bool sapp;                    /* --plan sapp */
        unsigned only;                /* --only: 1 << component; 0: everything */
        double stop_percent;
        uint32_t passes;              /* 0: not given */
        double battery_limit_percent; /* INFINITY: none */
        double time_limit_h;          /* INFINITY: none */
        double start_percent;         /* NaN: not given */
        uint64_t seed;
        bool dry_run, yes, json, resume;
        const char *device;           /* NULL: this machine */
        const char *machine;          /* folder with its `sys` and `proc`; NULL: the running one */
        const char *profile, *observations, *database; /* NULL: the default */
        /* The options below concern this machine alone; only cellular_limit_bytes is for a virtual device, too. */
        const char *disks[OPTIONS_DISKS_MAX]; /* --disk FOLDER, once per storage; none: the storage of /var/tmp */
        size_t n_disks;
        double write_limit_bytes;     /* NaN: not given */
        double cellular_limit_bytes;  /* NaN: not given; the modem is left alone */
        double wifi_limit_bytes;      /* NaN: not given; the method decides */
        const char *wifi_url, *wifi_peer, *cellular_peer; /* NULL: the modes that need it are not measured */
        bool allow_disconnect, force_discharge;
        bool restore;                 /* --restore: put back what an earlier run left, and nothing else */
        const char *schedule;         /* --schedule HH:MM, or "off"; NULL: now */
        struct option_place schedule_place;
};

/* -1: go on; else the exit code, after an answer or one sentence to @log. */
int options_parse(int argc, char **argv, const struct log *log, struct options *ret);
