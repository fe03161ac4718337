/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "outcome.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>

#include "model/profile-keys.h"
#include "util/util.h"

/* A smaller part in a null vector is rounding. */
#define NULL_PART 1e-6

/* The largest number that a profile may contain. */
#define PROFILE_MAX 1e9

/*
 * Errors that the covariance does not contain, in percent (standard deviations): a common one of all energies (the
 * scale of a joule) and one of each component (effects that the model leaves out: temperature, mix of instructions).
 * docs/accuracy.md shows their effect.
 */
static const struct {
        bool charge;
        enum voltage_basis basis;
        double scale_percent;
        double discrepancy_percent;
} errors[] = {
        { true, VOLTAGE_MEASURED, SCALE_PERCENT, 0.5 },
        { true, VOLTAGE_GENERIC, 2.5, 0.5 },
        { false, VOLTAGE_MEASURED, SCALE_PERCENT, 0.5 },
};

int outcome_warn(struct outcome *outcome, const char *format, ...)
{
        char **grown = reallocarray(outcome->warnings, outcome->n_warnings + 1, sizeof(*grown));
        va_list args;
        int length;

        if (!grown)
                return -ENOMEM;
        outcome->warnings = grown;
        va_start(args, format);
        length = vasprintf(&grown[outcome->n_warnings], format, args);
        va_end(args);
        if (length < 0)
                return -ENOMEM;
        outcome->n_warnings++;
        return 0;
}

