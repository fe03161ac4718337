/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>

#include "model/kind.h"
#include "model/profile-keys.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/utc.h"
#include "util/util.h"

/* Relative error of a power sensor's gain, and of a gauge's curve over the part of it that was used. */
#define GAUGE_GAIN 0.015
/* Standard deviations of right full charges, and of stale ones (one in ten), of which some are far off. */
#define FULL_RIGHT 0.004
#define FULL_STALE 0.07
#define STALE_PART 0.1
#define FULL_MOST 0.5
/* Least energy of use for an estimate, in parts of a battery. */
#define LEAST_CHARGES 0.05

/* A battery ages, and may be replaced: after 30 days an observation counts half. */
static double recent(const struct everyday *list, size_t n, size_t i)
{
        return exp2(-fmax((double)(list[n - 1].end_ns - list[i].end_ns) / NS_PER_S, 0) / (30 * 86400.0));
}

static double normal_density(double x, double sd)
{
        return exp(-x * x / (2 * sd * sd)) / sd;
}

/*
 * A mixture of batteries whose full charge is right and of stale ones (a spike and a slab: Mitchell and
 * Beauchamp, 1988), given the ratio of both energies.
 */
void overlay_full_charge(const struct profile *profile, const struct everyday *list, size_t n, struct full_charge *ret)
{
        double shown_j = 0, gauge_j = 0, squares = 0, error, sd2, right, stale, right_part, stale_part, seen = 0;

        *ret = (struct full_charge){ NAN, NAN };
        for (size_t i = 0; i < n; i++)
                if (list[i].energy_j > 0 && list[i].gauge_j > 0) {
                        shown_j += recent(list, n, i) * list[i].energy_j;
                        gauge_j += recent(list, n, i) * list[i].gauge_j;
                        seen++;
                }
        if (!(shown_j > LEAST_CHARGES * 100 * J_PER_PERCENT(profile->energy_full_mwh)) || seen < 3)
                return;
        error = shown_j / gauge_j - 1;
        if (!(fabs(error) < FULL_MOST)) /* the sensor has other units, or measures something else */
                return;
        for (size_t i = 0; i < n; i++)
                if (list[i].energy_j > 0 && list[i].gauge_j > 0)
                        squares += pow(recent(list, n, i) * (list[i].energy_j - (1 + error) * list[i].gauge_j), 2);
        sd2 = GAUGE_GAIN * GAUGE_GAIN + squares / (gauge_j * gauge_j);
        right = FULL_RIGHT * FULL_RIGHT;
        stale = FULL_STALE * FULL_STALE;
        right_part = (1 - STALE_PART) * normal_density(error, sqrt(right + sd2));
        stale_part = STALE_PART * normal_density(error, sqrt(stale + sd2));
        stale_part /= right_part + stale_part;
        right_part = 1 - stale_part;
        {
                double right_mean = error * right / (right + sd2), stale_mean = error * stale / (stale + sd2);
                double mean = right_part * right_mean + stale_part * stale_mean;
                double variance = right_part * (right * sd2 / (right + sd2) + pow(right_mean - mean, 2)) +
                                  stale_part * (stale * sd2 / (stale + sd2) + pow(stale_mean - mean, 2));

                *ret = (struct full_charge){ mean, sqrt(variance) };
        }
}

/* mW of a column in W; parts stay. */
static double unit_of(enum learnt k)
{
        return k < LEARNT_FRONT ? 1 : 1e3;
}

/* Coefficients of the profile as linear combinations of the columns. */
struct terms {
        struct coefficient *list;
        gsl_matrix *map;          /* n x q */
        size_t n;
};

static void terms_clear(struct terms *terms)
{
        free(terms->list);
        matrix_freep(&terms->map);
}

