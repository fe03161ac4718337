/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One observation: the changes of the counters, and the energy from the battery, while the device was held in one mode.
 * observations.db stores each at once, so that a run survives an interruption and can be fitted again.
 */

#include "mode.h"
#include "model/usage-json.h"
#include "util/log.h"

enum observation_method {
        METHOD_PERCENT, /* from one 1 % drop to another */
        METHOD_GAUGE,   /* mean of power_now over a dwell */
        METHOD_TICKS,   /* between steps of charge_now or energy_now finer than 1 % */
};

extern const char *const observation_method_names[]; /* "percent", "gauge", "ticks", NULL */
/* -EINVAL; @name may be NULL. */
int observation_method_from_name(const char *name, enum observation_method *ret);

struct observation {
        int64_t id;               /* row in the database; 0 before it is stored */
        int64_t run;              /* a calibration run; a resumed run keeps its number */
        uint32_t sequence;        /* within the run */
        uint32_t pass;            /* 0: the first randomised block */
        char mode[MODE_NAME_MAX];
        char kind[16];
        enum observation_method method;
        int64_t start_realtime_ns;
        uint64_t elapsed_ns;
        double percent;           /* state of charge in the middle; exact if measured by level steps */
        double steps; /* percent and ticks: level steps that passed, in percent of charge; NaN for gauge. A
                         step appears up to one refresh late; the fit corrects for it */
        double charge_full_uah;   /* NaN unknown */
        double voltage_mv;        /* mean of voltage_now; NaN: the device shows none */
        double power_mw;          /* mean of power_now; not used if measured by level; NaN: no sensor */
        uint32_t gauge_updates;   /* gauge: number of distinct updates in the mean */
        double gauge_begin_mw;    /* gauge: reading at the begin of the dwell, and its last one; NaN unknown */
        double gauge_end_mw;
        char gauge_kind[16];      /* the step test's finding (run/step-test.h); "": there was none */
        double gauge_kernel_s;    /* time constant, or length of the mean */
        double gauge_delay_s;
        double drawn_j;           /* gauge: energy from the run's begin to the end of this row, by the sensor ... */
        double counted_j;         /* ... and by a level finer than a percent; NaN: no such level, or too few steps */
        double refresh_s;         /* measured refresh of the level or the gauge; NaN: not known yet */
        double temperature_c;     /* NaN unknown */
        double wifi_signal_dbm;   /* mean of the readings, as cellular_signal_percent; NaN unknown, or not on */
        double cellular_signal_percent;
        struct usage usage;       /* changes of the system's counters over elapsed_ns */
        bool burn;                /* first partial step: not fitted */
        bool held_back;           /* mixed row that validates and is not fitted */
        char rejected[96];        /* why it may not be fitted, or "" */
};

struct observations; /* observations.db */

struct observation_run {
        int64_t id;
        char device[64];
        char method[16];           /* as in the profile */
        char plan[64];             /* "", "sapp" or "only display,wifi" */
        uint64_t seed;
        int64_t start_realtime_ns;
        double energy_full_mwh;    /* NaN unknown */
        uint32_t max_brightness;
        char *description;         /* JSON of struct hardware_description: policies, disks ...; free() */
        bool finished;
};

/*
 * All functions below log their error. Writing creates the file (0600) and our own folder (0700) and locks
 * them: a second writer gets -EBUSY. Reading: -ENOENT, or -ENODATA where nothing was written yet.
 */
int observations_open(const char *path, bool write, const struct log *log, struct observations **ret);
void observations_close(struct observations *observations);
/* Sets run->id. */
int observations_start(struct observations *observations, struct observation_run *run);
/* One transaction; sets id. */
int observations_append(struct observations *observations, struct observation *observation);
int observations_finish(struct observations *observations, int64_t run);
/* Runs that have observations, newest last. */
int observations_runs(struct observations *observations, struct observation_run **ret, size_t *n);
void observations_free_runs(struct observation_run *runs, size_t n);
/* All of one run, in order. */
int observations_read(struct observations *observations, int64_t run, struct observation **ret, size_t *n);
void observations_free(struct observation *list, size_t n);
void observation_clear(struct observation *observation);

/*
 * `joulecast-fit --follow`: JSON lines over pipes. calibrate writes, fit answers each line with one line.
 *
 *   {"start": {"device", "method", "energy_full_mwh", "max_brightness", "policies": [..],
 *              with --only "only": [components] and "before": text of the profile that keeps the rest,
 *              "database": PATH or null, "stop_percent": 3,
 *              "modes": [{"name", "kind", "usage": {some seconds of it}, "held_back"}]}}
 *     -> {"ready": true, "parameters": N}
 *   {"observation": {...}, "remaining": {"percent": .., "hours": ..},
 *    "left_out": [modes that cannot come now]}
 *     -> {"rows": N, "half_width_percent": .. or null, "next": mode or null, "expected_hours": ..,
 *         "expected_percent": .., "doubted": mode to be measured before the run ends (held back and
 *          in disagreement, or grey where black showed that the picture matters), or null}
 *   {"observation": {...}, "keep": true}   ; without a judgement
 *     -> {"kept": N}
 *   {"end": true}
 *     -> {"bye": true}
 *
 * A coefficient that only left-out modes would measure is not part of the half-width.
 * An error is {"error": "one sentence"}. The usage's JSON is that of usage_to_json().
 */
struct cJSON;

/* All members ("id", "run" and "start_realtime_ns" as decimal strings), "method" and "usage" (usage-json.h). */
struct cJSON *observation_to_json(const struct observation *observation);
int observation_from_json(const struct cJSON *json, struct observation *ret);
