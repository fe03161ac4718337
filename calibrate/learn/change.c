/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "change.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

#include "spread.h"
#include "util/util.h"

/* Least chi square by which the likeliest change must explain the rows; a component needs more (below). */
#define CHANGE_CHI2 25.0
#define CHANGE_APPS 16
#define CHANGE_ROWS 3   /* rows that used the suspect, on each side of a change */
#define CHANGE_CAUSE 10.0 /* least chi square of further suspects */

/*
 * Apps change more often than a display ages, so a component needs a better reason to be suspected. Hardly anything
 * takes ten times as much as before, or a third: a larger change counts only as far as one of that size explains the
 * rows. So an app that hardly uses anything cannot explain energy that it did not use. fitted.c decides among the
 * suspects.
 */
#define CHANGE_COMPONENT_CHI2 10.0
#define CHANGE_LOWEST (-0.9)
#define CHANGE_HIGHEST 2.0

/* An app or a part whose energy may have changed, and the columns of that energy. */
struct suspect {
        size_t app;
        unsigned part;
        size_t column[DESIGN_COMMON];
        size_t n;
};

static bool is_used(const struct design *design, const struct suspect *suspect, size_t row)
{
        for (size_t k = 0; k < suspect->n; k++)
                if (gsl_matrix_get(design->x, row, suspect->column[k]) > 0)
                        return true;
        return false;
}

/*
 * One more column z: (z'r)^2 / (z'z - u'Cu), with u = X'z (score test: Rao 1948), all in standard
 * deviations of the rows.
 */
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
                double z = 0, shared, information, size, chi2;

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
                size = fmin(fmax(score / information, CHANGE_LOWEST), CHANGE_HIGHEST);
                chi2 = size * (2 * score - size * information) / posterior->scale;
                chi2 -= suspect->app == SIZE_MAX ? CHANGE_COMPONENT_CHI2 : 0;
                if (chi2 > best->chi2)
                        *best = (struct candidate){ chi2, suspect->app, suspect->part, design->rows[i + 1].stretch };
        }
        return 0;
}

/* The price of a byte differs between stretches by at least this part of it. */
#define RADIO_USUAL 0.1
#define RADIO_SIDE 3    /* stretches before and after */
#define RADIO_BELIEF 15.0 /* number of stretches as which the prior RADIO_USUAL counts */

/* Weighted sums, over stretches, of the cost of a byte. */
struct price {
        double weight, value, square;
};

static void price_add(struct price *price, const struct price *other)
{
        price->weight += other->weight;
        price->value += other->value;
        price->square += other->square;
}

/* Sum of squares around the mean. */
static double price_spread(const struct price *price)
{
        return price->square - price->value * price->value / price->weight;
}

/* The price by the rows of one stretch alone, without the shrinking prior. False: the rows have little information. */
static bool price_of(const struct posterior *posterior, size_t column, struct price *ret)
{
        double variance = gsl_matrix_get(posterior->covariance, column, column);
        double told = 1 - variance / (posterior->radio * posterior->radio), value;

        if (!(told > 0.5))
                return false;
        value = gsl_vector_get(posterior->value, column) / told;
        ret->weight = 1 / (variance / told + RADIO_USUAL * RADIO_USUAL);
        ret->value = ret->weight * value;
        ret->square = ret->value * value;
        return true;
}

/*
 * A new price of bytes for good looks like stretches that all differ, and their columns take it up. So the
 * prices of the stretches before and after are compared: likelihood ratio of two means against one, of a
 * variance that is hardly known.
 */
static void try_radio(const struct design *design, const struct posterior *posterior, unsigned part,
                      struct candidate *best)
{
        struct price prices[DESIGN_RADIO_MAX], all = { 0 }, before = { 0 };
        size_t stretches[DESIGN_RADIO_MAX], n = 0;

