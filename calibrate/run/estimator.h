/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-fit as a child: the estimator is a program of its own because of GSL's licence. `--follow` judges
 * a run while it goes on, by JSON lines over pipes (observation.h); at the end joulecast-fit is run once more
 * to write the profile.
 */

#include <limits.h>

#include "hardware/hardware.h"
#include "observation/observation.h"
#include "plan.h"

struct estimator;

/* The follower's judgement of the run so far. */
struct estimator_judgement {
        double half_width_percent; /* 95 % half-width of a portfolio's total energy; NaN unknown */
        char next[MODE_NAME_MAX];  /* the mode to measure next; "" none */
        double expected_hours;     /* time and charge still needed; NaN unknown */
        double expected_percent;
        char doubted[MODE_NAME_MAX]; /* the mode to be measured before the run ends (observation.h); "" none */
};

/* Is joulecast-fit installed? A build without GSL does not have it. */
bool estimator_is_there(void);

/* -ENOENT: there is no joulecast-fit; -EPROTO: it does not follow the protocol. */
int estimator_open(const struct observation_run *run, const struct hardware_description *description,
                   const struct plan *plan, const char *database, double stop_percent, const struct log *log,
                   struct estimator **ret);
void estimator_close(struct estimator *child);

/* Hands over an observation without asking for a judgement: within a gauge's pass none is needed. */
int estimator_keep(struct estimator *child, const struct observation *observation);
/* Charge and time that the run may still use. Infinite: no limit. */
struct estimator_remaining {
        double percent, hours;
        const char *const *left_out; /* modes that cannot be measured any more */
        size_t n_left_out;
};
int estimator_observe(struct estimator *child, const struct observation *observation,
                      const struct estimator_remaining *remaining, struct estimator_judgement *ret);

struct estimator_request {
        const char *observations;
        int64_t run;
        const char *estimator;     /* "regression" or "sapp" */
        const char *profile;       /* path to write to */
};

struct estimator_result {
        char profile[PATH_MAX];    /* path where it was written */
        char kept[PATH_MAX];       /* copy of the profile before; "": there was none */
        char worse[128];           /* why it is not in use but beside the profile before; "": it is in use */
        char stale[200];           /* sentence that the battery's full charge is stale; "": it is not, or not known */
        char doubt[160];           /* why it is not validated, other than by a held-back row; "": no reason */
        bool validated;            /* the held-back rows agree with the prediction */
        struct {
                char mode[MODE_NAME_MAX];
                double measured_mw, predicted_mw, half_width_mw;
        } off;                     /* the failed held-back row with most half-widths of error; mode "": none failed */
};

/* -ENOENT: there is no joulecast-fit; -EIO: there is no new profile, and joulecast-fit said why. */
int estimator_run(const struct estimator_request *request, struct estimator_result *ret);

/* The device's hardware, and the components of --only: enough to fit the observations again. */
struct cJSON *estimator_description_json(const struct hardware_description *description, const struct plan *plan);