int outcome_line_add(struct outcome *outcome, const struct coefficient *coefficient,
                     struct outcome_line **ret)
{
        struct outcome_line *grown = reallocarray(outcome->lines, outcome->n_lines + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        outcome->lines = grown;
        *ret = &grown[outcome->n_lines++];
        **ret = (struct outcome_line){
                .value = NAN, .standard_error = NAN, .half_width = NAN, .identifiable = true, .resolved = true
        };
        profile_coefficient_key(coefficient, (*ret)->key);
        return 0;
}

void outcome_clear(struct outcome *outcome)
{
        profile_free(outcome->profile);
        free(outcome->lines);
        free(outcome->checks);
        free(outcome->modes);
        for (size_t i = 0; i < outcome->n_warnings; i++)
                free(outcome->warnings[i]);
        free(outcome->warnings);
        *outcome = (struct outcome){ 0 };
}

static bool touched(const struct rows *rows, const struct regression *fit, size_t column)
{
        for (size_t a = 0; a < fit->n; a++)
                if (rows->list[fit->index[a]].x[column] > 0)
                        return true;
        return false;
}

/* Lists the columns that @column depends on linearly: those with the largest parts in its null vectors. */
static void explain(const struct columns *columns, const gsl_matrix *null, size_t n_null, size_t column,
                    char *remark)
{
        size_t best = SIZE_MAX;
        double most = NULL_PART;
        char key[PROFILE_KEY_MAX];

        for (size_t j = 0; j < columns->n; j++) {
                double part = 0;

                for (size_t k = 0; j != column && k < n_null; k++)
                        part += fabs(gsl_matrix_get(null, k, j) * gsl_matrix_get(null, k, column));
                if (part > most) {
                        most = part;
                        best = j;
                }
        }
        if (best == SIZE_MAX)
                snprintf(remark, REMARK_MAX, "not identifiable (too few rows)");
        else
                snprintf(remark, REMARK_MAX, "not identifiable (no row separates it from %s)",
                         profile_coefficient_key(&columns->list[best], key));
}

static double part_in_null(const gsl_matrix *null, size_t n_null, size_t column)
{
        double part = 0;

        for (size_t k = 0; k < n_null; k++)
                part += gsl_matrix_get(null, k, column) * gsl_matrix_get(null, k, column);
        return part;
}

static void judge_line(struct outcome_line *line, double value, double variance, double t)
{
        line->value = value;
        line->standard_error = sqrt(fmax(variance, 0));
        line->half_width = t * line->standard_error;
        line->resolved = line->half_width <= PROFILE_RESOLVED_MAX * value;
        if (!line->resolved)
                snprintf(line->remark, sizeof(line->remark), "not resolved (<= %.3g)",
                         value + line->half_width);
}

static void keep_line(struct outcome_line *line, const struct profile *before, const struct coefficient *coefficient,
                      double t)
{
        ssize_t at = profile_find(before, coefficient->term, coefficient->policy, coefficient->point, "");

        judge_line(line, before->coefficients[at].value, pow(before->coefficients[at].standard_error, 2), t);
        line->standard_error = before->coefficients[at].standard_error;
        snprintf(line->remark, sizeof(line->remark), "as before");
}

static int make_lines(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                      const struct regression *fit, const gsl_matrix *null, size_t n_null)
{
        double t = gsl_cdf_tdist_Pinv(0.975, fmax(fit->degrees_of_freedom, 1));

        for (size_t j = 0; j < columns->n; j++) {
                const struct kind_prior *kind = columns_kind_prior(columns, j);
                double variance = gsl_matrix_get(fit->covariance, j, j);
                struct outcome_line *line;
                int err = outcome_line_add(outcome, &columns->list[j], &line);

                if (err)
                        return err;
                if (columns->kept[j]) {
                        keep_line(line, columns->device.before, &columns->list[j], t);
                        continue;
                }
                /* the coefficient of a kind of work has its usual value if no row determines it */
                if (kind || (part_in_null(null, n_null, j) <= NULL_PART && variance < PROFILE_MAX * PROFILE_MAX)) {
                        judge_line(line, fmax(gsl_vector_get(fit->value, j) + (kind ? kind->value : 0), 0),
                                   variance, t);
                        continue;
                }
                line->identifiable = line->resolved = false;
                if (touched(rows, fit, j))
                        explain(columns, null, n_null, j, line->remark);
                else
                        snprintf(line->remark, sizeof(line->remark), "not identifiable (no row used it)");
        }
        return 0;
}

/* Members of a group have the coefficients of the first. */
static int add_members(struct profile *profile, const struct device_policy *group)
{
        for (size_t i = 0; i < group->n_members; i++) {
                const struct device_member *member = &group->members[i];
                int err = profile_add_policy(profile, member->policy, member->cpus);

                if (!err && member->policy != group->policy)
                        err = profile_set_as(profile, member->policy, group->policy);
                if (err && err != -EEXIST)
                        return err;
        }
        return 0;
}

int outcome_add_policies(struct profile *profile, const struct device *device)
{
        for (size_t i = 0; i < device->n_policies; i++) {
                const struct device_policy *policy = &device->policies[i];
                int err = policy->n_members ? add_members(profile, policy)
                                            : profile_add_policy(profile, policy->policy, policy->cpus);

                if (err && err != -EEXIST)
                        return err;
        }
        return 0;
}

/* If no cores share resources, S is known to be 0; a missing key would mean "not measured". */
static int add_single_cores(struct profile *profile, const struct columns *columns)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                const struct device_policy *policy = &columns->device.policies[i];

                if (columns->active[i] == SIZE_MAX || columns_policy_shares(policy))
                        continue;
                for (size_t k = 0; k < policy->n_khz; k++) {
                        struct coefficient shared = {
                                .term = TERM_CPU_SHARED, .policy = policy->policy, .point = policy->khz[k]
                        };
                        int err;

                        if (profile_find(profile, TERM_CPU_ACTIVE, shared.policy, shared.point, "") < 0)
                                continue;
                        err = profile_add(profile, &shared);
                        if (err)
                                return err;
                }
        }
        return 0;
}

/* The cost of idling is relative to the lowest operating point, so it is 0 there, and known. */
static int add_lowest_idle(struct profile *profile, const struct columns *columns)
{
        int err = 0;

        for (size_t i = 0; !err && i < columns->device.n_policies; i++) {
                struct coefficient lowest = { .term = TERM_CPU_IDLE, .policy = columns->device.policies[i].policy,
                                              .point = columns->device.policies[i].khz[0] };
                const struct coefficient *first = columns->idle[i] != SIZE_MAX ? &columns->list[columns->idle[i]] :
                                                  NULL;

                if (first && profile_find(profile, first->term, first->policy, first->point, "") >= 0)
                        err = profile_add(profile, &lowest);
        }
        return err;
}

