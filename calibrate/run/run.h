/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A calibration run: it gets through the partial step, measures a randomised block, then the modes that add the most
 * information, until the error is small enough or a limit is reached. Each observation is stored before the next mode
 * begins.
 */

#include "estimate.h"
#include "estimator.h"
#include "plan.h"
#include "runner.h"

/* Output of a calibration run: lines for people, or JSON lines. A progress of NULL prints nothing. */

struct progress;

struct progress_start {
        const char *device, *method, *plan; /* plan: as in struct observation_run */
        int64_t run;
        bool resumed;
        size_t observations;                /* observations of a resumed run before this start */
        double percent;                     /* charge */
        struct run_estimate expected;
};

struct progress_state {
        double percent;            /* charge */
        double used_percent, hours;
        double hours_left;         /* NaN unknown */
        double half_width_percent; /* NaN unknown */
        size_t observations;
        const char *stopped;       /* why the run ended; NULL: it did not */
};

int progress_open(bool json, struct progress **ret);
void progress_close(struct progress *progress);

void progress_begin(struct progress *progress, const struct progress_start *start);
void progress_observation(struct progress *progress, const struct progress_state *state,
                          const struct observation *observation, double power_mw);
/* A pass of the gauge has ended. */
void progress_pass(struct progress *progress, const struct progress_state *state, uint32_t pass,
                   uint32_t passes);
/* The device was given back because of @reason; NULL: the run goes on. */
void progress_paused(struct progress *progress, const struct progress_state *state, const char *reason);
/*
 * @back: the access point can be reached again; else it cannot, and is tried again after @retry_s (INFINITY:
 * not in this run).
 */
void progress_wifi(struct progress *progress, const struct progress_state *state, bool back,
                   double retry_s);
/* The user stopped it: there is no profile. */
void progress_interrupted(struct progress *progress, const struct progress_state *state);
/* @fit: the answer of joulecast-fit; NULL: there is no profile. */
void progress_done(struct progress *progress, const struct progress_state *state,
                   const struct estimator_result *fit, const char *profile);

/* The user's request. */
struct run_request {
        double stop_percent;          /* the run ends when the 95 % half-width of a portfolio's energy is this small */
        uint32_t passes;              /* passes of a gauge */
        double daemons_tau_s;         /* daemons_tau() */
        double gauge_period_s;        /* this device's period in an earlier run; 0: not known yet */
        struct gauge_kernel kernel;   /* this device's kernel in an earlier run */
        double battery_limit_percent; /* INFINITY: none */
        double time_limit_h;          /* INFINITY: none */
        double write_limit_bytes;
        double wifi_limit_bytes;      /* NaN: the method decides */
        double cellular_limit_bytes;  /* NaN: the modem is left alone */
        uint64_t seed;
        bool resume;
        bool method_free;             /* another method may be chosen */
        bool virtual_device;          /* no wear, no data charges */
};

/* Set while no access point can be reached. */
struct run_away {
        unsigned tries;       /* failed tries in a row; 0: the access point can be reached */
        uint64_t until_ns;    /* boottime of the next try */
        bool called;          /* the one extra try at the end was made */
};

struct run {
        struct run_request request;
        const struct log *log;
        const char *database;           /* usage database for the portfolio; NULL: none */
        struct hardware *hardware;
        struct hardware_description description;
        struct plan plan;
        struct plan_limits limits;
        enum observation_method method;
        struct observations *observations;
        struct observation_run record;
        struct runner runner;
        struct estimator *child;        /* NULL: runs without joulecast-fit */
        struct estimator_judgement judgement;
        struct progress *progress;

        struct observation *before;     /* observations of a resumed run before this start */
        size_t n_before;
        bool was_finished;

        uint32_t sequence;              /* number of the next observation */
        uint32_t pass;
        size_t n, n_rejected;           /* observations of the run */
        size_t last;                    /* index of the last mode; SIZE_MAX: none */
        size_t *order;                  /* modes of the block or pass */
        size_t n_order, at;             /* at: current position */
        bool repeat;                    /* measure the same position again, after a pause */
        double earlier_percent, earlier_s; /* charge and time used before the run was resumed */
        double *seconds;                /* duration of each mode's last visit; NaN: not measured yet */
        size_t *times;                  /* number of visits of each mode in this run */
        bool *left_out;                 /* modes that the hardware cannot hold */
        size_t *refused;                /* number of rejected observations of each mode */
        struct run_away away;
        size_t *postponed;              /* modes of the block or pass that wait for the access point */
        size_t n_postponed;
        double written_bytes, moved_bytes[AIR_COUNT]; /* totals of this run, for the limits */
        uint64_t start_ns;
        double start_percent;           /* charge at the start */
        size_t n_scatter;               /* observations of percents under a steady load (run-scatter.c), part of n */
        bool warned;                    /* a coarse level was logged */
        double biggest_percent;         /* most charge used by one observation so far */
        const char *stopped;            /* reason of the end; static text */
};