        for (size_t s = 0; s < design->n_stretches && n < DESIGN_RADIO_MAX; s++) {
                bool first = s == 0 || design->stretch_radio[s] != design->stretch_radio[s - 1];

                if (!first || !price_of(posterior, design->stretch_radio[s], &prices[n]))
                        continue;
                price_add(&all, &prices[n]);
                stretches[n++] = s;
        }
        for (size_t i = 0; i + RADIO_SIDE < n; i++) {
                struct price after;
                double within, chi2;

                price_add(&before, &prices[i]);
                if (i + 1 < RADIO_SIDE)
                        continue;
                after = (struct price){ all.weight - before.weight, all.value - before.value,
                                        all.square - before.square };
                within = price_spread(&before) + price_spread(&after);
                chi2 = ((double)n + RADIO_BELIEF) *
                       log1p(fmax(price_spread(&all) - within, 0) / (within + RADIO_BELIEF)) - CHANGE_COMPONENT_CHI2;
                if (chi2 > best->chi2)
                        *best = (struct candidate){ chi2, SIZE_MAX, part, stretches[i + 1] };
        }
}

bool change_is_same(size_t app_a, unsigned part_a, size_t app_b, unsigned part_b)
{
        if (app_a != SIZE_MAX || app_b != SIZE_MAX)
                return app_a == app_b;
        return part_a == part_b || (part_a == DESIGN_AIR && part_b == COMPONENT_WIFI) ||
               (part_a == COMPONENT_WIFI && part_b == DESIGN_AIR);
}

static bool is_known(const struct design *design, const struct suspect *suspect)
{
        for (size_t c = 0; c < design->n_changes; c++)
                if (change_is_same(design->changes[c].app, design->changes[c].part, suspect->app, suspect->part))
                        return true;
        return false;
}

/* Keeps the likeliest, in order. */
static void keep(const struct candidate *candidate, struct candidate list[CHANGE_CANDIDATES], size_t *n)
{
        size_t at = *n;

        if (!(candidate->chi2 > CHANGE_CAUSE))
                return;
        while (at > 0 && list[at - 1].chi2 < candidate->chi2)
                at--;
        if (at == CHANGE_CANDIDATES)
                return;
        *n = MIN(*n + 1, (size_t)CHANGE_CANDIDATES);
        memmove(&list[at + 1], &list[at], (*n - at - 1) * sizeof(*list));
        list[at] = *candidate;
}

static struct suspect suspect_part(const struct design *design, unsigned part)
{
        struct suspect suspect = { .app = SIZE_MAX, .part = part };

        for (unsigned c = 0; c < COMPONENT_COUNT && part == DESIGN_ALL; c++)
                suspect.column[suspect.n++] = design->common + c;
        if (part != DESIGN_ALL)
                suspect.column[suspect.n++] = design->common + part;
        return suspect;
}

static struct suspect suspect_app(const struct design *design, size_t app)
{
        struct suspect suspect = { .app = app };

        for (size_t k = 0; k < LEARNT_FRONT; k++)
                if (design->apps[app].column[k] != SIZE_MAX)
                        suspect.column[suspect.n++] = design->apps[app].column[k];
        return suspect;
}

/* Number of stretches before a change, or after it, in which the suspect was used. */
static size_t count_stretches(const struct design *design, const struct suspect *suspect, size_t change, bool after)
{
        size_t last = SIZE_MAX, n = 0;

        for (size_t i = 0; i < design->n; i++) {
                size_t stretch = design->rows[i].stretch;

                if (stretch == last || (stretch >= change) != after || !is_used(design, suspect, i))
                        continue;
                last = stretch;
                n++;
        }
        return n;
}

