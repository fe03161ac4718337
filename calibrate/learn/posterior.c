/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "posterior.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>

#include "fit/regression.h"
#include "spread.h"
#include "util/util.h"

/* A coefficient without a standard error may be off by this part. */
#define UNKNOWN_ERROR 0.5
/* Added to each, so that the covariance can be inverted. */
#define LEAST_ERROR 0.003
#define LEAST 1e-4
/* A gauge may bend more than one calibration shows, over that part of its range. */
#define CURVE_MORE 0.006

/*
 * What may differ, each kind with a standard deviation that the rows tell: a component as a whole from its calibration
 * (that night the picture was white, and one kind of work was done), apps among each other, a byte over the air from hour to
 * hour. What is usual in parts, or W; and where the search begins.
 */
enum kind {
        KIND_COMMON, /* COMPONENT_COUNT of them */
        KIND_APP = COMPONENT_COUNT, /* LEARNT_COUNT of them */
        KIND_RADIO = KIND_APP + LEARNT_COUNT,
        KIND_SIGNAL,
        KIND_COUNT
};
static const struct {
        double usual, first;
} kinds[KIND_COUNT] = {
        [COMPONENT_CPU] = { 0.02, 0.06 },  [COMPONENT_DISPLAY] = { 0.02, 0.1 }, [COMPONENT_DISK] = { 0.02, 0.05 },
        [COMPONENT_WIFI] = { 0.05, 0.2 },  [COMPONENT_GPU] = { 0.02, 0.05 },    [COMPONENT_UNSEEN] = { 0.01, 0.01 },
        [COMPONENT_GPS] = { 0.02, 0.05 },  [COMPONENT_AUDIO] = { 0.02, 0.05 },  [COMPONENT_CAMERA] = { 0.02, 0.05 },
        [COMPONENT_CELLULAR] = { 0.05, 0.2 },
        [COMPONENT_BASE] = { 0.01, 0.02 },
        [KIND_APP + LEARNT_CPU] = { 0.02, 0.2 },    [KIND_APP + LEARNT_DISPLAY] = { 0.02, 0.2 },
        [KIND_APP + LEARNT_FRONT] = { 0.005, 0.2 }, [KIND_APP + LEARNT_BEHIND] = { 0.002, 0.05 },
        [KIND_RADIO] = { 0.1, 0.3 },
        [KIND_SIGNAL] = { 0.1, 0.3 },
};
#define CHANGE_SD 0.5

#define ROUNDS 8       /* at most: linearised anew, as what an app's parts multiply depends on the coefficients */
#define SETTLED 0.3    /* of a standard deviation: no value moved by more */

/* Rows beyond so many standard deviations have a variance of their own. */
#define OUTLIER 4.0

struct work {
        struct design *design;
        struct posterior *posterior;
        gsl_matrix *prior;       /* information of the p coefficients */
        gsl_vector *prior_value; /* p */
        gsl_matrix *data;        /* q x q: X'N^-1 X */
        gsl_matrix *gram, *ordered;
        gsl_vector *moment, *data_moment;
        gsl_vector *before;      /* q: the values of the round before */
        gsl_vector *y;           /* n, white */
        double *free_sd;         /* q: prior standard deviations of the columns after p */
        size_t *kind;            /* q; KIND_COUNT: of none */
        size_t *order;           /* q */
        double *outlier_j2;      /* n */
        bool *nonneg;
};

void posterior_clear(struct posterior *posterior)
{
        vector_freep(&posterior->value);
        matrix_freep(&posterior->covariance);
        matrix_freep(&posterior->white);
        vector_freep(&posterior->residual);
}

static void work_clear(struct work *work)
{
        matrix_freep(&work->prior);
        vector_freep(&work->prior_value);
        matrix_freep(&work->data);
        matrix_freep(&work->gram);
        matrix_freep(&work->ordered);
        vector_freep(&work->moment);
        vector_freep(&work->before);
        vector_freep(&work->data_moment);
        vector_freep(&work->y);
        free(work->free_sd);
        free(work->kind);
        free(work->order);
        free(work->outlier_j2);
        free(work->nonneg);
}

