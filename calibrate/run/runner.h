/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The runner holds a device in a mode until its battery has shown the energy of that mode, and makes an observation.
 * The battery's behaviour (refresh, step size) is measured, never assumed.
 */

#include <signal.h>

#include "hardware/hardware.h"
#include "interval/interval.h"
#include "interval/level-watch.h"
#include "look.h"
#include "observation/daemons.h"
#include "observation/observation.h"
#include "observation/signal-mean.h"
#include "refresh.h"
#include "step-test.h"

/* Sums since the span began. */
struct span {
        uint64_t start_ns;
        int64_t start_realtime_ns;
        struct usage usage;
        double voltage_mv_s, voltage_s; /* integral, and the time it covers */
        double power_mj, power_s;       /* the same of the power sensor */
        struct signal_mean signal;      /* mean of the readings at both ends, or at all looks */
        uint64_t suspend_ns;
        bool disturbed;                 /* a charger was plugged in */
};

/* Number of different readings that are enough to show the quantum. */
#define GAUGE_SEEN_MAX 256

/* Two measurements of the energy of the same stretches since the run began. */
struct compared {
        double drawn_j, counted_j; /* by the sensor, and by a level finer than a percent */
        double step_j;             /* the level's largest change from one look to the next */
};

struct runner {
        struct hardware *hardware;
        const struct hardware_description *description;
        const volatile sig_atomic_t *stop; /* set by a signal */
        bool fine;                  /* watch charge_now or energy_now instead of the percentage */
        double step_percent;        /* smallest step seen so far; NaN unknown */
        unsigned falls;             /* number of falls of the watched level */
        struct refresh refresh;     /* refresh of the watched level */
        double gauge_period_s;      /* NaN unknown */
        double daemons_tau_s;       /* DAEMONS_TAU_S, or as the caller sets it after runner_open() */
        double gauge_quantum_mw;    /* smallest difference of two readings, at least the quantum; NaN unknown */
        unsigned gauge_changes;     /* number of changes of the reading seen so far */
        double seen[GAUGE_SEEN_MAX]; /* different readings of the sensor, ascending */
        size_t n_seen;
        struct step_test step;      /* the gauge's readings */
        uint64_t step_start_ns;     /* its second 0 */
        struct gauge_kernel kernel; /* how the gauge averages and delays */
        uint64_t gauge_first_ns;    /* first and last update seen; boottime */
        uint64_t gauge_update_ns;
        uint64_t deadline_ns;       /* boottime at which the run ends; UINT64_MAX: none */

        struct look first;          /* the first look; times are counted from it, so that setting the clock
                                       does no harm */
        double used_before;         /* charge used before `first`, percent */
        double drawn_percent;       /* charge by the current sensor since `first`; NaN: no sensor */
        struct compared compared;   /* comparison of the sensor and the level */
        int hindrance;              /* return value of may_go_on() at the last look */
        char reason[64];            /* and its reason */
        char changed
                [64]; /* another program changed a setting in the last span: it is set again, and the span must be
                         measured again; "": none did */

        struct sample sample, battery_sample;
        struct interval interval;
        struct interval_maker *maker;
        struct battery_watch watch; /* ignores levels that a gauge shows for seconds only */
        struct look look;
        struct span span;
};

int runner_open(struct hardware *hardware, const struct hardware_description *description,
                const volatile sig_atomic_t *stop, bool fine, struct runner *ret);
void runner_close(struct runner *runner);

/* Reads the battery and adds to the sums. */
int runner_look(struct runner *runner);
/* Percent of charge used since the start: by the current sensor, else by the level's steps. */
double runner_used_percent(const struct runner *runner);
/*
 * Waits, looking every @poll_s, or earlier if the hardware has news. -EINTR: stopped by the user; -ETIME: the
 * deadline; -EDQUOT: refuse_floor_percent(); -ENODATA: empty; or a hindrance.
 */
int runner_wait(struct runner *runner, double seconds, double poll_s);
/* The same while the device is given back; hindrances do not end it. */
int runner_wait_aside(struct runner *runner, double seconds);
/* Begin and end of a pause: charge that the battery loses meanwhile does not count. */
void runner_pause(struct runner *runner);
void runner_go_on(struct runner *runner);

/*
 * The functions below hold a mode. A hindrance (-EAGAIN, -EIO) ends it early: the observation is rejected,
 * `hindrance` is set, and they return 0. -ECANCELED ends the run.
 */

/*
 * Holds @mode through the partial first step of the level; its observation is not fitted. Learns the step
 * size.
 */
int runner_burn(struct runner *runner, const struct mode *mode, struct observation *ret);

/*
 * From one step of the level to another: at least @steps_percent and runner_shortest_s(). The level must
 * have just stepped.
 */
int runner_steps(struct runner *runner, const struct mode *mode, double steps_percent, struct observation *ret);

/* Shortest duration of a mode. @runner: has the measured refresh; NULL: it is not known yet. */
double runner_shortest_s(const struct runner *runner, enum observation_method method);

/* Finds the gauge's update period and quantum under @mode. -ETIMEDOUT: it does not change; or a hindrance. */
int runner_learn_gauge(struct runner *runner, const struct mode *mode);
/*
 * Holds rest, @burn, and rest, to find runner->kernel; to be called after runner_learn_gauge(). 0, -ENOMEM, or a
 * hindrance. @idle: the mode at rest.
 */
int runner_step_test(struct runner *runner, const struct mode *burn, const struct mode *idle);
/* Duration of the step test at rest and under the load. */
void runner_step_test_s(double gauge_period_s, double *rest_s, double *load_s);
/* Mean of some updates of the gauge, without traces of the mode before. */
int runner_dwell(struct runner *runner, const struct mode *mode, struct observation *ret);
/* Duration of a dwell: usually, and with a certain mode; and of runner_learn_gauge(). */
double runner_dwell_s(double gauge_period_s);
double runner_mode_s(const struct mode *mode, double gauge_period_s, double daemons_tau_s);
double runner_learn_s(double gauge_period_s);

/* Was it rejected because of a pause? It is measured again, and does not count in runner_rejected_too_many(). */
bool runner_rejected_pause(const struct observation *observation);
/* Was it rejected because the access point was lost? Such modes are measured again when it is back. */
bool runner_rejected_away(const struct observation *observation);
/* Are too many of @n observations rejected to go on? */
bool runner_rejected_too_many(size_t n_rejected, size_t n);