static int make_terms(const struct design *design, double scale, struct terms *ret)
{
        size_t most = design->p + design->n_apps * LEARNT_COUNT + DESIGN_SIGNALS;
        struct terms terms = { .list = calloc(most + 1, sizeof(*terms.list)),
                               .map = gsl_matrix_calloc(most, design->q) };

        if (!terms.list || !terms.map) {
                terms_clear(&terms);
                return -ENOMEM;
        }
        for (size_t j = 0; j < design->p; j++) {
                const struct coefficient *prior = &design->prior->coefficients[j];

                gsl_matrix_set(terms.map, j, j, kind_is_ratio(prior->term) ? 1 : 1 / scale);
                for (unsigned part = 0; part < DESIGN_COMMON; part++)
                        if (design_has_term(part, prior->term))
                                gsl_matrix_set(terms.map, j, design->common + part, prior->value / scale);
                terms.list[terms.n++] = *prior;
        }
        for (size_t k = 0; k < LEARNT_COUNT; k++)
                for (size_t a = 0; a < design->n_apps; a++) {
                        const struct design_app *app = &design->apps[a];

                        if (app->column[k] == SIZE_MAX && !app->always[k])
                                continue;
                        if (!app->always[k])
                                gsl_matrix_set(terms.map, terms.n, app->column[k],
                                               unit_of(k) / (k < LEARNT_FRONT ? 1 : scale));
                        terms.list[terms.n++] = (struct coefficient){ .term = design_learnt_term(k),
                                                                      .policy = (uint32_t)a + 1 };
                }
        for (size_t k = 0; design->signal != SIZE_MAX && k < DESIGN_SIGNALS; k++) {
                gsl_matrix_set(terms.map, terms.n, design->signal + k, 1);
                terms.list[terms.n++] = (struct coefficient){ .term = TERM_WIFI_SIGNAL, .point = design_signals[k] };
        }
        *ret = terms;
        return 0;
}

/*
 * Where the kernel does not count CPU time by frequency it is shared by the time at each, and an app gets
 * frequencies that others caused: not the same in each session, so that no mean of sessions takes it away.
 * Standard deviation of an app's CPU energy, from devices whose clock falls whenever they idle. Where a
 * calibration failed its validation, mixtures of states are off by as much as those that were held back,
 * and no two sessions mix them alike.
 */
#define SHARED_SD 0.15

/* Values and covariance of the terms become the profile's. */
static int set_terms(const struct design *design, const struct posterior *posterior, struct terms *terms,
                     struct profile *to)
{
        size_t n = terms->n, q = design->q;
        gsl_matrix_const_view map = gsl_matrix_const_submatrix(terms->map, 0, 0, n, q);
        _cleanup_matrix_ gsl_matrix *half = gsl_matrix_alloc(n, q), *covariance = gsl_matrix_alloc(n, n);
        double misfit = isnan(design->prior->misfit_percent) ? 0 : design->prior->misfit_percent / 100;
        int err = half && covariance ? 0 : -ENOMEM;

        if (err)
                return err;
        gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, &map.matrix, posterior->covariance, 0, half);
        gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, half, &map.matrix, 0, covariance);
        for (size_t i = 0; i < n; i++)
                if (terms->list[i].term == TERM_APP_CPU)
                        *gsl_matrix_ptr(covariance, i, i) += design->shared * SHARED_SD * SHARED_SD + misfit * misfit;
        for (size_t i = 0; i < n; i++) {
                gsl_vector_const_view row = gsl_matrix_const_row(&map.matrix, i);
                struct coefficient *term = &terms->list[i];
                const struct design_app *app = term->policy > 0 && term->term >= TERM_APP_CPU ?
                                                       &design->apps[term->policy - 1] :
                                                       NULL;

                gsl_blas_ddot(&row.vector, posterior->value, &term->value);
                term->value = fmax(term->value, profile_least(term->term));
                term->standard_error = sqrt(fmax(gsl_matrix_get(covariance, i, i), 0));
                if (!err && app && !profile_find_app(to, app->id))
                        err = profile_add_app(to, term->policy, app->id);
        }
        if (!err)
                err = profile_set_coefficients(to, terms->list, n);
        if (err)
                return err;
        terms->list = NULL; /* the profile's now */
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < i; j++)
                        profile_set_covariance(to, i, j, gsl_matrix_get(covariance, i, j));
        return 0;
}

/* Standard deviation among unseen apps: that of the seen apps, with the prior counting as one more. */
static double unseen_app(double first_percent, double learnt_percent, size_t n)
{
        return sqrt((first_percent * first_percent + (double)n * learnt_percent * learnt_percent) / (double)(n + 1));
}

static size_t count_apps(const struct design *design, size_t k)
{
        size_t n = 0;

        for (size_t a = 0; a < design->n_apps; a++)
                n += design->apps[a].column[k] != SIZE_MAX;
        return n;
}

/*
 * Standard deviation among programs on clusters of phones, boards and servers; this prior counts as UNSEEN_BELIEF apps,
 * as in a scaled inverse chi square.
 */
#define UNSEEN_CPU_PERCENT 14.0
#define UNSEEN_INSTRUCTIONS_PERCENT 10.0 /* if these are counted, ... */
#define UNSEEN_KIND_PERCENT 5.5          /* ... and cache events, too */
#define UNSEEN_BELIEF 4.0

