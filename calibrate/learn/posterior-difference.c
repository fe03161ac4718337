/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * By how much each kind of thing differs: the marginal likelihood of the rows for each of a few standard deviations,
 * in closed form along the axes of that kind's columns (MacKay, Bayesian Interpolation, 1992).
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>

#include "posterior-private.h"
#include "util/util.h"

/* Usual standard deviation, in parts or W, and where the search begins. */
static const struct {
        double usual, first;
} kinds[KIND_COUNT] = {
        [COMPONENT_CPU] = { 0.02, 0.06 },  [COMPONENT_DISPLAY] = { 0.02, 0.1 }, [COMPONENT_DISK] = { 0.02, 0.05 },
        [COMPONENT_WIFI] = { 0.05, 0.2 },  [COMPONENT_GPU] = { 0.02, 0.05 },    [COMPONENT_UNSEEN] = { 0.01, 0.01 },
        [COMPONENT_GPS] = { 0.02, 0.05 },  [COMPONENT_AUDIO] = { 0.02, 0.05 },  [COMPONENT_CAMERA] = { 0.02, 0.05 },
        [COMPONENT_CELLULAR] = { 0.05, 0.2 },
        [COMPONENT_BASE] = { 0.01, 0.02 },  [DESIGN_AIR] = { 0.05, 0.2 },
        [KIND_APP + LEARNT_CPU] = { 0.02, 0.2 },    [KIND_APP + LEARNT_DISPLAY] = { 0.02, 0.2 },
        [KIND_APP + LEARNT_FRONT] = { 0.005, 0.2 }, [KIND_APP + LEARNT_BEHIND] = { 0.002, 0.05 },
        [KIND_RADIO] = { 0.1, 0.3 },
        [KIND_SIGNAL] = { 0.1, 0.3 },
        [KIND_SESSION] = { 0.004, 0.02 },
};

double posterior_first_difference(size_t kind)
{
        return kinds[kind].first;
}

double *posterior_difference(struct posterior *posterior, size_t kind)
{
        if (kind < KIND_APP)
                return &posterior->common[kind];
        if (kind == KIND_SIGNAL)
                return &posterior->signal;
        if (kind == KIND_SESSION)
                return &posterior->session;
        return kind < KIND_RADIO ? &posterior->misfit[kind - KIND_APP] : &posterior->radio;
}

/* The rows' information and moment along each axis of one kind's columns, all others being free. */
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

/* Far above any difference: it keeps the matrix positive definite, and is subtracted again. */
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
        posterior_set_kind(work, kind, WIDE_SD);
        posterior_gram(work);
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
 * Logarithm of the marginal likelihood of the rows but for a constant, where a kind differs by @sd: MacKay 1992,
 * equation 2.9 there with a prior of its own for each column, all others integrated out.
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

/* Relative to the usual difference; the prior prefers small ones. */
static const double grid[] = { 0.05, 0.3, 1, 2, 4, 8, 16, 40 };

/*
 * Rows by unequal percents hardly show whether programs differ. They are known to differ, by as much as before anything
 * is learnt; a prior that prefers no difference would make the intervals of all of them collapse.
 */
#define CPU_DIFFERS 0.2
#define CPU_DIFFERS_LOG_SD 0.7

/*
 * Two or three sessions hardly show by how much others will differ, so this prior does not prefer small values: a half
 * Student's t with 4 degrees of freedom (Gelman, 2006). It is of the logarithm, as the grid is.
 */
#define SESSION_SCALE 0.015

static double session_log_prior(double sd)
{
        return log(sd / SESSION_SCALE) - 2.5 * log1p(pow(sd / SESSION_SCALE, 2) / 4);
}

/* The base of a trace has all that it does not count, like a screen or a modem: that may be several times a class's. */
#define CLASS_BASE 0.1

static double usual_difference(const struct work *work, size_t kind)
{
        bool class = work->design->metered && strcmp(work->design->prior->method, "class") == 0;

        return kind == COMPONENT_BASE && class ? CLASS_BASE : kinds[kind].usual;
}

double posterior_log_prior(const struct work *work, size_t kind, double sd)
{
        bool cpu = kind == COMPONENT_CPU || kind == KIND_APP + LEARNT_CPU;

        if (kind == KIND_SESSION)
                return session_log_prior(sd);
        return cpu && !work->design->metered ? -pow(log(sd / CPU_DIFFERS) / CPU_DIFFERS_LOG_SD, 2) / 2 :
                                               -log(1 + sd / usual_difference(work, kind));
}

/* Learns the size of one kind of difference: its RMS over a grid, weighted by the rows' likelihood and a prior. */
static int learn_difference(struct work *work, size_t kind)
{
        double most = -INFINITY, sum = 0, squares = 0, logs[ARRAY_SIZE(grid)], usual = usual_difference(work, kind);
        double *sd = posterior_difference(work->posterior, kind);
        _cleanup_(axes_clear) struct axes axes = { 0 };
        int err = make_axes(work, kind, &axes);

        if (err)
                return err;
        for (size_t i = 0; i < ARRAY_SIZE(grid); i++) {
                logs[i] = evidence(&axes, grid[i] * usual) + posterior_log_prior(work, kind, grid[i] * usual);
                most = fmax(most, logs[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(grid); i++) {
                double weight = exp(logs[i] - most);

                sum += weight;
                squares += weight * pow(grid[i] * usual, 2);
        }
        *sd = sqrt(squares / sum);
        posterior_set_kind(work, kind, *sd);
        return isfinite(*sd) ? 0 : -EDOM;
}

int posterior_learn_differences(struct work *work)
{
        int err = 0;

        for (size_t kind = 0; !err && kind < KIND_COUNT; kind++)
                err = learn_difference(work, kind);
        return err;
}
