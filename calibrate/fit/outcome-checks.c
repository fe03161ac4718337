/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Evidence for and against a fit: held-back rows, and residuals of the fitted ones. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>

#include "outcome.h"
#include "util/util.h"

/* Few rows are held back and all must agree; at 99 % a good profile rarely fails by chance. */
#define CHECK_LEVEL 0.99

/* If a mode's mean residual exceeds this many standard deviations, the model does not explain the mode. */
#define LACK_OF_FIT_Z 3.5

static struct outcome_mode *find_mode(struct outcome *outcome, const char *mode)
{
        for (size_t i = 0; i < outcome->n_modes; i++)
                if (strcmp(outcome->modes[i].mode, mode) == 0)
                        return &outcome->modes[i];
        return NULL;
}

static void gather(struct outcome *outcome, const struct row *row, double residual, double z)
{
        struct outcome_mode *mode = find_mode(outcome, row->observation->mode);

        if (!mode) {
                mode = &outcome->modes[outcome->n_modes++];
                snprintf(mode->mode, sizeof(mode->mode), "%s", row->observation->mode);
        }
        mode->n++;
        mode->power_mw += (row->power_mw - mode->power_mw) / (double)mode->n;
        mode->residual_mw += (residual - mode->residual_mw) / (double)mode->n;
        if (fabs(z) > fabs(mode->z))
                mode->z = z;
}

/* Student's t of the mean deletion residual of one mode (NULL: of one kind). */
static double mean_z(const struct rows *rows, const struct regression *fit, const char *mode,
                     const char *kind, size_t *count)
{
        double sum = 0;

        *count = 0;
        for (size_t a = 0; a < fit->n; a++) {
                const struct observation *observation = rows->list[fit->index[a]].observation;

                if ((mode && strcmp(observation->mode, mode) != 0) ||
                    (kind && strcmp(observation->kind, kind) != 0))
                        continue;
                sum += fit->deletion[a];
                (*count)++;
        }
        return *count > 0 ? sum / sqrt((double)*count) : 0;
}

int outcome_residuals(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                      const struct regression *fit)
{
        size_t n;

        outcome->modes = calloc(fit->n, sizeof(*outcome->modes));
        if (!outcome->modes)
                return -ENOMEM;
        for (size_t a = 0; a < fit->n; a++)
                gather(outcome, &rows->list[fit->index[a]], fit->residual_mw[a], fit->deletion[a]);
        for (size_t i = 0; i < outcome->n_modes; i++) {
                double z = mean_z(rows, fit, outcome->modes[i].mode, NULL, &n);
                int err;

                if (n < 2 || fabs(z) < LACK_OF_FIT_Z)
                        continue;
                err = outcome_warn(outcome,
                                   "%zu rows of %s are off by %.1f standard deviations on average: the "
                                   "model does not explain this state",
                                   n, outcome->modes[i].mode, z);
                if (err)
                        return err;
        }
        if (fabs(mean_z(rows, fit, NULL, "idle", &n)) > LACK_OF_FIT_Z)
                return outcome_warn(outcome,
                                    "the idle rows do not fit the others: an uncounted load ran in some "
                                    "states");
        return 0;
}

/* Variance x'Cx of a prediction, including the level's curve for a row by level. */
static int predicted_variance(const struct row *row, const struct regression *fit, double *mean,
                              double *variance)
{
        size_t q = fit->p + fit->z;
        _cleanup_vector_ gsl_vector *x = gsl_vector_calloc(q), *cx = gsl_vector_alloc(q);

        if (!x || !cx)
                return -ENOMEM;
        memcpy(x->data, row->x, fit->p * sizeof(*row->x));
        if (fit->z > 0 && row->charge)
                regression_level_columns(row->level, row->power_mw, x->data + fit->p);
        gsl_blas_ddot(x, fit->value, mean);
        gsl_blas_dgemv(CblasNoTrans, 1, fit->covariance, x, 0, cx);
        gsl_blas_ddot(x, cx, variance);
        return 0;
}

static double power_of(const struct row *row, const struct regression *fit)
{
        double sum = 0;

        if (row->picture)
                return row->power_mw; /* the coefficients hold for white */

        for (size_t j = 0; j < fit->p; j++)
                sum += row->x[j] * gsl_vector_get(fit->value, j);
        return sum;
}

