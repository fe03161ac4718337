/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * joulecast-fit as a child: it holds the estimator (and GSL's licence), this
 * program holds the device. `--follow` judges a night while it runs, by JSON
 * lines over pipes (observation.h); at the end it is run once more to write the
 * profile.
 */

#include "hardware/hardware.h"
#include "observation/observation.h"
#include "plan.h"

struct fit_child;

/* What the follower says of the night so far. */
struct fit_judgement {
        double half_width_percent; /* of a portfolio's total energy; NaN: not yet known */
        char next[MODE_NAME_MAX];  /* "" none */
        double expected_hours;     /* still to go; NaN unknown */
        double expected_percent;
};

/* -ENOENT: there is no joulecast-fit; -EPROTO: it does not speak our language. */
int fit_child_open(const struct observation_run *run, const struct hardware_description *description,
                   const struct plan *plan, const char *database, double stop_percent, const struct log *log,
                   struct fit_child **ret);
void fit_child_close(struct fit_child *child);

/* Only to be kept: a fit for each dwell of a gauge would tell nobody anything. */
int fit_child_keep(struct fit_child *child, const struct observation *observation);
/* What may still be used; infinite: no limit. */
struct fit_remaining {
        double percent, hours;
        const char *const *left_out; /* modes that cannot come any more */
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
        bool validated;            /* rows that were held back came out as predicted */
        struct {
                char mode[MODE_NAME_MAX];
                double measured_mw, predicted_mw, half_width_mw;
        } off;                     /* the one that lies off most of those that did not; no mode: none did not */
};

/* -ENOENT: there is no joulecast-fit; -ENODATA: it could not fit (and has said why). */
int fit_child_run(const struct fit_request *request, struct fit_result *ret);

struct cJSON *description_to_json(const struct hardware_description *description);
