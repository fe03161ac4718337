/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The result of a fit: the profile, the precision of each coefficient, evidence against the fit, and whether
 * the held-back rows agree with their predictions.
 */

#include <stdio.h>

#include "model/profile.h"
#include "regression.h"

#define REMARK_MAX 128

struct outcome_line {
        char key[PROFILE_KEY_MAX];
        double value;          /* NaN: not identifiable */
        double standard_error; /* NaN unknown */
        double half_width;     /* 95 %, in the value's unit */
        bool identifiable;     /* it is in the profile */
        bool resolved;
        char remark[REMARK_MAX];
};

/*
 * A held-back mode, judged by the median of its rows: a daemon's spike in one of three must not decide about
 * the profile.
 */
struct outcome_check {
        char mode[MODE_NAME_MAX];
        uint64_t rows;
        double measured_mw;
        double predicted_mw;
        double half_width_mw;
        bool inside;
};

/* Residuals of one mode. */
struct outcome_mode {
        char mode[MODE_NAME_MAX];
        uint64_t n;
        double power_mw;
        double residual_mw;  /* mean */
        double z;            /* largest deletion residual, in standard deviations */
};

enum validation {
        VALIDATION_NONE, /* no row was held back */
        VALIDATION_PASSED,
        VALIDATION_FAILED,
};

struct outcome {
        char estimator[16];
        struct profile *profile;
        unsigned only;       /* 1 << component that was measured again; 0: everything was measured */
        struct outcome_line *lines;
        size_t n_lines;
        struct outcome_check *checks;
        size_t n_checks;
        struct outcome_mode *modes;
        size_t n_modes;
        char stale[200];     /* the battery's full charge is stale; also among the warnings */
        char **warnings;
        size_t n_warnings;
        enum validation validation;
        size_t n_rows;
        size_t n_rejected;
        double emission;     /* share of a white display's power that the picture causes; 0: not measured */
        double emission_sd;
        bool has_grey;       /* a grey picture was measured, too */
        char doubt[160];     /* why nothing is validated, other than by a held-back row; "": no reason */
        char refused[256];   /* why there is to be no profile; "": there may be one */
        double noise_scale; /* standard deviation of the rows, relative to the expected one; NaN: not
                               estimated */
};

/* The paths of a written profile. */
struct written {
        char *path;      /* NULL: nowhere */
        char *kept;      /* the earlier version; NULL: there was none */
        char worse[128]; /* why it did not replace the earlier profile but is stored beside it; "": it did */
};

int outcome_regression(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                       enum voltage_basis basis, struct outcome *ret);
void outcome_clear(struct outcome *outcome);
int outcome_warn(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
int outcome_line_add(struct outcome *outcome, const struct coefficient *coefficient,
                     struct outcome_line **ret);

/* Tables for people, or one JSON object. @path: path of the profile; NULL: not written. */
void outcome_print(const struct outcome *outcome, const char *path, FILE *to);
struct cJSON *outcome_to_json(const struct outcome *outcome, const struct written *written);

/* Adds the policies of @device; members of groups one by one. */
int outcome_add_policies(struct profile *profile, const struct device *device);

/* outcome-checks.c: lack of fit and held-back rows. */
int outcome_residuals(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                      const struct regression *fit);
/*
 * x-emission_percent: how much less power a black picture takes than white, and whether grey is half way
 * between.
 */
bool outcome_is_grey(const char *mode);
int outcome_pictures(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                     const struct regression *fit);
/* outcome-sensor.c: sets the error of joules and x-sensor_percent by comparing sensor and charge counter. */
int outcome_scale(struct outcome *outcome, const struct rows *rows);
/* x-charge_full_percent, from a power sensor during a calibration by level. */
int outcome_sensor(struct outcome *outcome, const struct rows *rows, const struct regression *fit);
/* outcome-gauge.c: x-gauge, the way in which the gauge averages and delays the power. */
int outcome_gauge(struct outcome *outcome, const struct rows *rows);
/* outcome-limits.c: noise and a common error beyond which nothing is validated, or no profile is made. */
int outcome_limits(struct outcome *outcome, const struct regression *fit);
int outcome_validate(struct outcome *outcome, const struct rows *rows, const struct regression *fit);
