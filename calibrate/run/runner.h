/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The runner holds a device in a mode until its battery has said how much that
 * costs, and makes an observation of it. What the battery's chip does (when it
 * refreshes, in which steps it counts) is measured here and never assumed.
 */

#include <signal.h>

#include "hardware/hardware.h"
#include "interval/interval.h"
#include "look.h"
#include "observation/observation.h"
#include "refresh.h"

/* What happened since the span was begun. */
struct span {
        uint64_t start_ns;
        int64_t start_realtime_ns;
        struct usage usage;
        double voltage_mv_s, voltage_s; /* integral and the time that it covers */
        uint64_t suspend_ns;
        bool disturbed;                 /* charger plugged in */
};

struct runner {
        struct hardware *hardware;
        const struct hardware_description *description;
        const volatile sig_atomic_t *stop; /* set by a signal */
        bool fine;                  /* watch charge_now or energy_now instead of the percentage */
        double step_percent;        /* of the watched level, as seen; NaN unknown */
        struct refresh refresh;     /* of the watched level */
        double gauge_period_s;      /* NaN unknown */
        double gauge_quantum_mw;    /* NaN unknown */
        uint64_t gauge_first_ns;    /* an update that was seen, and the last one; boottime */
        uint64_t gauge_update_ns;
        uint64_t deadline_ns;       /* boottime at which all must stop; UINT64_MAX: none */

        struct look first;          /* at the start; a stepped clock does not tear the night apart */
        double used_before;         /* percent of charge, up to `first` */
        double drawn_percent;       /* by the current sensor, since then; NaN: it has none */
        int hindrance;              /* what may_go_on() said at the last look */
        char reason[64];            /* in its words */

        struct sample sample, battery_sample;
        struct interval interval;
        struct interval_maker *maker;
        struct look look;
        struct span span;
};

int runner_open(struct hardware *hardware, const struct hardware_description *description,
                const volatile sig_atomic_t *stop, bool fine, struct runner *ret);
void runner_close(struct runner *runner);

/* Reads the battery and counts on. */
int runner_look(struct runner *runner);
/*
 * Percent of charge used since the start: by the current
 * sensor, else by the level's steps, halfway through one.
 */
double runner_used_percent(const struct runner *runner);
/*
 * Lets time pass, looking every @poll_s, or earlier where the hardware has news. -EINTR: asked to stop;
 * -ETIME: the deadline; -EDQUOT: refuse_floor_percent(); -ENODATA: empty; or the hindrance that came up.
 */
int runner_wait(struct runner *runner, double seconds, double poll_s);
/* The same while the device is given back, and whatever hinders. */
int runner_wait_aside(struct runner *runner, double seconds);
/* Around a pause: what the battery does meanwhile is not ours. */
void runner_pause(struct runner *runner);
void runner_go_on(struct runner *runner);

/*
 * Those below hold a mode. What hinders it (-EAGAIN, -EIO) ends it early: the observation is rejected then,
 * `hindrance` tells, and they return 0; -ECANCELED ends the night.
 */

/*
 * Holds @mode until the level makes its next step: the partial first one that says nothing. Fills a burnt
 * observation. Learns the size of the steps.
 */
int runner_burn(struct runner *runner, const struct mode *mode, struct observation *ret);

/*
 * From one step of the level to another: at least @steps_percent, and at least @min_s and ten refreshes,
 * whichever comes last. The level must just have stepped.
 */
int runner_steps(struct runner *runner, const struct mode *mode, double steps_percent, double min_s,
                 struct observation *ret);

/* Finds the gauge's update period and quantum under @mode. -ETIMEDOUT: it never changes; or the hindrance. */
int runner_learn_gauge(struct runner *runner, const struct mode *mode);
/* Mean of some updates of the gauge, without what the mode before left in it. */
int runner_dwell(struct runner *runner, const struct mode *mode, struct observation *ret);
double runner_dwell_s(double gauge_period_s); /* how long that takes */

/* Rejected for a pause: says nothing about the machine, is measured again, and does not count below. */
bool runner_rejected_pause(const struct observation *observation);
/* Rejected because the access point was lost: its modes come again when it is back. */
bool runner_rejected_away(const struct observation *observation);
/* Too many of @n are rejected to go on. */
bool runner_rejected_too_many(size_t n_rejected, size_t n);