static int make(struct work *work)
{
        size_t n = work->design->n, p = work->design->p, q = work->design->q;
        struct posterior *posterior = work->posterior;

        posterior->value = gsl_vector_calloc(q);
        posterior->covariance = gsl_matrix_calloc(q, q);
        posterior->white = gsl_matrix_calloc(n, q);
        posterior->residual = gsl_vector_calloc(n);
        work->prior = p ? gsl_matrix_calloc(p, p) : NULL;
        work->prior_value = p ? gsl_vector_calloc(p) : NULL;
        work->data = gsl_matrix_calloc(q, q);
        work->gram = gsl_matrix_calloc(q, q);
        work->ordered = gsl_matrix_calloc(q, q);
        work->moment = gsl_vector_calloc(q);
        work->before = gsl_vector_calloc(q);
        work->data_moment = gsl_vector_calloc(q);
        work->y = gsl_vector_calloc(n);
        work->free_sd = calloc(q, sizeof(*work->free_sd));
        work->kind = calloc(q, sizeof(*work->kind));
        work->order = calloc(q, sizeof(*work->order));
        work->outlier_j2 = calloc(n, sizeof(*work->outlier_j2));
        work->nonneg = calloc(q, sizeof(*work->nonneg));
        if (p == 0)
                return -ENODATA;
        return posterior->value && posterior->covariance && posterior->white && posterior->residual && work->prior &&
               work->prior_value && work->data && work->gram && work->ordered && work->moment && work->before &&
               work->data_moment && work->y && work->free_sd && work->kind && work->order && work->outlier_j2 &&
               work->nonneg ? 0 : -ENOMEM;
}

/*
 * The calibration's covariance, and that of a scale common to all.
 */
static int make_prior(struct work *work, double scale_sd)
{
        const struct profile *profile = work->design->prior;
        size_t p = work->design->p;
        _cleanup_matrix_ gsl_matrix *covariance = gsl_matrix_calloc(p, p);

        if (!covariance)
                return -ENOMEM;
        for (size_t i = 0; i < p; i++) {
                const struct coefficient *a = &profile->coefficients[i];

                for (size_t j = 0; j < p; j++) {
                        const struct coefficient *b = &profile->coefficients[j];
                        double value = scale_sd * scale_sd, known = profile_covariance(profile, i, j);

                        value *= a->term == TERM_CURVE || b->term == TERM_CURVE ? 0 : a->value * b->value;
                        if (i == j)
                                value += a->term == TERM_CURVE ? CURVE_MORE * CURVE_MORE :
                                                                 pow(LEAST_ERROR * a->value, 2) + LEAST * LEAST;
                        if (isnan(known))
                                known = i == j ? pow(UNKNOWN_ERROR * a->value, 2) : 0;
                        gsl_matrix_set(covariance, i, j, value + known);
                }
                gsl_vector_set(work->prior_value, i, a->value);
                gsl_vector_set(work->posterior->value, i, a->value);
                work->nonneg[i] = a->term != TERM_CURVE;
        }
        /* Nothing gives power back; what an app draws less than its counters say is a part of them. */
        for (size_t a = 0; a < work->design->n_apps; a++)
                for (size_t k = LEARNT_FRONT; k < LEARNT_COUNT; k++)
                        if (work->design->apps[a].column[k] != SIZE_MAX)
                                work->nonneg[work->design->apps[a].column[k]] = true;
        return algebra_invert(covariance, work->prior);
}

/* Which columns may differ by a common amount; the prior standard deviations of the others stay. */
static void find_kinds(struct work *work)
{
        const struct design *design = work->design;

        for (size_t j = 0; j < design->q; j++)
                work->kind[j] = KIND_COUNT;
        for (size_t c = 0; c < COMPONENT_COUNT; c++)
                work->kind[design->common + c] = KIND_COMMON + c;
        for (size_t a = 0; a < design->n_apps; a++)
                for (size_t k = 0; k < LEARNT_COUNT; k++)
                        if (design->apps[a].column[k] != SIZE_MAX)
                                work->kind[design->apps[a].column[k]] = KIND_APP + k;
        for (size_t s = 0; s < design->n_stretches; s++)
                if (design->stretch_radio[s] != SIZE_MAX)
                        work->kind[design->stretch_radio[s]] = KIND_RADIO;
        for (size_t k = 0; design->signal != SIZE_MAX && k < DESIGN_SIGNALS; k++)
                work->kind[design->signal + k] = KIND_SIGNAL;
        for (size_t c = 0; c < design->n_changes; c++)
                work->free_sd[design->change_column[c]] = CHANGE_SD;
        for (size_t j = design->waves; design->waves >= design->p && j < design->q; j++)
                work->free_sd[j] = regression_options_default.level_sd;
}