/* The base has it, so that nothing comes on top. */
static int add_dimmest(struct profile *profile, const struct columns *columns)
{
        struct coefficient dimmest = { .term = TERM_DISPLAY, .point = columns->dimmest };

        return columns->dimmest == BRIGHTNESS_UNKNOWN ? 0 : profile_add(profile, &dimmest);
}

static int add_coefficients(struct outcome *outcome, const struct columns *columns,
                            const struct regression *fit)
{
        struct profile *profile = outcome->profile;
        _cleanup_free_ size_t *kept = calloc(columns->n + fit->z, sizeof(*kept));
        size_t n = 0;
        int err = 0;

        if (!kept)
                return -ENOMEM;
        for (size_t j = 0; j < columns->n; j++) {
                struct coefficient coefficient = columns->list[j];

                if (!outcome->lines[j].identifiable)
                        continue;
                coefficient.value = outcome->lines[j].value;
                coefficient.standard_error = outcome->lines[j].standard_error;
                err = profile_add(profile, &coefficient);
                if (err)
                        return err;
                kept[n++] = j;
        }
        for (size_t k = 0; n > 0 && k < fit->z; k++) {
                struct coefficient curve = { .term = TERM_CURVE, .point = (uint32_t)k + 1,
                                             .value = gsl_vector_get(fit->value, fit->p + k),
                                             .standard_error = sqrt(gsl_matrix_get(fit->covariance, fit->p + k,
                                                                                   fit->p + k)) };

                err = profile_add(profile, &curve);
                if (err)
                        return err;
                kept[n++] = fit->p + k;
        }
        /* Both lists are in the order of the profile. */
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        profile->covariance[a * n + b] = gsl_matrix_get(fit->covariance, kept[a], kept[b]);
        err = add_single_cores(profile, columns);
        if (!err)
                err = add_lowest_idle(profile, columns);
        return err ? err : add_dimmest(profile, columns);
}

static bool was_before(const struct profile *before, const struct columns *columns,
                       const struct coefficient *coefficient, size_t *at)
{
        ssize_t found = profile_find(before, coefficient->term, coefficient->policy, coefficient->point,
                                     coefficient->disk);

        for (size_t j = 0; j < columns->n; j++)
                if (!columns->kept[j] && profile_coefficient_compare(&columns->list[j], coefficient) == 0)
                        return false;
        *at = (size_t)found;
        return found >= 0 && coefficient->term != TERM_CURVE;
}

/*
 * Adds kept coefficients without a column (S of single cores), and gives all kept ones exactly their earlier
 * values.
 */
static int keep_coefficients(struct profile *profile, const struct columns *columns)
{
        const struct profile *before = columns->device.before;
        size_t at, other;
        int err = 0;

        for (size_t i = 0; !err && i < before->n_coefficients; i++) {
                const struct coefficient *c = &before->coefficients[i];

                if (was_before(before, columns, c, &at) &&
                    profile_find(profile, c->term, c->policy, c->point, c->disk) < 0)
                        err = profile_add(profile, c);
        }
        for (size_t i = 0; !err && i < profile->n_coefficients; i++)
                for (size_t j = 0; j <= i && was_before(before, columns, &profile->coefficients[i], &at); j++)
                        if (was_before(before, columns, &profile->coefficients[j], &other))
                                profile_set_covariance(profile, i, j, profile_covariance(before, at, other));
        return err;
}

/* Copies the earlier profile with the new coefficients. */
static int take_before(struct outcome *outcome, const struct columns *columns)
{
        const struct profile *before = columns->device.before;
        struct profile *fitted = outcome->profile, *profile;
        int err = keep_coefficients(fitted, columns);
        double *covariance = NULL;

        if (!err)
                err = profile_copy(before, &profile);
        if (err)
                return err;
        covariance = profile->covariance;
        free(profile->coefficients);
        profile->coefficients = TAKE_PTR(fitted->coefficients);
        profile->covariance = TAKE_PTR(fitted->covariance);
        profile->n_coefficients = fitted->n_coefficients;
        fitted->n_coefficients = 0;
        free(covariance);
        err = outcome_add_policies(profile, &columns->device);
        profile->degrees_of_freedom = fmin(before->degrees_of_freedom, fitted->degrees_of_freedom);
        profile_free(fitted);
        outcome->profile = profile;
        return err;
}