static int check_row(const struct outcome *outcome, const struct rows *rows, size_t i,
                     const struct regression *fit, struct outcome_check *check)
{
        const struct row *row = &rows->list[i];
        double before = row->follows ? power_of(row - 1, fit) : row->power_mw, predicted, variance, t;
        int err = predicted_variance(row, fit, &predicted, &variance);

        if (err)
                return err;
        t = gsl_cdf_tdist_Pinv((1 + CHECK_LEVEL) / 2, fmax(fit->degrees_of_freedom, 1));
        variance += fit->scale * noise_expected(&fit->noise, row->charge, row->power_mw, before, row->seconds,
                                                row->refresh_s, row->updates);
        variance += pow(predicted * outcome->profile->scale_percent / 100, 2) +
                    pow(predicted * outcome->profile->discrepancy_percent / 100, 2);
        *check = (struct outcome_check){ .measured_mw = row->power_mw + fit->warming_mw[i], .predicted_mw = predicted };
        if (row->charge && row->follows)
                check->measured_mw += row->late_s * (power_of(row, fit) - before) / row->seconds;
        snprintf(check->mode, sizeof(check->mode), "%s", row->observation->mode);
        check->half_width_mw = t * sqrt(variance);
        return 0;
}

/* Display part of a row's predicted power, in white. */
static double display_mw(const struct columns *columns, const struct row *row, const struct regression *fit)
{
        double sum = 0;

        for (size_t j = 0; j < columns->levels; j++)
                sum += row->x[columns->term[TERM_DISPLAY] + j] *
                       gsl_vector_get(fit->value, columns->term[TERM_DISPLAY] + j);
        return sum;
}

/*
 * Saving of pictures of one kind against white, relative to the display's power in white: mean of their rows.
 */
struct lack {
        double sum, weights;
        double common; /* variance from the error of white, which all rows share */
};

bool outcome_is_grey(const char *mode)
{
        const char *picture = strrchr(mode, '.');

        return picture && strcmp(picture, ".grey") == 0;
}

static int add_lack(const struct outcome *outcome, const struct columns *columns, const struct rows *rows, size_t i,
                    const struct regression *fit, struct lack *lack)
{
        double t = gsl_cdf_tdist_Pinv((1 + CHECK_LEVEL) / 2, fmax(fit->degrees_of_freedom, 1)), sd, mean, variance;
        double white = display_mw(columns, &rows->list[i], fit);
        struct outcome_check check;
        int err;

        if (!(white > 0))
                return 0;
        err = check_row(outcome, rows, i, fit, &check);
        if (!err)
                err = predicted_variance(&rows->list[i], fit, &mean, &variance);
        if (err)
                return err;
        sd = check.half_width_mw / t / white;
        lack->weights += 1 / (sd * sd);
        lack->sum += (check.predicted_mw - check.measured_mw) / white / (sd * sd);
        lack->common = fmin(lack->common, variance / (white * white));
        return 0;
}

static double lack_sd(const struct lack *lack)
{
        return sqrt(fmax(1 / lack->weights, lack->common));
}

static int set_percent(struct profile *profile, const char *key, double part)
{
        char text[32];

        snprintf(text, sizeof(text), "%.3g", 100 * part);
        return profile_set_extra(profile, "display", key, text);
}

/*
 * A grey picture with half of white's light should take the mean of black and white. If not, warn and widen
 * intervals.
 */
static int check_bend(struct outcome *outcome, const struct lack *black, const struct lack *grey, bool *bent)
{
        double z = gsl_cdf_ugaussian_Pinv((1 + CHECK_LEVEL) / 2);
        double bend = black->sum / black->weights / 2 - grey->sum / grey->weights;
        int err;

        *bent = fabs(bend) > z * hypot(lack_sd(black) / 2, lack_sd(grey));
        if (!*bent)
                return 0;
        err = set_percent(outcome->profile, "x-emission_bend_percent", fabs(bend));
        return err ? err : outcome_warn(outcome,
                                        "a grey picture takes %.1f %% of the display's power %s than the mean of "
                                        "a black and a white one: the power of this panel is not proportional to its "
                                        "light, and intervals are wider by that",
                                        100 * fabs(bend), bend > 0 ? "more" : "less");
}