/* Number of passes of a gauge, unless the user gives one. */
uint32_t run_usual_passes(const struct hardware_description *description, const struct plan *plan);

/* Starts a new run or resumes one. Errors are logged. */
int run_begin(struct run *run);
/* Starts joulecast-fit and allocates; the runner must be open. */
int run_open(struct run *run);
void run_close(struct run *run);

/* Charge at which a resumed run had stopped; a virtual device continues from it. NaN: a new run. */
double run_left_at(const struct run *run);
int64_t run_ended_ns(const struct run *run); /* realtime */

/*
 * 0: finished, or a limit was reached (`stopped`); -EINTR: stopped by the user; -EPROTO, logged: the gauge or
 * the fine level does not work; -EDOM, logged: no level of this battery is usable; another negative errno, logged.
 */
int run_perform(struct run *run);

double run_used_percent(const struct run *run);
double run_hours(const struct run *run);
double run_hours_left(const struct run *run); /* NaN unknown */
struct progress_state run_state(const struct run *run);

/* Lowers the plan to the limits for this machine's storages and network. -ENOMEM. */
int run_limits(struct run *run);

/* An estimate for the whole run, before it starts. -ENOMEM. */
int run_estimate(const struct hardware_description *description, const struct plan *plan,
                 enum observation_method method, const struct run_request *request, struct run_estimate *ret);

/* The most observations of a run by percent, or with --only; and the usual number of a run by level. */
double run_observations_max(const struct run *run);
double run_observations_usual(const struct plan *plan, enum observation_method method,
                              const struct run_request *request);

/* Duration of a state that the follower chooses, relative to the mean duration in the block. */
double run_chosen_share(enum observation_method method);

/* Approximate charge for one visit of each state of the block, each at least @step_percent and @least_s long. */
double run_block_percent(const struct run *run, double step_percent, double least_s);

/*
 * run-coarse.c: is the gauge too coarse, by its readings so far? 0: no; -EPROTO: yes, but the percentage may be usable;
 * -EDOM: yes, and nothing else of this battery is usable. Logged.
 */
int run_coarse_level(struct run *run);
int run_coarse_period(const struct run *run);
/* After the step test. -EPROTO: its averaging is of no known kind, or waiting for it would take too much charge. */
int run_coarse_kernel(const struct run *run);
double run_gauge_wait_s(const struct run *run); /* additional time of each dwell if the gauge averages or is late */
int run_coarse_quantum(const struct run *run, double idle_mw);

/* run.c, shared by the methods. */
int run_store(struct run *run, struct observation *observation, size_t mode);
/* Can this mode not be measured, or not within the limits? */
bool run_leaves_out(const struct run *run, size_t mode);
/* Would it exceed a limit? Sets `stopped`. */
bool run_limit(struct run *run, double percent, double seconds);

/* At the end of a run: the held-back mode that the follower doubts; SIZE_MAX: none, or it cannot be held. */
size_t run_doubted(const struct run *run);

/* run-away.c: modes are postponed to the end of the block or pass */
#define RUN_ORDER_MAX(run) (3 * (run)->plan.n + 3)
bool run_is_away(const struct run *run, size_t mode); /* it needs the access point, which is not tried now */
void run_went_away(struct run *run, size_t mode);     /* the access point was lost or not found */
/* Updates the state of the access point from an observation of @mode. */
void run_was_there(struct run *run, const struct observation *observation, size_t mode);
bool run_postpone(struct run *run, size_t mode); /* true: it was postponed */
/* Makes the postponed modes the order. False: there are none, or no try is left. */
bool run_take_postponed(struct run *run);
/*
 * At the end of a run: a mode that was never measured because the access point was away; SIZE_MAX: none. Works
 * once.
 */
size_t run_last_call(struct run *run);

/* Gives the device back until it may be held again. -ETIMEDOUT: that took too long. */
int run_pause(struct run *run);
/* run-scatter.c: do shown percents hold equal charges? -EDOM, logged: they do not; 1: the level is not at a step. */
int run_scatter(struct run *run);
/* Charge that run_scatter() takes, usually and at most, in a run that may use @room_percent. */
double run_scatter_percents(const struct plan *plan, enum observation_method method,
                            const struct run_request *request, double room_percent, double *most);
int run_gauge(struct run *run);
int run_levels(struct run *run);