static void set_kind(struct work *work, size_t kind, double sd)
{
        for (size_t j = work->design->p; j < work->design->q; j++)
                if (work->kind[j] == kind)
                        work->free_sd[j] = sd;
}

/* Rows and columns in standard deviations: L^-1 with L L' their covariance. */
static int whiten(struct work *work)
{
        const struct design *design = work->design;

        gsl_matrix_memcpy(work->posterior->white, design->x);
        for (size_t first = 0, n; first < design->n; first += n) {
                gsl_matrix_view rows;
                gsl_vector_view y;
                int err;

                n = spread_stretch(design, first);
                {
                        _cleanup_matrix_ gsl_matrix *covariance = gsl_matrix_alloc(n, n);

                        if (!covariance)
                                return -ENOMEM;
                        spread_covariance(design, first, n, covariance);
                        for (size_t i = 0; i < n; i++)
                                *gsl_matrix_ptr(covariance, i, i) += work->outlier_j2[first + i];
                        err = gsl_linalg_cholesky_decomp1(covariance);
                        if (err)
                                return errno_from_gsl(err);
                        rows = gsl_matrix_submatrix(work->posterior->white, first, 0, n, design->q);
                        y = gsl_vector_subvector(work->y, first, n);
                        for (size_t i = 0; i < n; i++)
                                gsl_vector_set(&y.vector, i, design->rows[first + i].energy_j);
                        gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, covariance, &rows.matrix);
                        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, covariance, &y.vector);
                }
        }
        gsl_blas_dsyrk(CblasLower, CblasTrans, 1, work->posterior->white, 0, work->data);
        gsl_matrix_transpose_tricpy(CblasLower, CblasUnit, work->data, work->data);
        gsl_blas_dgemv(CblasTrans, 1, work->posterior->white, work->y, 0, work->data_moment);
        return 0;
}

/* Information of rows and prior, and its right side. */
static void make_gram(struct work *work)
{
        size_t p = work->design->p, q = work->design->q;
        gsl_vector_view moment = gsl_vector_subvector(work->moment, 0, p);
        gsl_matrix_view coefficients = gsl_matrix_submatrix(work->gram, 0, 0, p, p);

        gsl_matrix_memcpy(work->gram, work->data);
        gsl_matrix_scale(work->gram, 1 / work->posterior->scale);
        gsl_matrix_add(&coefficients.matrix, work->prior);
        for (size_t j = p; j < q; j++)
                *gsl_matrix_ptr(work->gram, j, j) += 1 / (work->free_sd[j] * work->free_sd[j]);
        gsl_vector_memcpy(work->moment, work->data_moment);
        gsl_vector_scale(work->moment, 1 / work->posterior->scale);
        gsl_blas_dgemv(CblasNoTrans, 1, work->prior, work->prior_value, 1, &moment.vector);
}

/* @moved: by how many standard deviations a value changed at most. */
static int solve(struct work *work, double *moved)
{
        struct posterior *posterior = work->posterior;
        int err;

        make_gram(work);
        gsl_vector_memcpy(work->before, posterior->value);
        err = algebra_nnls(work->gram, work->moment, work->nonneg, posterior->value);
        if (!err)
                err = algebra_invert(work->gram, posterior->covariance);
        *moved = 0;
        for (size_t j = 0; !err && j < work->design->q; j++)
                *moved = fmax(*moved, fabs(gsl_vector_get(posterior->value, j) - gsl_vector_get(work->before, j)) /
                                              sqrt(gsl_matrix_get(posterior->covariance, j, j)));
        return err;
}

/* How much of a column's value the rows determined, and not its prior. */
static double determined(const struct work *work, size_t column)
{
        double sd = work->free_sd[column];

        return fmax(1 - gsl_matrix_get(work->posterior->covariance, column, column) / (sd * sd), 0);
}

