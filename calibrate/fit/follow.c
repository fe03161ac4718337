/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observation/observation.h"
#include "outcome.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

/* --follow: its judgement, and below that its protocol. */

struct follow_mode {
        char name[MODE_NAME_MAX];
        struct usage usage; /* usage in one second of the mode */
        bool held_back;
        bool left_out;      /* cannot be measured any more */
        double *x;          /* values of the columns */
};

struct follow {
        bool started;
        struct device device;
        struct columns columns;
        struct portfolio portfolio;
        struct follow_mode *modes;
        size_t n_modes;
        struct observation *observations;
        size_t n, capacity;
        enum observation_method method;
        double stop_percent;
        double remaining_percent; /* NaN: no limit */
        double remaining_hours;
};

/* Computes the precision of the observations so far, and the mode that would improve it most. */

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
        /* NaN is printed as null */
        cJSON_AddNumberToObject(answer, "expected_hours", more * pace.hours);
        cJSON_AddNumberToObject(answer, "expected_percent", more * pace.percent);
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

/* The judgement so far and the next mode, as the reply. */
static struct cJSON *follow_judge(struct follow *follow)
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
                cJSON_AddNumberToObject(answer, "half_width_percent", half_width);
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

int follow_new(struct follow **ret)
{
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

static void follow_reset(struct follow *follow)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                usage_clear(&follow->modes[i].usage);
                free(follow->modes[i].x);
        }
        for (size_t i = 0; i < follow->n; i++)
                observation_clear(&follow->observations[i]);
        free(follow->modes);
        free(follow->observations);
        portfolio_clear(&follow->portfolio);
        columns_clear(&follow->columns);
        columns_device_clear(&follow->device);
        *follow = (struct follow){ 0 };
}

void follow_free(struct follow *follow)
{
        if (!follow)
                return;
        follow_reset(follow);
        free(follow);
}

static struct cJSON *failure(const char *sentence)
{
        cJSON *answer = cJSON_CreateObject();

        cJSON_AddStringToObject(answer, "error", sentence);
        return answer;
}

static const char *text(const cJSON *object, const char *name)
{
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* NaN if it is missing or null. */
static double number(const cJSON *object, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

        return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int add_mode(struct follow *follow, const cJSON *json)
{
        struct follow_mode *grown = reallocarray(follow->modes, follow->n_modes + 1, sizeof(*grown)), *mode;
        const char *name = text(json, "name");
        const cJSON *usage = cJSON_GetObjectItemCaseSensitive(json, "usage");

        if (!grown)
                return -ENOMEM;
        follow->modes = grown;
        if (!name || strlen(name) >= MODE_NAME_MAX || !cJSON_IsObject(usage))
                return -EINVAL;
        mode = &grown[follow->n_modes];
        *mode = (struct follow_mode){ 0 };
        snprintf(mode->name, sizeof(mode->name), "%s", name);
        mode->held_back = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "held_back"));
        if (usage_from_json(usage, &mode->usage) < 0)
                return -EINVAL;
        follow->n_modes++;
        return mode->usage.time_ns > 0 ? 0 : -EINVAL;
}

static int make_rows_of_modes(struct follow *follow)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                struct follow_mode *mode = &follow->modes[i];
                double seconds = (double)mode->usage.time_ns / NS_PER_S;

                mode->x = calloc(follow->columns.n, sizeof(*mode->x));
                if (!mode->x)
                        return -ENOMEM;
                columns_row(&follow->columns, &mode->usage, mode->x);
                for (size_t j = 0; j < follow->columns.n; j++)
                        mode->x[j] /= seconds;
        }
        return 0;
}

static int make_columns(struct follow *follow, const char *database)
{
        _cleanup_free_ const struct usage **usages = calloc(follow->n_modes + 1, sizeof(*usages));
        int err;

        if (!usages)
                return -ENOMEM;
        for (size_t i = 0; i < follow->n_modes; i++)
                usages[i] = &follow->modes[i].usage;
        err = columns_make(&follow->device, usages, follow->n_modes, &follow->columns);
        if (!err)
                err = make_rows_of_modes(follow);
        if (!err)
                err = portfolio_make(&follow->columns, database, &follow->portfolio);
        return err;
}

