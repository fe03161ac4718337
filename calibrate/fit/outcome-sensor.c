/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Compares a calibration by level with a sensor of power. By level, joules come from the full charge that the
 * battery reports, which becomes stale as a battery ages. A power sensor measures them directly, so the ratio
 * of both is the error of the full charge.
 */

#include <math.h>

#include <gsl/gsl_blas.h>

#include "outcome.h"

/*
 * Fewer rows are not enough. If the rows' ratios differ by more than this, the sensor measures something
 * else.
 */
#define ROWS_MIN 5
#define SCATTER_MAX 0.25

/* Specified accuracy of current sensors, standard deviation. */
#define SENSOR_ERROR 0.012

/*
 * A deviation beyond these is reported. The ratio of sensor to counter over a run has a standard error of 1.4 % (a step
 * in thirty at both ends, and the sensor's noise), so that the first is more than two of it.
 */
#define STALE_PERCENT 3.0
#define SURE_SDS 2.0

struct both {
        size_t n;
        double level_j, sensor_j;      /* energy of the same spans by each */
        double squares, mean;          /* squared deviations and mean of the rows' ratios */
        double curve[LEVEL_COLUMNS];   /* columns of the level's error curve, weighted by energy */
};

/* Fitted value of the level's error curve in this row, mW. */
static double curve_mw(const struct row *row, const struct regression *fit, double *columns)
{
        double sum = 0;

        regression_level_columns(row->level, row->power_mw, columns);
        for (size_t j = 0; j < fit->z; j++)
                sum += columns[j] * gsl_vector_get(fit->value, fit->p + j);
        return sum;
}

static void add(struct both *both, const struct row *row, const struct regression *fit)
{
        double columns[LEVEL_COLUMNS], sensor_mw = row->observation->power_mw, ratio, off;

        both->level_j += (row->power_mw - curve_mw(row, fit, columns)) * row->seconds / 1000;
        both->sensor_j += sensor_mw * row->seconds / 1000;
        for (size_t j = 0; j < fit->z; j++)
                both->curve[j] += columns[j] * row->seconds / 1000;
        ratio = row->power_mw / sensor_mw;
        both->n++;
        off = ratio - both->mean;
        both->mean += off / (double)both->n;
        both->squares += off * (ratio - both->mean);
}

static double error_of(const struct both *both, const struct regression *fit)
{
        double curve = 0, rows = both->squares / (double)(both->n - 1) / (double)both->n;

        for (size_t i = 0; i < fit->z; i++)
                for (size_t j = 0; j < fit->z; j++)
                        curve += both->curve[i] * both->curve[j] *
                                 gsl_matrix_get(fit->covariance, fit->p + i, fit->p + j);
        return sqrt(rows + curve / (both->sensor_j * both->sensor_j) + SENSOR_ERROR * SENSOR_ERROR);
}

static int write_both(struct outcome *outcome, double percent, double se)
{
        char text[32];
        int err;

        snprintf(text, sizeof(text), "%.3g", percent);
        err = profile_set_extra(outcome->profile, "battery", "x-charge_full_percent", text);
        if (err)
                return err;
        snprintf(text, sizeof(text), "%.3g", se);
        return profile_set_extra(outcome->profile, "battery", "x-charge_full_se", text);
}

/* Difference of the sensor's energy to the charge counter's over a run by gauge, percent; NaN: unknown. */
static double compare_counter(const struct rows *rows)
{
        double percent = NAN;

        for (size_t i = 0; i < rows->n; i++) {
                const struct observation *observation = rows->list[i].observation;

                if (observation->method != METHOD_GAUGE || !(observation->counted_j > 0) || !(observation->drawn_j > 0))
                        continue;
                percent = 100 * (observation->drawn_j / observation->counted_j - 1); /* the last row has all */
        }
        return percent;
}

static bool has_sensor(const struct rows *rows)
{
        for (size_t i = 0; i < rows->n; i++)
                if (rows->list[i].observation->method != METHOD_PERCENT || rows->list[i].observation->power_mw > 0)
                        return true;
        return false;
}

int outcome_scale(struct outcome *outcome, const struct rows *rows)
{
        double percent = compare_counter(rows);
        char text[32];
        int err;

        outcome->profile->scale_percent = has_sensor(rows) ? CONVERTER_PERCENT : PERCENTS_PERCENT;
        if (isnan(percent))
                return 0;
        snprintf(text, sizeof(text), "%.3g", percent);
        err = profile_set_extra(outcome->profile, "battery", "x-sensor_percent", text);
        if (err || fabs(percent) < STALE_PERCENT)
                return err;
        outcome->profile->scale_percent = fmax(CONVERTER_PERCENT, round(10 * fabs(percent)) / 10);
        return outcome_warn(outcome,
                            "the current sensor says %.0f %% %s than the battery's charge counter over the same run, so"
                            " one of them is wrong; joules are by the sensor, and their intervals are wider by that",
                            fabs(percent), percent > 0 ? "more" : "less");
}

int outcome_sensor(struct outcome *outcome, const struct rows *rows, const struct regression *fit)
{
        struct both both = { 0 };
        double percent, se;
        int err;

        for (size_t i = 0; fit->z > 0 && i < rows->n; i++) {
                const struct row *row = &rows->list[i];

                if (row->charge && !row->observation->burn && !row->observation->rejected[0] && row->power_mw > 0 &&
                    row->observation->power_mw > 0)
                        add(&both, row, fit);
        }
        if (both.n < ROWS_MIN || sqrt(both.squares / (double)(both.n - 1)) > SCATTER_MAX * both.mean)
                return 0;
        percent = 100 * (both.level_j / both.sensor_j - 1);
        se = 100 * error_of(&both, fit);
        err = write_both(outcome, percent, se);
        if (err || fabs(percent) < STALE_PERCENT || fabs(percent) < SURE_SDS * se)
                return err;
        snprintf(outcome->stale, sizeof(outcome->stale),
                 "the full charge that the battery shows is stale, %.0f +- %.0f %% (95 %%) %s than its sensor of"
                 " power says; energies are by what it shows",
                 fabs(percent), SURE_SDS * se, percent > 0 ? "more" : "less");
        return outcome_warn(outcome, "%s", outcome->stale);
}