static double *difference(struct posterior *posterior, size_t kind)
{
        if (kind < KIND_APP)
                return &posterior->common[kind];
        if (kind == KIND_SIGNAL)
                return &posterior->signal;
        return kind < KIND_RADIO ? &posterior->misfit[kind - KIND_APP] : &posterior->radio;
}

/* What the rows tell of the columns of one kind, all others being free: along each axis, its information and moment. */
struct axes {
        size_t n;
        gsl_vector *information, *moment;
};

static void axes_clear(struct axes *axes)
{
        vector_freep(&axes->information);
        vector_freep(&axes->moment);
}

/* The system with the columns of a kind at its end, which it returns the number of. */
static size_t order_system(struct work *work, size_t kind, gsl_vector *moment)
{
        size_t q = work->design->q, n = 0, at = 0, *order = work->order;

        for (int last = 0; last <= 1; last++)
                for (size_t j = 0; j < q; j++)
                        if ((work->kind[j] == kind) == last) {
                                order[at++] = j;
                                n += (size_t)last;
                        }
        for (size_t i = 0; i < q; i++) {
                gsl_vector_set(moment, i, gsl_vector_get(work->moment, order[i]));
                for (size_t j = 0; j <= i; j++)
                        gsl_matrix_set(work->ordered, i, j, gsl_matrix_get(work->gram, order[i], order[j]));
        }
        return n;
}

/* Far above what any kind differs by: leaves the matrix positive definite, and is taken off again. */
#define WIDE_SD 1e3

static int make_axes(struct work *work, size_t kind, struct axes *axes)
{
        size_t q = work->design->q;
        _cleanup_vector_ gsl_vector *moment = gsl_vector_alloc(q);
        _cleanup_matrix_ gsl_matrix *information = NULL, *vectors = NULL;
        gsl_eigen_symmv_workspace *workspace;
        gsl_matrix_view root;
        gsl_vector_view own;

        if (!moment)
                return -ENOMEM;
        set_kind(work, kind, WIDE_SD);
        make_gram(work);
        axes->n = order_system(work, kind, moment);
        if (axes->n == 0)
                return 0;
        if (gsl_linalg_cholesky_decomp1(work->ordered))
                return -EDOM;
        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, work->ordered, moment);
        root = gsl_matrix_submatrix(work->ordered, q - axes->n, q - axes->n, axes->n, axes->n);
        own = gsl_vector_subvector(moment, q - axes->n, axes->n);
        for (size_t i = 0; i < axes->n; i++) /* above the diagonal the system itself is still there */
                for (size_t j = i + 1; j < axes->n; j++)
                        gsl_matrix_set(&root.matrix, i, j, 0);
        gsl_blas_dtrmv(CblasLower, CblasNoTrans, CblasNonUnit, &root.matrix, &own.vector);
        information = gsl_matrix_calloc(axes->n, axes->n);
        vectors = gsl_matrix_alloc(axes->n, axes->n);
        axes->information = gsl_vector_alloc(axes->n);
        axes->moment = gsl_vector_alloc(axes->n);
        workspace = gsl_eigen_symmv_alloc(axes->n);
        if (!information || !vectors || !axes->information || !axes->moment || !workspace) {
                if (workspace)
                        gsl_eigen_symmv_free(workspace);
                return -ENOMEM;
        }
        gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, &root.matrix, 0, information);
        gsl_eigen_symmv(information, axes->information, vectors, workspace);
        gsl_eigen_symmv_free(workspace);
        gsl_vector_add_constant(axes->information, -1 / (WIDE_SD * WIDE_SD));
        gsl_blas_dgemv(CblasTrans, 1, vectors, &own.vector, 0, axes->moment);
        return 0;
}

/*
 * Logarithm of the marginal likelihood of the rows but for a constant, where a kind differs by @sd: MacKay 1992, equation
 * 2.9 there with a prior of its own for each column, all others integrated out.
 */
static double evidence(const struct axes *axes, double sd)
{
        double sum = 0;

        for (size_t i = 0; i < axes->n; i++) {
                double known = fmax(gsl_vector_get(axes->information, i), 0) * sd * sd;

                sum += pow(gsl_vector_get(axes->moment, i) * sd, 2) / (known + 1) - log1p(known);
        }
        return sum / 2;
}