static int set_background(struct profile *profile, const struct noise *noise, double scale)
{
        char text[32];
        int err;

        snprintf(text, sizeof(text), "%.3g", noise->background_sd_mw * sqrt(fmax(scale, 1)));
        err = profile_set_extra(profile, "base", "x-background_sd_mw", text);
        if (err)
                return err;
        snprintf(text, sizeof(text), "%.3g", noise->background_tau_s);
        return profile_set_extra(profile, "base", "x-background_tau_s", text);
}

/* Mean temperature of the fitted rows, if the battery shows it. */
static int set_temperature(struct profile *profile, const struct rows *rows, const struct regression *fit)
{
        double sum = 0, seconds = 0;
        char text[32];

        for (size_t a = 0; a < fit->n; a++) {
                const struct row *row = &rows->list[fit->index[a]];

                if (!isfinite(row->observation->temperature_c))
                        continue;
                sum += row->observation->temperature_c * row->seconds;
                seconds += row->seconds;
        }
        if (!(seconds > 0))
                return 0;
        snprintf(text, sizeof(text), "%.1f", sum / seconds);
        return profile_set_extra(profile, "base", "x-temperature_c", text);
}

static int set_kinds(struct profile *profile, const struct columns *columns)
{
        int err = 0;

        for (size_t i = 0; !err && i < columns->device.n_policies; i++) {
                const struct columns_kind *own = &columns->kind[i];
                struct work_kind usual = { own->usual_instructions, own->misses == SIZE_MAX ? NAN : own->usual_misses };

                if (own->instructions != SIZE_MAX)
                        err = kind_set_usual(profile, columns->device.policies[i].policy, &usual,
                                             columns->device.miss_event);
        }
        return err;
}

static int make_profile(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                        const struct regression *fit, enum voltage_basis basis)
{
        const struct device *device = &columns->device;
        bool charge = fit->z > 0;
        int err;

        err = profile_new(device->name, device->energy_full_mwh, &outcome->profile);
        if (err)
                return err;
        snprintf(outcome->profile->method, sizeof(outcome->profile->method), "%s", device->method);
        outcome->profile->max_brightness = device->max_brightness;
        outcome->profile->degrees_of_freedom = round(10 * fmax(fit->degrees_of_freedom, 1)) / 10;
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
                if (errors[i].charge == charge && (!charge || errors[i].basis == basis)) {
                        outcome->profile->scale_percent = errors[i].scale_percent;
                        outcome->profile->discrepancy_percent = errors[i].discrepancy_percent;
                }
        err = outcome_add_policies(outcome->profile, device);
        if (!err)
                err = add_coefficients(outcome, columns, fit);
        if (!err && columns->device.before)
                return take_before(outcome, columns);
        if (!err)
                err = set_background(outcome->profile, &fit->noise, fit->scale);
        if (!err)
                err = set_temperature(outcome->profile, rows, fit);
        if (!err)
                err = set_kinds(outcome->profile, columns);
        return err;
}

static int find_null(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                     gsl_matrix **ret, size_t *n)
{
        _cleanup_matrix_ gsl_matrix *null = gsl_matrix_calloc(columns->n, columns->n);
        ssize_t rank;

        if (!null)
                return -ENOMEM;
        rank = regression_rank(columns, rows, fit, null);
        if (rank < 0)
                return (int)rank;
        *n = columns->n - (size_t)rank;
        *ret = TAKE_PTR(null);
        return 0;
}

