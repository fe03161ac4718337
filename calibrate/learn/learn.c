/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_blas.h>

#include "judge.h"
#include "score.h"
#include "util/units.h"
#include "util/util.h"

void learn_clear(struct learning *learning)
{
        profile_free(learning->profile);
        *learning = (struct learning){ 0 };
}

/* A calibration by the level is in the joules that the battery shows, others are not. */
static double scale_sd(const struct profile *profile)
{
        bool by_level = strcmp(profile->method, "percent") == 0 || strcmp(profile->method, "ticks") == 0;

        return by_level ? 0.01 : 0.05;
}

/* An app changed where that explains its rows by so many standard deviations squared, and by so large a part. */
#define CHANGE_CHI2 25.0
#define CHANGE_LEAST 0.08
#define CHANGE_APPS 16
#define CHANGE_ROWS 3   /* on each side */

/*
 * Apps change more often than a display ages, so a change that both can explain is taken as the app's. But hardly any app
 * takes ten times as much as before, or a third.
 */
#define CHANGE_COMPONENT_CHI2 10.0
#define CHANGE_STRANGE_CHI2 40.0
#define CHANGE_LOWEST (-0.9)
#define CHANGE_HIGHEST 2.0

struct candidate {
        double chi2;
        size_t app; /* SIZE_MAX: a component */
        enum component component;
        size_t stretch;
};

/* Whose energy may have changed, and the columns that are parts of it. */
struct suspect {
        size_t app;
        enum component component;
        size_t column[LEARNT_FRONT];
        size_t n;
};

static bool is_used(const struct design *design, const struct suspect *suspect, size_t row)
{
        for (size_t k = 0; k < suspect->n; k++)
                if (gsl_matrix_get(design->x, row, suspect->column[k]) > 0)
                        return true;
        return false;
}

/* One more column z: (z'r)^2 / (z'z - u'Cu), with u = X'z (score test: Rao 1948), all in standard deviations of the rows. */
static int try_changes(const struct design *design, const struct posterior *posterior, const struct suspect *suspect,
                       struct candidate *best)
{
        size_t q = design->q, rows_before = 0, rows = 0;
        _cleanup_vector_ gsl_vector *u = gsl_vector_calloc(q), *cu = gsl_vector_calloc(q);
        double score = 0, squares = 0;

        if (!u || !cu)
                return -ENOMEM;
        for (size_t i = 0; i < design->n; i++)
                rows += is_used(design, suspect, i);
        for (size_t i = 0; i < design->n; i++) {
                gsl_vector_const_view white = gsl_matrix_const_row(posterior->white, i);
                double z = 0, shared, information, chi2;

                /* These columns, whitened, are the energy, whitened. */
                for (size_t k = 0; k < suspect->n; k++)
                        z += gsl_vector_get(&white.vector, suspect->column[k]);
                score += z * gsl_vector_get(posterior->residual, i);
                squares += z * z;
                gsl_blas_daxpy(z, &white.vector, u);
                rows_before += is_used(design, suspect, i);
                if (i + 1 == design->n || design->rows[i + 1].stretch == design->rows[i].stretch)
                        continue;
                if (rows_before < CHANGE_ROWS || rows - rows_before < CHANGE_ROWS)
                        continue;
                gsl_blas_dgemv(CblasNoTrans, 1, posterior->covariance, u, 0, cu);
                gsl_blas_ddot(u, cu, &shared);
                information = squares - shared / posterior->scale;
                if (!(information > 1e-6 * squares))
                        continue;
                chi2 = score * score / information / posterior->scale;
                chi2 -= score < CHANGE_LOWEST * information || score > CHANGE_HIGHEST * information ? CHANGE_STRANGE_CHI2 :
                        suspect->app == SIZE_MAX ? CHANGE_COMPONENT_CHI2 : 0;
                if (chi2 > best->chi2)
                        *best = (struct candidate){ chi2, suspect->app, suspect->component, design->rows[i + 1].stretch };
        }
        return 0;
}

