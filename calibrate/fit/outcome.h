/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The result of a fit: the profile, the precision of each coefficient, evidence against the fit, and whether
 * held-back rows came out as predicted.
 */

#include <stdio.h>

#include "model/profile.h"
#include "regression.h"

#define REMARK_MAX 128

/* A relative half-width above this is not printed. */
#define OUTCOME_RESOLVED_MAX 0.5

struct outcome_line {
        char key[PROFILE_KEY_MAX];
        double value;          /* NaN: not identifiable */
        double standard_error; /* NaN unknown */
        double half_width;     /* 95 %, in the value's unit */
        bool identifiable;     /* in the profile */
        bool resolved;
        char remark[REMARK_MAX];
};

/*
 * A mode that was held back, by the median of its rows: a daemon's spike in one of three must not judge the
 * profile.
 */
struct outcome_check {
        char mode[MODE_NAME_MAX];
        size_t rows;
        double measured_mw;
        double predicted_mw;
        double half_width_mw;
        bool inside;
};

/* Residuals of one mode. */
struct outcome_mode {
        char mode[MODE_NAME_MAX];
        size_t n;
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
        char stale[200];     /* that the battery's full charge is; also among the warnings */
        char **warnings;
        size_t n_warnings;
        enum validation validation;
        size_t n_rows;
        size_t n_rejected;
        double emission;     /* part of a white display's power that its picture makes; 0: not measured */
        double emission_sd;
        bool has_grey;       /* a grey picture was measured, too */
        double noise_scale; /* standard deviation of the rows, relative to the expected one; NaN: not
                               estimated */
};

/* Where the profile was written. */
struct written {
        char *path;      /* NULL: nowhere */
        char *kept;      /* the version before; NULL: there was none */
        char worse[128]; /* why it was not put in the place of the one before, and is beside it; "": it was */
};

int outcome_regression(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                       enum voltage_basis basis, struct outcome *ret);
void outcome_clear(struct outcome *outcome);
int outcome_warn(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
int outcome_line_add(struct outcome *outcome, const struct coefficient *coefficient,
                     struct outcome_line **ret);

/* Tables for people, or one JSON object. @path: of the profile; NULL: not written. */
void outcome_print(const struct outcome *outcome, const char *path, FILE *to);
struct cJSON *outcome_to_json(const struct outcome *outcome, const struct written *written);

/* The policies of @device, members of groups one by one. */
int outcome_add_policies(struct profile *profile, const struct device *device);

/* outcome-checks.c: lack of fit and held-back rows. */
int outcome_residuals(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                      const struct regression *fit);
/* x-emission_percent: how much less than white a black picture takes; and whether grey is half way between them. */
bool outcome_is_grey(const char *mode);
int outcome_pictures(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                     const struct regression *fit);
/* outcome-sensor.c: x-charge_full_percent, by a sensor of power beside a calibration by level. */
int outcome_sensor(struct outcome *outcome, const struct rows *rows, const struct regression *fit);
int outcome_validate(struct outcome *outcome, const struct rows *rows, const struct regression *fit);
