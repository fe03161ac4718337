/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Computes the precision of the observations so far, and the mode that would improve it most. */

#include "follow-private.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "outcome.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* Mean time and charge of a fitted row so far. */
struct pace {
        size_t rows;
        double hours;
        double percent;
        double seconds;
};

static struct pace pace_of(const struct rows *rows, double percent_j)
{
        struct pace pace = { 0 };

        for (size_t i = 0; i < rows->n; i++) {
                const struct row *row = &rows->list[i];

                if (!row->fitted)
                        continue;
                pace.rows++;
                pace.seconds += row->seconds;
                pace.percent += row->power_mw / 1000 * row->seconds / percent_j;
        }
        if (pace.rows > 0) {
                pace.seconds /= (double)pace.rows;
                pace.percent /= (double)pace.rows;
        }
        pace.hours = pace.seconds / 3600;
        return pace;
}

/* Energy of one percent in J: from the last row by level, or else from the full energy. */
static double percent_joules(const struct follow *follow, const struct rows *rows)
{
        for (size_t i = rows->n; i > 0; i--) {
                const struct row *row = &rows->list[i - 1];

                if (row->charge && row->fitted && row->observation->steps > 0)
                        return row->power_mw / 1000 * row->seconds / row->observation->steps;
        }
        if (isfinite(follow->device.energy_full_mwh) && follow->device.energy_full_mwh > 0)
                return J_PER_PERCENT(follow->device.energy_full_mwh);
        return 500;
}

static ssize_t choose(const struct follow *follow, const struct rows *rows, const struct regression *fit,
                      double percent_j, const struct pace *pace)
{
        _cleanup_free_ struct candidate *candidates = calloc(follow->n_modes + 1, sizeof(*candidates));
        const struct row *last = &rows->list[rows->n - 1];
        struct step step = { .percent_j = percent_j,
                             .level = last->level - 0.01,
                             .refresh_s = last->refresh_s };

        if (!candidates)
                return -1;
        step.before_mw = last->power_mw > 0 ? last->power_mw : 0;
        step.dwell_s = follow->method == METHOD_PERCENT ? 0 : pace->seconds;
        for (size_t i = 0; i < follow->n_modes; i++) {
                bool again = strcmp(follow->modes[i].name, last->observation->mode) == 0 && follow->n_modes > 1;

                candidates[i].x = follow->modes[i].x;
                candidates[i].excluded = follow->modes[i].held_back || follow->modes[i].left_out || again;
        }
        return portfolio_next(&follow->portfolio, fit, candidates, follow->n_modes, &step);
}

static void add_number(cJSON *object, const char *name, double value)
{
        if (isfinite(value))
                cJSON_AddNumberToObject(object, name, value);
        else
                cJSON_AddNullToObject(object, name);
}

static void add_next(const struct follow *follow, const struct rows *rows, const struct regression *fit,
                     double half_width, cJSON *answer)
{
        double percent_j = percent_joules(follow, rows), more;
        struct pace pace = pace_of(rows, percent_j);
        bool reached = half_width <= follow->stop_percent;
        bool spent = follow->remaining_percent < pace.percent || follow->remaining_hours < 0.02;
        ssize_t next = follow->method == METHOD_GAUGE || reached || spent
                               ? -1
                               : choose(follow, rows, fit, percent_j, &pace);

        if (next >= 0)
                cJSON_AddStringToObject(answer, "next", follow->modes[next].name);
        else
                cJSON_AddNullToObject(answer, "next");
        /* The variance falls with the number of rows. */
        more = reached ? 0 : (double)pace.rows * (pow(half_width / follow->stop_percent, 2) - 1);
        add_number(answer, "expected_hours", more * pace.hours);
        add_number(answer, "expected_percent", more * pace.percent);
}

static bool is_left_out(const struct follow *follow, const char *name)
{
        for (size_t i = 0; i < follow->n_modes; i++)
                if (strcmp(follow->modes[i].name, name) == 0)
                        return follow->modes[i].left_out;
        return true;
}

/*
 * One row of 14 s may contain a daemon's spike; if two of three disagree, the model is wrong. So a held-back
 * mode whose first row disagrees is measured twice more, whatever the second shows, but not until it passes.
 */
#define HELD_BACK_ROWS 3
#define GREY_SD 2