/* In parts of the usual difference; large ones are the less likely beforehand. */
static const double grid[] = { 0.05, 0.3, 1, 2, 4, 8, 16, 40 };

/* One kind of difference: its mean over what it may be, each as likely as it makes the rows. */
static int learn_difference(struct work *work, size_t kind)
{
        double most = -INFINITY, sum = 0, squares = 0, logs[ARRAY_SIZE(grid)], *sd = difference(work->posterior, kind);
        _cleanup_(axes_clear) struct axes axes = { 0 };
        int err = make_axes(work, kind, &axes);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(grid); i++) {
                logs[i] = evidence(&axes, grid[i] * kinds[kind].usual) - log(1 + grid[i]);
                most = fmax(most, logs[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(grid); i++) {
                double weight = exp(logs[i] - most);

                sum += weight;
                squares += weight * pow(grid[i] * kinds[kind].usual, 2);
        }
        *sd = sqrt(squares / sum);
        set_kind(work, kind, *sd);
        return isfinite(*sd) ? 0 : -EDOM;
}

static int learn_differences(struct work *work)
{
        int err = 0;

        for (size_t kind = 0; !err && kind < KIND_COUNT; kind++)
                err = learn_difference(work, kind);
        return err;
}

/* Number of values that the rows determined: q less the trace of covariance times prior information. */
static double effective_parameters(const struct work *work)
{
        size_t p = work->design->p;
        double trace = (double)p;

        for (size_t i = 0; i < p; i++)
                for (size_t j = 0; j < p; j++)
                        trace -= gsl_matrix_get(work->posterior->covariance, i, j) * gsl_matrix_get(work->prior, i, j);
        for (size_t j = p; j < work->design->q; j++)
                trace += determined(work, j);
        return fmax(trace, 0);
}

/* Variance of the rows relative to the expected one: scaled inverse chi square (Gelman and others, 1995). */
static void learn_scale(struct work *work)
{
        double belief = regression_options_default.prior_dof, chi2, dof;

        gsl_vector_memcpy(work->posterior->residual, work->y);
        gsl_blas_dgemv(CblasNoTrans, -1, work->posterior->white, work->posterior->value, 1, work->posterior->residual);
        gsl_blas_ddot(work->posterior->residual, work->posterior->residual, &chi2);
        dof = fmax((double)work->design->n - effective_parameters(work), 0);
        work->posterior->scale = (belief + chi2) / (belief + dof);
        work->posterior->degrees_of_freedom = belief + dof;
}

static void find_outliers(struct work *work)
{
        double sd = sqrt(work->posterior->scale);

        for (size_t i = 0; i < work->design->n; i++) {
                double z = fabs(gsl_vector_get(work->posterior->residual, i)) / sd;
                const struct design_row *row = &work->design->rows[i];

                if (z > OUTLIER)
                        work->outlier_j2[i] = pow(z / OUTLIER, 2) * pow(0.03 * row->energy_j, 2);
        }
}

int posterior_make(struct design *design, double scale_sd, struct posterior *ret)
{
        struct posterior posterior = { .scale = 1 };
        struct work work = { .design = design, .posterior = &posterior };
        double moved = INFINITY;
        int err = make(&work);

        if (!err) {
                find_kinds(&work);
                for (size_t kind = 0; kind < KIND_COUNT; kind++) {
                        *difference(&posterior, kind) = kinds[kind].first;
                        set_kind(&work, kind, kinds[kind].first);
                }
                err = make_prior(&work, scale_sd);
        }
        for (int round = 0; !err && round < ROUNDS && moved > SETTLED; round++) {
                err = design_fill(design, posterior.value->data);
                if (!err)
                        err = whiten(&work);
                if (!err)
                        err = learn_differences(&work);
                if (!err)
                        err = solve(&work, &moved);
                if (!err) {
                        learn_scale(&work);
                        find_outliers(&work);
                }
        }
        work_clear(&work);
        if (err)
                posterior_clear(&posterior);
        else
                *ret = posterior;
        return err;
}
