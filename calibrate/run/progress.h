/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Output of a calibration run: lines for people, or JSON lines. A progress of NULL prints nothing. */

#include "estimate.h"
#include "estimator.h"

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