static bool is_doubted(const struct outcome_check *check)
{
        return check->rows == 1 ? !check->inside : check->rows < HELD_BACK_ROWS;
}

/*
 * By level each picture costs a percent of charge, so grey is measured only if black saved more than an LCD
 * can.
 */
static const char *wanted_grey(const struct follow *follow, const struct outcome *outcome)
{
        double least = TUNING_MISFIT_LCD_PERCENT / 100 + GREY_SD * outcome->emission_sd;

        if (follow->method == METHOD_GAUGE || outcome->has_grey || outcome->emission <= least)
                return NULL;
        for (size_t i = 0; i < follow->n_modes; i++)
                if (outcome_is_grey(follow->modes[i].name) && !follow->modes[i].left_out)
                        return follow->modes[i].name;
        return NULL;
}

static void add_doubted(const struct follow *follow, const struct rows *rows, const struct regression *fit,
                        enum voltage_basis basis, cJSON *answer)
{
        struct outcome outcome = { 0 };
        const struct outcome_check *doubted = NULL;
        const char *name;

        outcome_regression(&follow->columns, rows, fit, basis, &outcome);
        for (size_t i = 0; i < outcome.n_checks; i++) {
                const struct outcome_check *check = &outcome.checks[i];

                if (is_doubted(check) && !is_left_out(follow, check->mode) &&
                    (!doubted || check->rows < doubted->rows))
                        doubted = check;
        }
        name = doubted ? doubted->mode : wanted_grey(follow, &outcome);
        if (name)
                cJSON_AddStringToObject(answer, "doubted", name);
        else
                cJSON_AddNullToObject(answer, "doubted");
        outcome_clear(&outcome);
}

/* If the half-width is above half of the value, the value is not printed, and perhaps not in the profile. */
static bool is_known(const struct regression *fit, size_t column)
{
        double error = sqrt(gsl_matrix_get(fit->covariance, column, column));

        return gsl_cdf_tdist_Pinv(0.975, fmax(fit->degrees_of_freedom, 1)) * error <=
               PROFILE_RESOLVED_MAX * gsl_vector_get(fit->value, column);
}

/*
 * A coefficient that only excluded modes would measure (no access point, a bad storage) must not keep the run
 * going until the battery is empty. Unless it is known already, it is excluded from the judgement until one
 * of its modes can be measured again. The same holds for coefficients that --only does not measure.
 */
static void find_lost(struct follow *follow, const struct regression *fit)
{
        for (size_t j = 0; j < follow->columns.n; j++) {
                bool may_come = false, cannot = false;

                for (size_t i = 0; i < follow->n_modes; i++) {
                        const struct follow_mode *mode = &follow->modes[i];

                        if (mode->held_back || !(mode->x[j] > 0))
                                continue;
                        may_come = may_come || !mode->left_out;
                        cannot = cannot || mode->left_out;
                }
                follow->portfolio.lost[j] = follow->columns.kept[j] || (cannot && !may_come && !is_known(fit, j));
        }
}

struct cJSON *follow_judge(struct follow *follow)
{
        cJSON *answer = cJSON_CreateObject();
        struct regression fit = { 0 };
        struct rows rows = { 0 };
        enum voltage_basis basis;
        char error[128] = "";
        int err;

        err = rows_make(&follow->columns, follow->observations, follow->n, &rows, &basis, error,
                        sizeof(error));
        if (!err)
                err = regression_fit(&follow->columns, &rows, &regression_options_default, &fit);
        if (error[0])
                cJSON_AddStringToObject(answer, "error", error);
        else {
                double half_width;

                if (!err)
                        find_lost(follow, &fit);
                half_width = err ? NAN : portfolio_half_width(&follow->portfolio, &fit);

                /* Such a half-width carries no information yet. */
                if (half_width > 1000)
                        half_width = NAN;
                cJSON_AddNumberToObject(answer, "rows", (double)fit.n);
                add_number(answer, "half_width_percent", half_width);
                if (!err) {
                        add_next(follow, &rows, &fit, half_width, answer);
                        add_doubted(follow, &rows, &fit, basis, answer);
                } else {
                        cJSON_AddNullToObject(answer, "next");
                }
        }
        regression_clear(&fit);
        rows_clear(&rows);
        return answer;
}