static bool is_known(const struct design *design, const struct suspect *suspect)
{
        for (size_t c = 0; c < design->n_changes; c++)
                if (design->changes[c].app == suspect->app &&
                    (suspect->app != SIZE_MAX || design->changes[c].component == suspect->component))
                        return true;
        return false;
}

static int find_change(const struct design *design, const struct posterior *posterior, struct candidate *best)
{
        int err = 0;

        *best = (struct candidate){ 0 };
        for (size_t a = 0; !err && a < MIN(design->n_apps, (size_t)CHANGE_APPS); a++) {
                struct suspect suspect = { .app = a };

                for (size_t k = 0; k < LEARNT_FRONT; k++)
                        if (design->apps[a].column[k] != SIZE_MAX)
                                suspect.column[suspect.n++] = design->apps[a].column[k];
                if (!is_known(design, &suspect))
                        err = try_changes(design, posterior, &suspect, best);
        }
        for (unsigned c = 0; !err && c < COMPONENT_COUNT; c++) {
                struct suspect suspect = { .app = SIZE_MAX, .component = c, .column = { design->common + c }, .n = 1 };

                if (c != COMPONENT_UNSEEN && !is_known(design, &suspect))
                        err = try_changes(design, posterior, &suspect, best);
        }
        return err;
}

static int64_t stretch_start_ns(const struct design *design, size_t stretch)
{
        size_t i = 0;

        while (i + 1 < design->n && design->rows[i].stretch < stretch)
                i++;
        return design->rows[i].everyday->start_ns;
}

static void read_changes(struct design *design, const struct posterior *posterior)
{
        for (size_t c = 0; c < design->n_changes; c++) {
                size_t column = design->change_column[c];

                design->changes[c].before = gsl_vector_get(posterior->value, column);
                design->changes[c].before_se = sqrt(gsl_matrix_get(posterior->covariance, column, column));
        }
}

/* Fits, and once more with each change that it finds. */
static int fit(const struct profile *prior, const struct everyday *list, size_t n, struct design *ret,
               struct posterior *ret_posterior)
{
        struct design_change changes[DESIGN_CHANGES_MAX];
        size_t n_changes = 0;

        for (;;) {
                struct design design;
                struct posterior posterior = { 0 };
                struct candidate best;
                int err = design_make(prior, list, n, changes, n_changes, &design);

                if (err)
                        return err;
                err = posterior_make(&design, scale_sd(prior), &posterior);
                if (!err)
                        err = find_change(&design, &posterior, &best);
                if (!err && best.chi2 > CHANGE_CHI2 && n_changes < DESIGN_CHANGES_MAX) {
                        changes[n_changes++] = (struct design_change){
                                .app = best.app, .component = best.component, .stretch = best.stretch,
                                .time_ns = stretch_start_ns(&design, best.stretch)
                        };
                        posterior_clear(&posterior);
                        design_clear(&design);
                        continue;
                }
                if (err) {
                        posterior_clear(&posterior);
                        design_clear(&design);
                        return err;
                }
                read_changes(&design, &posterior);
                *ret = design;
                *ret_posterior = posterior;
                return 0;
        }
}

/* One fit and its profile. */
static int fit_profile(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                       struct design *design, struct profile **ret)
{
        struct posterior posterior;
        struct full_charge full;
        int err = fit(prior, list, n, design, &posterior);

        if (err)
                return err;
        overlay_full_charge(prior, list, n, &full);
        err = overlay_make(before, design, &posterior, &full, ret);
        posterior_clear(&posterior);
        if (err)
                design_clear(design);
        return err;
}

/* The part of the stretches that is held out, and how many are needed for that. */
#define HELD_OUT 0.2
#define STRETCHES_MIN 5

/*
 * Fits without the newest stretches, and asks which of both profiles makes those likelier. The new one is refused where
 * it is clearly less likely, by this logarithm.
 */
#define CLEARLY_WORSE 3.0

