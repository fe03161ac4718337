/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gauge-curve.h"

#include <math.h>

#include "util/util.h"

#define HARMONICS 3
#define STREAM_PIECES UINT64_C(0x706965636573)
#define STEEPEST 0.05 /* a percent has at least this share of its nominal charge, whatever the file says */

struct nonlinearity {
        double amplitude[HARMONICS];
        double phase[HARMONICS];
        double piece[PROFILE_GAUGE_PIECES_MAX];
        unsigned n_pieces;
};

/* Relative error of the charge per shown percent at the true charge @s: waves, and pieces of equal length. */
static double nonlinearity_at(const struct nonlinearity *error, double s)
{
        double sum = 0;

        for (unsigned k = 0; k < HARMONICS; k++)
                sum += error->amplitude[k] * cos(2 * M_PI * (k + 1) * s + error->phase[k]);
        if (error->n_pieces > 0)
                sum += error->piece[MIN((unsigned)(s * error->n_pieces), error->n_pieces - 1)];
        return sum;
}

/* d(shown)/ds = 1/(1 + error(s)) by Simpson's rule, then scaled so that empty and full are shown as such. */
static void integrate(double *shown, const struct nonlinearity *error)
{
        const double h = 1.0 / (GAUGE_CURVE_POINTS - 1);

        shown[0] = 0;
        for (unsigned i = 1; i < GAUGE_CURVE_POINTS; i++) {
                double s = i * h, sum = 0;
                const double weight[] = { 1, 4, 1 };

                for (unsigned j = 0; j < 3; j++)
                        sum += weight[j] / fmax(STEEPEST, 1 + nonlinearity_at(error, s - h * (2 - j) / 2));
                shown[i] = shown[i - 1] + sum * h / 6;
        }
        for (unsigned i = 1; i < GAUGE_CURVE_POINTS; i++)
                shown[i] /= shown[GAUGE_CURVE_POINTS - 1];
}

void gauge_curve_init(struct gauge_curve *curve, const struct profile_virtual *device, struct rng *hidden)
{
        struct nonlinearity error = { .n_pieces = device->gauge_piece_percent > 0 ? device->gauge_pieces : 0 };
        struct rng pieces;

        for (unsigned k = 0; k < HARMONICS; k++)
                error.amplitude[k] = device->nonlinearity_percent / 100 * rng_normal(hidden);
        for (unsigned k = 0; k < HARMONICS; k++)
                error.phase[k] = 2 * M_PI * rng_uniform(hidden);
        rng_seed(&pieces, device->seed, STREAM_PIECES);
        for (unsigned i = 0; i < error.n_pieces; i++)
                error.piece[i] = device->gauge_piece_percent / 100 * rng_normal(&pieces);
        curve->linear = device->nonlinearity_percent == 0 && error.n_pieces == 0;
        if (!curve->linear)
                integrate(curve->shown, &error);
}

double gauge_curve_at(const struct gauge_curve *curve, double charge)
{
        double at = charge * (GAUGE_CURVE_POINTS - 1);
        unsigned i = (unsigned)at;

        if (curve->linear || charge >= 1)
                return charge;
        return curve->shown[i] + (at - i) * (curve->shown[i + 1] - curve->shown[i]);
}