int change_find(const struct design *design, const struct posterior *posterior, struct candidate ret[CHANGE_CANDIDATES],
                size_t *ret_n)
{
        size_t n_apps = MIN(design->n_apps, (size_t)CHANGE_APPS);

        *ret_n = 0;
        for (size_t i = 0; i < n_apps + DESIGN_PARTS; i++) {
                struct suspect suspect =
                        i < n_apps ? suspect_app(design, i) : suspect_part(design, (unsigned)(i - n_apps));
                struct candidate best = { 0 };
                int err = 0;

                if (is_known(design, &suspect) || (i >= n_apps && suspect.part == COMPONENT_UNSEEN))
                        continue;
                err = try_changes(design, posterior, &suspect, &best);
                if (err)
                        return err;
                if (i >= n_apps && count_stretches(design, &suspect, best.stretch, true) < CHANGE_STRETCHES)
                        continue; /* too few to judge it by; wrong records look like that, too */
                if (i >= n_apps && (suspect.part == COMPONENT_WIFI || suspect.part == DESIGN_AIR))
                        try_radio(design, posterior, suspect.part, &best);
                keep(&best, ret, ret_n);
        }
        if (*ret_n > 0 && ret[0].chi2 < CHANGE_CHI2)
                *ret_n = 0;
        return 0;
}

/* How far the value of a column moves if the rows first..first+n-1 are left out: (s - XCX')^-1 by Woodbury. */
static int leave_out_rows(const struct posterior *posterior, size_t column, size_t first, size_t n, double *ret)
{
        gsl_matrix_const_view rows = gsl_matrix_const_submatrix(posterior->white, first, 0, n, posterior->white->size2);
        gsl_vector_const_view residual = gsl_vector_const_subvector(posterior->residual, first, n);
        gsl_vector_const_view own = gsl_matrix_const_column(posterior->covariance, column);
        _cleanup_matrix_ gsl_matrix *shared = gsl_matrix_alloc(n, posterior->white->size2),
                                    *left = gsl_matrix_alloc(n, n);
        _cleanup_vector_ gsl_vector *moves = gsl_vector_alloc(n), *by = gsl_vector_alloc(n);

        if (!shared || !left || !moves || !by)
                return -ENOMEM;
        gsl_matrix_set_identity(left);
        gsl_blas_dsymm(CblasRight, CblasLower, 1, posterior->covariance, &rows.matrix, 0, shared);
        gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1, shared, &rows.matrix, posterior->scale, left);
        if (gsl_linalg_cholesky_decomp1(left))
                return -EDOM;
        gsl_linalg_cholesky_solve(left, &residual.vector, by);
        gsl_blas_dgemv(CblasNoTrans, 1, &rows.matrix, &own.vector, 0, moves);
        gsl_blas_ddot(moves, by, ret);
        return 0;
}

/* Variance of a column's value by leaving out each stretch in turn (jackknife: Tukey 1958). */
static int jackknife(const struct design *design, const struct posterior *posterior, size_t column, double *ret)
{
        double sum = 0, squares = 0, n = (double)design->n_stretches;

        for (size_t first = 0, rows; first < design->n; first += rows) {
                double moved;
                int err;

                rows = spread_stretch(design, first);
                err = leave_out_rows(posterior, column, first, rows, &moved);
                if (err)
                        return err;
                sum += moved;
                squares += moved * moved;
        }
        *ret = (n - 1) / n * fmax(squares - sum * sum / n, 0);
        return 0;
}

int change_read(const struct design *design, const struct posterior *posterior, size_t number,
                struct design_change *change)
{
        size_t column = design->change_column[number];
        struct suspect suspect = change->app != SIZE_MAX ? suspect_app(design, change->app) :
                                                           suspect_part(design, change->part);
        double spread;
        int err = jackknife(design, posterior, column, &spread);

        if (err == -EDOM)
                spread = INFINITY; /* all that is known of it is in one stretch */
        else if (err)
                return err;
        change->n_before = count_stretches(design, &suspect, change->stretch, false);
        change->n_after = count_stretches(design, &suspect, change->stretch, true);
        change->before = gsl_vector_get(posterior->value, column);
        change->before_se = sqrt(gsl_matrix_get(posterior->covariance, column, column) + spread);
        return 0;
}
