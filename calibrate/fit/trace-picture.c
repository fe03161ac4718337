/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Finds the part of the display's power that each colour channel takes, by Gauss-Newton iteration over whole fits. Each
 * step is a small non-negative regression of the residuals on the display's energy times the channels.
 */
#include "trace-picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "util/util.h"

#define UNKNOWNS (1 + MEASURED_CHANNELS)

/* First guess for an OLED: shares of red, green and blue in the power of white, and the part of power that is light. */
static const double usual[MEASURED_CHANNELS] = { 0.18, 0.28, 0.54 };
#define LIGHT 0.7

/* Weight of the previous step's values, as a part of the rows' weight. */
#define RIDGE 1e-3

bool trace_picture_means(const struct measured_trace *trace, struct measured_colours *ret)
{
        double n = 0, light = 0;

        memset(ret, 0, sizeof(*ret));
        for (size_t i = 0; i < trace->n; i++) {
                const double *own = trace->spans[i].light;

                if (isnan(own[0]) || isnan(own[1]) || isnan(own[2]))
                        continue;
                n++;
                for (size_t c = 0; c < MEASURED_CHANNELS; c++)
                        ret->mean[c] += own[c];
        }
        for (size_t c = 0; c < MEASURED_CHANNELS && n > 0; c++) {
                ret->mean[c] /= n;
                light += usual[c] * ret->mean[c];
        }
        for (size_t c = 0; c < MEASURED_CHANNELS && light > 0; c++)
                ret->part[c] = LIGHT * usual[c] / light;
        return n >= 20 && light > 0;
}

/* Energy by the profile, and the display's part of it. */
static int predict(const struct profile *profile, const struct measured_span *span, double *total_j, double *display_j)
{
        struct usage usage = { 0 };
        struct model_vector vector = { 0 };
        struct model_energy energy;
        int err = measured_sum(span, &usage);

        if (!err)
                err = model_vector_make(profile, &usage, &vector);
        if (!err) {
                model_energy(profile, &vector, 0.95, 0, &energy);
                *total_j = energy.value_j;
                *display_j = energy.component_j[COMPONENT_DISPLAY];
        }
        model_vector_clear(&vector);
        usage_clear(&usage);
        return err;
}

struct normal {
        double a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS];
};

static void add_row(struct normal *normal, const double x[UNKNOWNS], double y, double weight)
{
        for (size_t i = 0; i < UNKNOWNS; i++) {
                normal->b[i] += weight * x[i] * y;
                for (size_t k = 0; k < UNKNOWNS; k++)
                        normal->a[i][k] += weight * x[i] * x[k];
        }
}

/* Coordinate descent, which converges quickly with four unknowns. No unknown becomes negative. */
static void solve(const struct normal *normal, double x[UNKNOWNS])
{
        for (int round = 0; round < 2000; round++)
                for (size_t i = 0; i < UNKNOWNS; i++) {
                        double sum = normal->b[i];

                        for (size_t k = 0; k < UNKNOWNS; k++)
                                sum -= k == i ? 0 : normal->a[i][k] * x[k];
                        if (normal->a[i][i] > 0)
                                x[i] = fmax(sum / normal->a[i][i], 0);
                }
}

int trace_picture_step(const struct measured_trace *trace, const struct profile *profile,
                       struct measured_colours *colours)
{
        struct normal normal = { 0 };
        double x[UNKNOWNS] = { 1, colours->part[0], colours->part[1], colours->part[2] }, light = 0;

        for (size_t i = 0; i < trace->n; i++) {
                const struct measured_span *span = &trace->spans[i];
                double total_j = NAN, display_j = NAN, row[UNKNOWNS] = { 0 }, own_j;
                int err = predict(profile, span, &total_j, &display_j);

                if (err)
                        return err;
                if (!(display_j > 0) || !isfinite(span->energy_j) ||
                    isnan(span->light[0] + span->light[1] + span->light[2]))
                        continue;
                own_j = display_j / span->picture;
                row[0] = own_j;
                for (size_t c = 0; c < MEASURED_CHANNELS; c++)
                        row[1 + c] = own_j * (span->light[c] - colours->mean[c]);
                add_row(&normal, row, span->energy_j - total_j + display_j, 1 / (total_j * total_j));
        }
        for (size_t i = 0; i < UNKNOWNS; i++) {
                double ridge = RIDGE * normal.a[i][i];

                normal.a[i][i] += ridge;
                normal.b[i] += ridge * x[i];
        }
        solve(&normal, x);
        if (!(x[0] > 0))
                return -ENODATA;
        for (size_t c = 0; c < MEASURED_CHANNELS; c++) {
                colours->part[c] = x[1 + c] / x[0];
                light += colours->part[c] * colours->mean[c];
        }
        for (size_t c = 0; c < MEASURED_CHANNELS && light > 1; c++) /* a black picture takes nothing at least */
                colours->part[c] /= light;
        return 0;
}
