/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A night: burn the partial step, measure a randomised block, then what tells
 * most, until it is good enough or a limit comes; each observation is stored
 * before the next mode begins.
 */

#include "estimator.h"
#include "command/options.h"
#include "plan.h"
#include "runner.h"

struct progress;

/* The access point, as long as it cannot be reached. */
struct night_away {
        unsigned tries;       /* in a row, all in vain; 0: it is there, as far as is known */
        uint64_t until_ns;    /* boottime; before that it is not tried again */
        bool called;          /* it was tried once more when there was nothing else to do */
};

struct night {
        const struct options *options;
        const struct log *log;
        const char *database;           /* recorded usage to judge by; NULL: none */
        struct hardware *hardware;
        struct hardware_description description;
        struct plan plan;
        struct plan_limits limits;
        enum observation_method method;
        struct observations *observations;
        struct observation_run run;
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
        struct night_away away;
        size_t *postponed;              /* of the block or pass at hand, for want of the access point */
        size_t n_postponed;
        double written_bytes, moved_bytes; /* by this run, of the limits */
        uint64_t start_ns;
        double biggest_percent;         /* used by one observation so far */
        const char *stopped;            /* why it ended; static text */
};

/* The run: a new one, or the one that is resumed with what it has. Errors have said their sentence. */
int night_begin(struct night *night);
/* The child and the books; the runner must be open. */
int night_open(struct night *night);
void night_close(struct night *night);

/* Charge at which a resumed night ended, for a virtual device that goes on there; NaN: it is new. */
double night_left_at(const struct night *night);
int64_t night_ended_ns(const struct night *night); /* realtime of its last observation's end */

/*
 * 0: ended by itself or by a limit (`stopped`); -EINTR: asked to stop; -EPROTO: the gauge or the fine level
 * does not do what it shows, said to the log; another negative errno after a sentence.
 */
int night_run(struct night *night);

double night_used_percent(const struct night *night);
double night_hours(const struct night *night);
double night_hours_left(const struct night *night); /* NaN unknown */

/*
 * Of what this machine's storages and its network must bear,
 * by the options and the method: lowers the plan to them.
 */
void night_limits(struct night *night);

/* Before anything runs: what a whole night takes, roughly. */
struct night_estimate {
        size_t observations;
        double hours, percent;
};
struct night_estimate night_estimate(const struct hardware_description *description, const struct plan *plan,
                                     enum observation_method method, const struct options *options);

/* run.c, shared by the methods. */
int night_store(struct night *night, struct observation *observation, size_t mode);
/* It cannot be run, or not within the limits. */
bool night_leaves_out(const struct night *night, size_t mode);
/* Would the next go beyond? Sets `stopped`. */
bool night_limit(struct night *night, double percent, double seconds);

/* run-away.c; what waits is kept until the end of the block or pass */
#define NIGHT_ORDER_MAX(night) (3 * (night)->plan.n + 3)
bool night_is_away(const struct night *night, size_t mode); /* it waits for the access point */
void night_went_away(struct night *night, size_t mode);     /* it could not be reached for it, or was lost */
/* What an observation of @mode says of it. */
void night_was_there(struct night *night, const struct observation *observation, size_t mode);
bool night_postpone(struct night *night, size_t mode); /* true: it waits, and is kept */
/* What was kept is the order now, and may be tried at once. False: nothing is, or no try is left. */
bool night_take_postponed(struct night *night);
/* When there is nothing else: a mode that was never measured for want of it. SIZE_MAX: none; only once. */
size_t night_last_call(struct night *night);

/* Gives the device back until the runner's hindrance has passed. -ETIMEDOUT: that took too long. */
int night_pause(struct night *night);
int night_gauge(struct night *night);
int night_levels(struct night *night);