static int hold_out(const struct profile *before, const struct profile *prior, const struct everyday *list, size_t n,
                    const struct design *all, struct learning *ret)
{
        size_t held = (size_t)ceil(HELD_OUT * (double)all->n_stretches), rows = 0, n_old, n_new;
        _cleanup_free_ struct judged *old = NULL, *new = NULL;
        _cleanup_(profile_freep) struct profile *profile = NULL;
        struct design design;
        size_t train;
        int err;

        ret->taken = true;
        ret->better = NAN;
        if (all->n_stretches < STRETCHES_MIN)
                return 0;
        while (rows < all->n && all->rows[rows].stretch < all->n_stretches - held)
                rows++;
        train = (size_t)(all->rows[rows].everyday - list);
        err = fit_profile(before, prior, list, train, &design, &profile);
        if (err)
                return err;
        err = judge(before, all, all->rows[rows - 1].everyday->end_ns, &old, &n_old);
        if (!err)
                err = judge(profile, all, all->rows[rows - 1].everyday->end_ns, &new, &n_new);
        design_clear(&design);
        if (err)
                return err;
        ret->n_held_out = n_new;
        if (n_old == n_new && n_new > 0)
                ret->better = judge_likelihood(new, n_new) - judge_likelihood(old, n_old);
        ret->taken = !(ret->better < -CLEARLY_WORSE);
        return 0;
}

static int64_t time_of(const char *text)
{
        struct tm tm = { 0 };

        if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm))
                return INT64_MIN;
        return (int64_t)timegm(&tm) * (int64_t)NS_PER_S;
}

/* As joulecast-fit writes it, of a component alone and of the whole. */
static bool measured_since(const struct profile *profile, enum component component, int64_t time_ns)
{
        char key[48];

        snprintf(key, sizeof(key), "x-measured_%s", component_names[component]);
        return time_of(profile_extra(profile, "profile", key)) > time_ns || time_of(profile->created) > time_ns;
}

static void tell_changes(const struct profile *before, const struct design *design, struct learning *ret)
{
        for (size_t c = 0; c < design->n_changes; c++) {
                const struct design_change *change = &design->changes[c];
                struct learn_change *told = &ret->changes[ret->n_changes];

                if (fabs(change->before) < CHANGE_LEAST)
                        continue;
                if (change->app != SIZE_MAX)
                        snprintf(told->app, sizeof(told->app), "%s", design->apps[change->app].id);
                told->component = change->component;
                told->measured_since = change->app == SIZE_MAX && measured_since(before, change->component, change->time_ns);
                told->time_ns = change->time_ns;
                told->percent = 100 * (1 / fmax(1 + change->before, 0.1) - 1);
                told->percent_se = 100 * change->before_se / pow(fmax(1 + change->before, 0.1), 2);
                ret->n_changes++;
        }
}

/* The end of the observations that the profile before was learnt from. */
static int64_t until_ns(const struct profile *profile)
{
        int64_t time_ns = time_of(profile->learned.until);

        return time_ns == INT64_MIN ? time_ns : time_ns + (int64_t)NS_PER_S;
}

int learn(const struct profile *before, const struct everyday *list, size_t n, struct store *store, struct learning *ret)
{
        _cleanup_(profile_freep) struct profile *prior = NULL;
        struct learning learning = { 0 };
        struct design design;
        int err = profile_measured(before, &prior);

        if (!err)
                err = fit_profile(before, prior, list, n, &design, &learning.profile);
        if (err)
                return err;
        learning.n_spans = design.n;
        learning.n_stretches = design.n_stretches;
        learning.days = (double)(design.rows[design.n - 1].everyday->end_ns - design.rows[0].everyday->start_ns) /
                        (86400.0 * NS_PER_S);
        err = hold_out(before, prior, list, n, &design, &learning);
        if (!err)
                err = score(before, &design, store, until_ns(before), &learning);
        tell_changes(before, &design, &learning);
        design_clear(&design);
        if (err)
                learn_clear(&learning);
        else
                *ret = learning;
        return err;
}
