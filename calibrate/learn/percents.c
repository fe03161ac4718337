/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "percents.h"

#include <errno.h>
#include <math.h>

#include "util/util.h"

#define STEP 0.1
#define MOST 0.6
#define PERCENT_LEAST 1e-3

/* Relative error of the charge of all percents together if only the percentage is known. */
#define SCALE_SD 0.1
#define SCALE_OF_UNEQUAL (1.0 / 3)

static double relative_variance(const struct design *design, const struct design_row *row)
{
        double percent = fmax(row->everyday->percent, PERCENT_LEAST);

        return row->everyday->metered ? 0 : design->unequal * design->unequal / percent;
}

/*
 * The use between two steps is random, and the energy of a step is constant: a regression of this energy on the use is
 * too low by the factor 1 + variance, as the likelihood of energies lacks the Jacobian of the use.
 */
void percents_set(struct design *design, double unequal)
{
        for (size_t i = 0; i < design->n; i++)
                design->rows[i].energy_j /= 1 + relative_variance(design, &design->rows[i]);
        design->unequal = unequal;
        for (size_t i = 0; i < design->n; i++)
                design->rows[i].energy_j *= 1 + relative_variance(design, &design->rows[i]);
}

double percents_variance_j2(const struct design *design, const struct design_row *row)
{
        return relative_variance(design, row) * row->energy_j * row->energy_j;
}

double percents_scale_sd(const struct design *design, double usual)
{
        double scale = fmin(SCALE_SD, SCALE_OF_UNEQUAL * design->unequal);

        for (size_t i = 0; i < design->n; i++)
                if (!design->rows[i].everyday->metered && isnan(design->rows[i].everyday->energy_j))
                        scale = SCALE_SD;
        return design->metered ? usual : hypot(usual, scale);
}

/* One hill: uphill in large steps, then by half a step to both sides. */
int percents_find(int (*evidence)(void *data, double unequal, double *ret), void *data, double *ret)
{
        double best = 0, most, at = STEP, value;
        int err = evidence(data, 0, &most);

        for (; !err && at < MOST + STEP / 2; at += STEP) {
                err = evidence(data, at, &value);
                if (err || !(value > most))
                        break;
                most = value;
                best = at;
        }
        for (int side = -1; !err && side <= 1; side += 2) {
                double beside = best + side * STEP / 2;

                if (beside < 0)
                        continue;
                err = evidence(data, beside, &value);
                if (err || !(value > most))
                        continue;
                *ret = beside;
                return 0;
        }
        *ret = best;
        return err;
}