/* An operating point cannot cost less than the one below it, unless it was throttled or mislabelled. */
static int check_rising(struct outcome *outcome, const struct columns *columns, const struct regression *fit)
{
        for (size_t i = 0; i < columns->device.n_policies; i++) {
                size_t first = columns->active[i], n = columns->device.policies[i].n_khz;

                for (size_t k = 1; first != SIZE_MAX && k < n; k++) {
                        size_t a = first + k - 1, b = first + k;
                        double fall = gsl_vector_get(fit->value, a) - gsl_vector_get(fit->value, b);
                        double variance = gsl_matrix_get(fit->covariance, a, a) +
                                          gsl_matrix_get(fit->covariance, b, b) -
                                          2 * gsl_matrix_get(fit->covariance, a, b);
                        int err;

                        if (fall <= 3 * sqrt(fmax(variance, 0)))
                                continue;
                        err = outcome_warn(outcome,
                                           "%s is lower than %s by more than its error: was the CPU "
                                           "throttled?",
                                           outcome->lines[b].key, outcome->lines[a].key);
                        if (err)
                                return err;
                }
        }
        return 0;
}

/* Power that cannot be split is in totals, or missing in them, and nobody would see it. */
static int check_base(struct outcome *outcome, const struct columns *columns)
{
        const struct outcome_line *base = &outcome->lines[columns->term[TERM_BASE]];
        int err = 0;

        if (!base->identifiable)
                err = outcome_warn(outcome, "base.power_mw is not known (%s), so that totals are too low by it: "
                                            "let the device rest "
                                   "in some rows", base->remark);
        else if (!base->resolved)
                err = outcome_warn(outcome, "the split of the power between base.power_mw (%.4g mW, 95 %% up to "
                                            "%.4g) and the other "
                                   "coefficients is not resolved: totals are right, parts are not; let the "
                                   "device rest in some rows",
                                   base->value, base->value + base->half_width);
        if (!err && columns->dimmest != BRIGHTNESS_UNKNOWN)
                err = outcome_warn(outcome, "the screen was never off: base.power_mw has the display at level "
                                            "%u, and the display "
                                   "counts from there", columns->dimmest);
        return err;
}

static void add_gauge(const struct regression *fit, size_t base)
{
        gsl_matrix_view c = gsl_matrix_submatrix(fit->covariance, 0, 0, fit->p, fit->p);
        gsl_vector_const_view b = gsl_vector_const_subvector(fit->value, 0, fit->p);

        gsl_blas_dger(GAUGE_GAIN * GAUGE_GAIN, &b.vector, &b.vector, &c.matrix);
        *gsl_matrix_ptr(fit->covariance, base, base) += GAUGE_OFFSET_MW * GAUGE_OFFSET_MW;
}

int outcome_regression(const struct columns *columns, const struct rows *rows, const struct regression *fit,
                       enum voltage_basis basis, struct outcome *ret)
{
        struct outcome outcome = { .estimator = "regression",
                                   .only = columns->device.only,
                                   .n_rows = fit->n,
                                   .noise_scale = sqrt(fit->scale) };
        _cleanup_matrix_ gsl_matrix *null = NULL;
        size_t n_null = 0;
        int err;

        if (fit->z == 0)
                add_gauge(fit, columns->term[TERM_BASE]);
        for (size_t i = 0; i < rows->n; i++)
                outcome.n_rejected += rows->list[i].observation->rejected[0] != '\0';
        err = find_null(columns, rows, fit, &null, &n_null);
        if (!err)
                err = make_lines(&outcome, columns, rows, fit, null, n_null);
        if (!err)
                err = make_profile(&outcome, columns, rows, fit, basis);
        if (!err)
                err = check_base(&outcome, columns);
        if (!err)
                err = check_rising(&outcome, columns, fit);
        if (!err)
                err = outcome_residuals(&outcome, columns, rows, fit);
        if (!err)
                err = outcome_pictures(&outcome, columns, rows, fit);
        if (!err)
                err = outcome_sensor(&outcome, rows, fit);
        if (!err)
                err = outcome_validate(&outcome, rows, fit);
        if (!err)
                err = outcome_limits(&outcome, fit);
        if (!err)
                err = outcome_gauge(&outcome, rows);
        if (!err && !columns->device.before)
                err = outcome_scale(&outcome, rows);
        if (err)
                outcome_clear(&outcome);
        else
                *ret = outcome;
        return err;
}