static int read_start(struct follow *follow, const cJSON *start)
{
        const char *device = text(start, "device"), *method = text(start, "method");
        double brightness = number(start, "max_brightness");
        const cJSON *mode;
        int err;

        if (!device || !method)
                return -EINVAL;
        err = columns_device_from_json(start, &follow->device);
        if (err)
                return err;
        snprintf(follow->device.name, sizeof(follow->device.name), "%s", device);
        snprintf(follow->device.method, sizeof(follow->device.method), "%s", method);
        if (observation_method_from_name(method, &follow->method) < 0)
                follow->method = METHOD_PERCENT;
        follow->device.energy_full_mwh = number(start, "energy_full_mwh");
        follow->device.max_brightness = brightness > 0 && brightness <= UINT32_MAX ? (uint32_t)brightness : 0;
        follow->stop_percent = number(start, "stop_percent");
        cJSON_ArrayForEach(mode, cJSON_GetObjectItemCaseSensitive(start, "modes")) {
                err = add_mode(follow, mode);
                if (err)
                        return err;
        }
        return make_columns(follow, text(start, "database"));
}

static struct cJSON *answer_start(struct follow *follow, const cJSON *start)
{
        cJSON *answer;
        int err;

        follow_reset(follow);
        err = read_start(follow, start);
        if (err == -ENOMEM)
                return failure("out of memory");
        if (err)
                return failure("the start line lacks the device, the method or the modes");
        follow->started = true;
        answer = cJSON_CreateObject();
        cJSON_AddBoolToObject(answer, "ready", true);
        cJSON_AddNumberToObject(answer, "parameters", (double)follow->columns.n);
        return answer;
}

static void read_left_out(struct follow *follow, const cJSON *list)
{
        for (size_t i = 0; i < follow->n_modes; i++) {
                const cJSON *item;

                follow->modes[i].left_out = false;
                cJSON_ArrayForEach(item, list) {
                        if (cJSON_IsString(item) && strcmp(item->valuestring, follow->modes[i].name) == 0)
                                follow->modes[i].left_out = true;
                }
        }
}

static struct cJSON *answer_observation(struct follow *follow, const cJSON *line, const cJSON *json)
{
        const cJSON *remaining = cJSON_GetObjectItemCaseSensitive(line, "remaining");

        if (!follow->started)
                return failure("an observation came before the start line");
        if (util_grow(&follow->observations, &follow->capacity, follow->n + 1,
                      sizeof(*follow->observations)) < 0)
                return failure("out of memory");
        if (observation_from_json(json, &follow->observations[follow->n]) < 0)
                return failure("the observation is not complete");
        follow->n++;
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "keep"))) {
                cJSON *answer = cJSON_CreateObject();

                cJSON_AddNumberToObject(answer, "kept", (double)follow->n);
                return answer;
        }
        follow->remaining_percent = number(remaining, "percent");
        follow->remaining_hours = number(remaining, "hours");
        read_left_out(follow, cJSON_GetObjectItemCaseSensitive(line, "left_out"));
        return follow_judge(follow);
}

struct cJSON *follow_answer(struct follow *follow, const char *line, bool *end)
{
        cJSON *json = cJSON_Parse(line), *answer;
        const cJSON *start = cJSON_GetObjectItemCaseSensitive(json, "start");
        const cJSON *observation = cJSON_GetObjectItemCaseSensitive(json, "observation");

        *end = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "end"));
        if (cJSON_IsObject(start)) {
                answer = answer_start(follow, start);
        } else if (cJSON_IsObject(observation)) {
                answer = answer_observation(follow, json, observation);
        } else if (*end) {
                answer = cJSON_CreateObject();
                cJSON_AddBoolToObject(answer, "bye", true);
        } else {
                answer = failure("a line is neither a start nor an observation nor an end");
        }
        cJSON_Delete(json);
        return answer;
}
