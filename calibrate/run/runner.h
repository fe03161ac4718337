/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The runner holds a device in a mode until its battery has shown how much that takes, and makes an
 * observation of it. The battery's behaviour (refresh, step size) is measured, never assumed.
 */

#include <signal.h>

#include "hardware/hardware.h"
#include "interval/interval.h"
#include "look.h"
#include "observation/daemons.h"
#include "observation/observation.h"
#include "observation/signal-mean.h"
#include "refresh.h"

/* Since the span began. */
struct span {
        uint64_t start_ns;
        int64_t start_realtime_ns;
        struct usage usage;
        double voltage_mv_s, voltage_s; /* integral, and the time it covers */
        double power_mj, power_s;       /* the same of the sensor of power */
        struct signal_mean signal;      /* of the readings at both ends, or of all looks */
        uint64_t suspend_ns;
        bool disturbed;                 /* a charger was plugged in */
};

struct runner {
        struct hardware *hardware;
        const struct hardware_description *description;
        const volatile sig_atomic_t *stop; /* set by a signal */
        bool fine;                  /* watch charge_now or energy_now instead of the percentage */
        double step_percent;        /* the smallest seen so far; NaN unknown */
        unsigned falls;             /* of the watched level */
        struct refresh refresh;     /* of the watched level */
        double gauge_period_s;      /* NaN unknown */
        double daemons_tau_s;       /* DAEMONS_TAU_S, or as the caller sets it after runner_open() */
        double gauge_quantum_mw;    /* the smallest change so far, at least the quantum; NaN unknown */
        unsigned gauge_changes;     /* seen so far */
        uint64_t gauge_first_ns;    /* first and last update seen; boottime */
        uint64_t gauge_update_ns;
        uint64_t deadline_ns;       /* boottime at which the run ends; UINT64_MAX: none */

        struct look first;          /* at the start; times are counted from it, so that setting the clock
                                       does no harm */
        double used_before;         /* percent of charge, before `first` */
        double drawn_percent;       /* by the current sensor since `first`; NaN: no sensor */
        int hindrance;              /* what may_go_on() returned at the last look */
        char reason[64];            /* and its reason */

        struct sample sample, battery_sample;
        struct interval interval;
        struct interval_maker *maker;
        struct look look;
        struct span span;
};

int runner_open(struct hardware *hardware, const struct hardware_description *description,
                const volatile sig_atomic_t *stop, bool fine, struct runner *ret);
void runner_close(struct runner *runner);

/* Reads the battery and adds up. */
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
/* Around a pause: what the battery loses meanwhile does not count. */
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

/* How long a mode lasts at least. @runner: for its refresh; NULL: before that is known. */
double runner_shortest_s(const struct runner *runner, enum observation_method method);

/* Finds the gauge's update period and quantum under @mode. -ETIMEDOUT: it does not change; or a hindrance. */
int runner_learn_gauge(struct runner *runner, const struct mode *mode);
/* Mean of some updates of the gauge, without traces of the mode before. */
int runner_dwell(struct runner *runner, const struct mode *mode, struct observation *ret);
double runner_dwell_s(double gauge_period_s);     /* how long a dwell takes */
double runner_idle_more_s(double gauge_period_s, double daemons_tau_s); /* and so much longer at idle */

/* Rejected for a pause: says nothing about the machine, is measured again, and does not count below. */
bool runner_rejected_pause(const struct observation *observation);
/* Rejected because the access point was lost: its modes come again when it is back. */
bool runner_rejected_away(const struct observation *observation);
/* Too many of @n are rejected to go on. */
bool runner_rejected_too_many(size_t n_rejected, size_t n);
