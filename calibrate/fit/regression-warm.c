/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Corrects for leakage: a warm device takes more power for the same work, and a dwell of seconds ends before
 * it is warm. Rows are corrected to the power at their steady temperature, since coefficients are for states
 * that last.
 */

#include <errno.h>
#include <math.h>

#include <gsl/gsl_blas.h>

#include "observation/daemons.h"
#include "regression-private.h"
#include "util/tuning.h"

/* Largest relative correction; a warmer device is throttled. */
#define MOST 0.1

/* Full energy of the battery, Wh; NaN unknown. */
static double full_wh(const struct work *work)
{
        if (work->columns->device.energy_full_mwh > 0)
                return work->columns->device.energy_full_mwh / 1e3;
        for (size_t i = 0; i < work->rows->n; i++) {
                const struct observation *observation = work->rows->list[i].observation;

                if (observation->charge_full_uah > 0 && observation->voltage_mv > 0)
                        return observation->charge_full_uah * observation->voltage_mv / 1e9;
        }
        return NAN;
}

/* Part of a row's power that leakage affects: the base and the CPUs. */
static double leaking_mw(const struct work *work, const struct row *row)
{
        double sum = 0;

        for (size_t j = 0; j < work->fit->p; j++) {
                enum term term = work->columns->list[j].term;

                if (term == TERM_BASE || term == TERM_CPU_ACTIVE || term == TERM_CPU_SHARED || term == TERM_CPU_IDLE)
                        sum += row->x[j] * gsl_vector_get(work->fit->value, j);
        }
        return sum;
}

static double mean_mw(const struct work *work)
{
        double energy = 0, seconds = 0;

        for (size_t i = 0; i < work->rows->n; i++) {
                energy += work->power[i] * work->rows->list[i].seconds;
                seconds += work->rows->list[i].seconds;
        }
        return energy / seconds;
}

/*
 * @heat is the power whose steady temperature the device has, mW. It follows the rows' power with one time
 * constant. The time between two rows belongs to the later one, whose mode settles then.
 */
void regression_warm(struct work *work)
{
        double usual = mean_mw(work), heat = usual, end_s = work->rows->list[0].start_s, wh = full_wh(work);
        /* On the virtual phone time runs faster, and power is as much larger. */
        double pace = work->fit->noise.background_tau_s / DAEMONS_TAU_S, tau_s = TUNING_WARMING_TAU_S * pace;

        for (size_t i = 0; i < work->rows->n && wh > 0; i++) {
                const struct row *row = &work->rows->list[i];
                double begin = exp(-fmax(row->start_s - end_s, 0) / tau_s);
                double length = row->seconds / tau_s, mean, part;

                heat = work->power[i] + (heat - work->power[i]) * begin;
                mean = work->power[i] - (heat - work->power[i]) * expm1(-length) / length;
                heat = work->power[i] + (heat - work->power[i]) * exp(-length);
                end_s = row->start_s + row->seconds;
                part = TUNING_WARMING_PER_C * (fmax(work->power[i], usual) - mean) * pace / 1e3 / wh;
                work->fit->warming_mw[i] = leaking_mw(work, row) * fmax(fmin(part, MOST), -MOST);
        }
}

/*
 * Leakage is one unknown that all rows share, with a standard error as large as its value; the coefficients
 * move with it.
 * The rows cannot show it, because dwells of seconds in random order all begin at about the same temperature.
 */
int regression_warm_error(struct work *work)
{
        const struct regression *fit = work->fit;
        _cleanup_vector_ gsl_vector *warming = gsl_vector_alloc(fit->n), *moved = gsl_vector_alloc(work->q);

        if (!warming || !moved)
                return -ENOMEM;
        for (size_t a = 0; a < fit->n; a++)
                gsl_vector_set(warming, a, fit->warming_mw[fit->index[a]]);
        gsl_blas_dgemv(CblasTrans, 1 / fit->scale, work->white, warming, 0, work->moment);
        gsl_blas_dgemv(CblasNoTrans, 1, work->inverse, work->moment, 0, moved);
        gsl_blas_dger(1, moved, moved, fit->covariance);
        return 0;
}