static double unseen_cpu(const struct profile *profile, double learnt_percent, size_t n)
{
        double seen = n > 1 ? (double)n - 1 : 0;
        double usual = kind_left_percent(profile, UNSEEN_CPU_PERCENT, UNSEEN_INSTRUCTIONS_PERCENT, UNSEEN_KIND_PERCENT);

        return sqrt((UNSEEN_BELIEF * usual * usual + seen * learnt_percent * learnt_percent) /
                    (UNSEEN_BELIEF + seen));
}

/* Writes the number of cores on which each app was learnt. */
static int set_cores(const struct design *design, struct profile *to)
{
        int err = 0;

        for (size_t a = 0; !err && a < design->n_apps; a++) {
                const struct design_app *app = &design->apps[a];
                char section[32], text[32];

                if (app->column[LEARNT_CPU] == SIZE_MAX || !(app->any_s > 0))
                        continue;
                snprintf(section, sizeof(section), "app %zu", a + 1);
                snprintf(text, sizeof(text), "%.3g", fmax(app->busy_s / app->any_s, 1));
                err = profile_set_extra(to, section, "x-cores", text);
        }
        return err;
}

/* Part of the remaining misfits' variance that apps share; the rest of what they share is in the coefficients now. */
#define COMMON_LEFT 0.2

static void set_learned(const struct design *design, const struct posterior *posterior, const struct full_charge *full,
                        struct profile *to)
{
        struct profile_learned *learned = &to->learned;
        const double *misfit = posterior->misfit;

        learned->spans = (double)design->n;
        learned->charge_full_percent = 100 * full->error;
        learned->charge_full_se = 100 * full->standard_error;
        learned->misfit_cpu_percent =
                unseen_cpu(to, 100 * misfit[LEARNT_CPU], count_apps(design, LEARNT_CPU));
        learned->misfit_display_percent =
                unseen_app(TUNING_MISFIT_DISPLAY_PERCENT, 100 * misfit[LEARNT_DISPLAY],
                           count_apps(design, LEARNT_DISPLAY));
        learned->misfit_front_mw =
                unseen_app(TUNING_MISFIT_FRONT_MW, 1e3 * misfit[LEARNT_FRONT], count_apps(design, LEARNT_FRONT));
        learned->misfit_behind_mw =
                unseen_app(TUNING_MISFIT_BEHIND_MW, 1e3 * misfit[LEARNT_BEHIND], count_apps(design, LEARNT_BEHIND));
        learned->misfit_radio_percent = 100 * posterior->radio;
        learned->common = COMMON_LEFT;
        learned->within_percent = 100 * design->scatter.within;
        learned->within_tau_s = design->scatter.tau_s;
        learned->background_sd_mw = 1e3 * design->scatter.background_w;
        learned->session_percent = design->metered ? 100 * posterior->session : NAN;
        utc_print(design->rows[design->n - 1].everyday->end_ns, learned->until, sizeof(learned->until));
}

/* A meter's joules are right except for its gain error, whatever the scale of the calibration was. */
static double scale_percent(const struct design *design, const struct full_charge *full, const struct profile *measured)
{
        if (!isnan(full->error)) /* measured with a sensor, whose error the calibration or the class gives */
                return fmax(measured->scale_percent, 100 * full->standard_error);
        for (size_t i = 0; i < design->n; i++)
                if (!design->rows[i].everyday->metered)
                        return measured->scale_percent;
        return fmin(measured->scale_percent, 100 * GAUGE_GAIN);
}

int overlay_make(const struct profile *before, const struct design *design, const struct posterior *posterior,
                 const struct full_charge *full, struct profile **ret)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        double scale = isnan(full->error) ? 1 : 1 + full->error;
        struct terms terms = { 0 };
        int err = profile_copy(before, &profile);

        if (!err && !profile->measured)
                err = profile_measured(before, &profile->measured);
        if (!err)
                err = make_terms(design, scale, &terms);
        if (!err) {
                profile_forget_apps(profile);
                err = set_terms(design, posterior, &terms, profile);
        }
        terms_clear(&terms);
        if (err)
                return err;
        err = set_cores(design, profile);
        if (err)
                return err;
        set_learned(design, posterior, full, profile);
        profile->energy_full_mwh = profile->measured->energy_full_mwh / scale;
        profile->scale_percent = scale_percent(design, full, profile->measured);
        profile->degrees_of_freedom = fmax(posterior->degrees_of_freedom, 5);
        profile->misfit_percent = NAN; /* the rows show how components differ; the remaining misfit is each app's own */
        profile->discrepancy_percent =
                isnan(profile->measured->discrepancy_percent) ? 0.5 : fmin(profile->measured->discrepancy_percent, 0.5);
        *ret = TAKE_PTR(profile);
        return 0;
}
