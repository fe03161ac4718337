/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A night: burn the partial step, measure a randomised block, then what tells
 * most, until it is good enough or a limit comes; each observation is stored
 * before the next mode begins.
 */

#include "estimator.h"
#include "plan.h"
#include "progress.h"
#include "runner.h"

/* What is asked of a run. */
struct run_request {
        double stop_percent;          /* good enough: 95 % half-width of a portfolio's energy */
        uint32_t passes;              /* gauge */
        double battery_limit_percent; /* INFINITY: none */
        double time_limit_h;          /* INFINITY: none */
        double write_limit_bytes;
        double wifi_limit_bytes;      /* NaN: the method decides */
        uint64_t seed;
        bool resume;
        bool virtual_device;          /* nothing wears and no data costs */
};

/* The access point, as long as it cannot be reached. */
struct run_away {
        unsigned tries;       /* in a row, all in vain; 0: it is there, as far as is known */
        uint64_t until_ns;    /* boottime; before that it is not tried again */
        bool called;          /* it was tried once more when there was nothing else to do */
};

struct run {
        struct run_request request;
        const struct log *log;
        const char *database;           /* recorded usage to judge by; NULL: none */
        struct hardware *hardware;
        struct hardware_description description;
        struct plan plan;
        struct plan_limits limits;
        enum observation_method method;
        struct observations *observations;
        struct observation_run record;
        struct runner runner;
        struct fit_child *child;        /* NULL: there is no joulecast-fit */
        struct fit_judgement judgement;
        struct progress *progress;

        struct observation *before;     /* of the run that is resumed */
        size_t n_before;
        bool was_finished;

        uint32_t sequence;              /* of the next observation */
        uint32_t pass;
        size_t n, n_rejected;           /* observations of the run */
        size_t last;                    /* index of the mode before; SIZE_MAX: none */
        size_t *order;                  /* of the block or pass at hand */
        size_t n_order, at;             /* at: how far it is done */
        bool repeat;                    /* a pause came between: the same place again */
        double earlier_percent, earlier_s; /* used by the sessions before */
        double *seconds;                /* of each mode, as last measured; NaN: not yet */
        size_t *times;                  /* how often each mode was measured in this run */
        bool *left_out;                 /* modes that the hardware cannot be held in */
        size_t *refused;                /* how often each was rejected */
        struct run_away away;
        size_t *postponed;              /* of the block or pass at hand, for want of the access point */
        size_t n_postponed;
        double written_bytes, moved_bytes; /* by this run, of the limits */
        uint64_t start_ns;
        double biggest_percent;         /* used by one observation so far */
        const char *stopped;            /* why it ended; static text */
};

/* The run: a new one, or the one that is resumed with what it has. Errors have said their sentence. */
int run_begin(struct run *run);
/* The child and the books; the runner must be open. */
int run_open(struct run *run);
void run_close(struct run *run);

/* Charge at which a resumed night ended, for a virtual device that goes on there; NaN: it is new. */
double run_left_at(const struct run *run);
int64_t run_ended_ns(const struct run *run); /* realtime of its last observation's end */

/*
 * 0: ended by itself or by a limit (`stopped`); -EINTR: asked to stop; -EPROTO: the gauge or the fine level
 * does not do what it shows, said to the log; another negative errno after a sentence.
 */
int run_perform(struct run *run);

double run_used_percent(const struct run *run);
double run_hours(const struct run *run);
double run_hours_left(const struct run *run); /* NaN unknown */
struct progress_state run_state(const struct run *run);

/*
 * Of what this machine's storages and its network must bear,
 * by the options and the method: lowers the plan to them.
 */
void run_limits(struct run *run);

/* Before anything runs: what a whole night takes, roughly. */
struct run_estimate {
        size_t observations;
        double hours, percent;
};
struct run_estimate run_estimate(const struct hardware_description *description, const struct plan *plan,
                                     enum observation_method method, const struct run_request *request);

/* run.c, shared by the methods. */
int run_store(struct run *run, struct observation *observation, size_t mode);
/* It cannot be run, or not within the limits. */
bool run_leaves_out(const struct run *run, size_t mode);
/* Would the next go beyond? Sets `stopped`. */
bool run_limit(struct run *run, double percent, double seconds);

/* run-away.c; what waits is kept until the end of the block or pass */
#define RUN_ORDER_MAX(run) (3 * (run)->plan.n + 3)
bool run_is_away(const struct run *run, size_t mode); /* it waits for the access point */
void run_went_away(struct run *run, size_t mode);     /* it could not be reached for it, or was lost */
/* What an observation of @mode says of it. */
void run_was_there(struct run *run, const struct observation *observation, size_t mode);
bool run_postpone(struct run *run, size_t mode); /* true: it waits, and is kept */
/* What was kept is the order now, and may be tried at once. False: nothing is, or no try is left. */
bool run_take_postponed(struct run *run);
/* When there is nothing else: a mode that was never measured for want of it. SIZE_MAX: none; only once. */
size_t run_last_call(struct run *run);

/* Gives the device back until the runner's hindrance has passed. -ETIMEDOUT: that took too long. */
int run_pause(struct run *run);
int run_gauge(struct run *run);
int run_levels(struct run *run);