int outcome_pictures(struct outcome *outcome, const struct columns *columns, const struct rows *rows,
                     const struct regression *fit)
{
        struct lack black = { .common = INFINITY }, grey = black, both;
        bool bent = false;
        int err = 0;

        for (size_t i = 0; !err && i < rows->n; i++) {
                const struct row *row = &rows->list[i];

                if (row->picture && !row->observation->rejected[0] && row->power_mw > 0)
                        err = add_lack(outcome, columns, rows, i, fit,
                                       outcome_is_grey(row->observation->mode) ? &grey : &black);
        }
        if (!err && black.weights > 0 && grey.weights > 0)
                err = check_bend(outcome, &black, &grey, &bent);
        both = black;
        if (!bent) { /* a black picture saves twice as much as a grey one */
                both.weights += grey.weights / 4;
                both.sum += grey.sum / 2;
                both.common = fmin(black.common, 4 * grey.common);
        }
        if (err || !(both.weights > 0))
                return err;
        outcome->emission = fmin(fmax(both.sum / both.weights, 0), 1);
        outcome->emission_sd = lack_sd(&both);
        outcome->has_grey = grey.weights > 0;
        err = set_percent(outcome->profile, "x-emission_percent", outcome->emission);
        return err ? err : set_percent(outcome->profile, "x-emission_se", outcome->emission_sd);
}

static double how_far(const struct outcome_check *check)
{
        return (check->measured_mw - check->predicted_mw) / check->half_width_mw;
}

static int by_mode(const void *a, const void *b)
{
        const struct outcome_check *x = a, *y = b;
        int order = strcmp(x->mode, y->mode);

        return order ? order : (how_far(x) > how_far(y)) - (how_far(x) < how_far(y));
}

/* Median of @n rows of one mode, which are ascending; for an even number the mean of the middle two. */
static struct outcome_check median(const struct outcome_check *rows, size_t n)
{
        const struct outcome_check *low = &rows[(n - 1) / 2], *high = &rows[n / 2];
        struct outcome_check check = *low;

        check.rows = n;
        check.measured_mw = (low->measured_mw + high->measured_mw) / 2;
        check.predicted_mw = (low->predicted_mw + high->predicted_mw) / 2;
        check.half_width_mw = (low->half_width_mw + high->half_width_mw) / 2;
        check.inside = fabs(how_far(&check)) <= 1;
        return check;
}

static void join_checks(struct outcome *outcome)
{
        struct outcome_check *list = outcome->checks;
        size_t rows = outcome->n_checks, n;

        qsort(list, rows, sizeof(*list), by_mode);
        outcome->n_checks = 0;
        for (size_t i = 0; i < rows; i += n) {
                for (n = 1; i + n < rows && strcmp(list[i + n].mode, list[i].mode) == 0;)
                        n++;
                list[outcome->n_checks++] = median(&list[i], n);
        }
}

/*
 * Relative error of the held-back modes that disagreed, of their power above the base. The fitted modes are
 * right one by one, but a mixture of them is not their sum. The largest error counts, as there is no other
 * measure of how wrong a profile can be.
 */
static double misfit_percent(const struct outcome *outcome)
{
        ssize_t base = profile_find(outcome->profile, TERM_BASE, 0, 0, "");
        double base_mw = base < 0 ? 0 : outcome->profile->coefficients[base].value, worst = 0;

        for (size_t i = 0; i < outcome->n_checks; i++) {
                const struct outcome_check *check = &outcome->checks[i];
                double load_mw = fmax(check->predicted_mw - base_mw, 0.1 * check->predicted_mw);

                if (!check->inside)
                        worst = fmax(worst, fabs(check->measured_mw - check->predicted_mw) / load_mw);
        }
        return fmin(round(1000 * worst) / 10, 100);
}

int outcome_validate(struct outcome *outcome, const struct rows *rows, const struct regression *fit)
{
        int err;

        outcome->checks = calloc(rows->n, sizeof(*outcome->checks));
        if (!outcome->checks)
                return -ENOMEM;
        for (size_t i = 0; i < rows->n; i++) {
                const struct observation *observation = rows->list[i].observation;

                if (!observation->held_back || observation->rejected[0] || !(rows->list[i].power_mw > 0))
                        continue;
                err = check_row(outcome, rows, i, fit, &outcome->checks[outcome->n_checks++]);
                if (err)
                        return err;
        }
        join_checks(outcome);
        outcome->validation = outcome->n_checks > 0 ? VALIDATION_PASSED : VALIDATION_NONE;
        for (size_t i = 0; i < outcome->n_checks; i++)
                if (!outcome->checks[i].inside)
                        outcome->validation = VALIDATION_FAILED;
        if (outcome->validation == VALIDATION_NONE)
                return 0;
        if (outcome->validation == VALIDATION_FAILED)
                outcome->profile->misfit_percent = misfit_percent(outcome);
        return profile_set_extra(outcome->profile, "profile", "x-validated",
                                 outcome->validation == VALIDATION_PASSED ? "true" : "false");
}
