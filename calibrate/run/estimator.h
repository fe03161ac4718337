/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-fit as a child: the estimator is a program of its own because of GSL's licence. `--follow` judges
 * a run while it goes on, by JSON lines over pipes (observation.h); at the end joulecast-fit is run once more
 * to write the profile.
 */

#include "hardware/hardware.h"
#include "observation/observation.h"
#include "plan.h"

struct fit_child;

/* The follower's judgement of the run so far. */
struct fit_judgement {
        double half_width_percent; /* 95 %, of a portfolio's total energy; NaN unknown */
        char next[MODE_NAME_MAX];  /* the mode to measure next; "" none */
        double expected_hours;     /* still to go; NaN unknown */
        double expected_percent;
};

/* -ENOENT: there is no joulecast-fit; -EPROTO: it does not follow the protocol. */
int fit_child_open(const struct observation_run *run, const struct hardware_description *description,
                   const struct plan *plan, const char *database, double stop_percent, const struct log *log,
                   struct fit_child **ret);
void fit_child_close(struct fit_child *child);

/* Hands over an observation without asking for a judgement: within a gauge's pass none is needed. */
int fit_child_keep(struct fit_child *child, const struct observation *observation);
/* What may still be used. Infinite: no limit. */
struct fit_remaining {
        double percent, hours;
        const char *const *left_out; /* modes that cannot be measured any more */
        size_t n_left_out;
};
int fit_child_observe(struct fit_child *child, const struct observation *observation,
                      const struct fit_remaining *remaining, struct fit_judgement *ret);

struct fit_request {
        const char *observations;
        int64_t run;
        const char *estimator;     /* "regression" or "sapp" */
        const char *profile;       /* written */
};

struct fit_result {
        bool validated;            /* held-back rows were as predicted */
        struct {
                char mode[MODE_NAME_MAX];
                double measured_mw, predicted_mw, half_width_mw;
        } off;                     /* the failed row that is furthest off; no mode: none failed */
};

/* -ENOENT: there is no joulecast-fit; -ENODATA: nothing could be fitted, logged. */
int fit_child_run(const struct fit_request *request, struct fit_result *ret);

struct cJSON *description_to_json(const struct hardware_description *description);
